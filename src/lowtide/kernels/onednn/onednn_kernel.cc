// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/onednn_kernel.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <span>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/kernels/onednn/description.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"
#include "lowtide/kernels/onednn/quiet_heap.h"

namespace lowtide::kernels_internal {
namespace {

// A tensor of a bound primitive. `cell` is nullptr for scratch, whose address never changes.
struct BoundArgument {
  std::byte* const* cell = nullptr;
  std::int64_t offset = 0;  // in bytes, from the address in the cell
  dnnl_memory_t memory = nullptr;

  [[nodiscard]] std::byte* address() const { return *cell == nullptr ? nullptr : *cell + offset; }
};

// One primitive with the memory of a session.
struct BoundPart {
  const_dnnl_primitive_t primitive = nullptr;
  dnnl_stream_t stream = nullptr;
  std::span<BoundArgument> arguments;
  std::span<dnnl_exec_arg_t> list;

  // Runs on one thread. Other threads may run other parts at the same time.
  [[nodiscard]] dnnl_status_t execute() const {
    const SingleThread single;
    const QuietScope quiet;
    return dnnl().primitive_execute(primitive, stream, static_cast<int>(list.size()), list.data());
  }
};

// In memory it is followed by its parts, and then by the arguments and lists of all of them.
struct BoundOnednnKernel : BoundKernel {
  std::span<BoundPart> parts;

  static RunStatus call(BoundKernel* self, Team& team) {
    struct Shares {
      std::span<const BoundPart> parts;
      int threads = 1;
      std::atomic<dnnl_status_t> status = dnnl_success;

      void run(std::size_t first) {
        for (std::size_t at = first; at < parts.size(); at += static_cast<std::size_t>(threads)) {
          const dnnl_status_t ended = parts[at].execute();
          if (ended != dnnl_success) status.store(ended, std::memory_order_relaxed);
        }
      }
    };
    Shares shares{.parts = static_cast<BoundOnednnKernel*>(self)->parts, .threads = team.threads()};
    if (shares.parts.size() == 1) {
      shares.run(0);
    } else {
      const auto share = [](void* context, int thread) noexcept {
        static_cast<Shares*>(context)->run(static_cast<std::size_t>(thread));
      };
      team.run(share, &shares);
    }
    const dnnl_status_t status = shares.status.load(std::memory_order_relaxed);
    if (status == dnnl_success) return {};
    return {RunCode::kernel_failed, static_cast<std::uint32_t>(status)};
  }

  static void follow_cells(BoundKernel* self) {
    const QuietScope quiet;
    for (const BoundPart& part : static_cast<BoundOnednnKernel*>(self)->parts) {
      for (const BoundArgument& argument : part.arguments) {
        if (argument.cell == nullptr) continue;
        const dnnl_status_t status = dnnl().memory_set_data_handle(argument.memory, argument.address());
        LOWTIDE_CHECK(status == dnnl_success, "memory of a bound primitive takes any address");
      }
    }
  }

  static void end(BoundKernel* self) {
    for (const BoundPart& part : static_cast<BoundOnednnKernel*>(self)->parts) {
      for (const BoundArgument& argument : part.arguments) dnnl().memory_destroy(argument.memory);
      dnnl().stream_destroy(part.stream);
    }
  }
};

// A part with the code of its primitive.
struct PreparedPart {
  Primitive primitive;
  PartOffsets offsets;
  std::int64_t scratch = 0;  // where its scratchpad begins

  [[nodiscard]] bool has_scratch() const { return scratch_of(description_of(primitive)) > Bytes(); }
};

dnnl_memory_t memory_at(const_dnnl_memory_desc_t tensor, std::byte* address) {
  dnnl_memory_t memory = nullptr;
  const dnnl_status_t made = dnnl().memory_create(&memory, tensor, onednn_engine(), address);
  LOWTIDE_CHECK(made == dnnl_success, "oneDNN describes memory that exists");
  return memory;
}

class OnednnKernel final : public PreparedKernel {
 public:
  OnednnKernel(std::vector<PreparedPart> parts, std::vector<Argument> arguments)
      : parts_(std::move(parts)), arguments_(std::move(arguments)) {}

  [[nodiscard]] Bytes bound_bytes() const override {
    return Bytes(static_cast<std::int64_t>(
        sizeof(BoundOnednnKernel) + parts_.size() * (sizeof(BoundPart) + arguments_per_part() * kArgumentBytes)));
  }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) BoundOnednnKernel;
    auto* parts = reinterpret_cast<BoundPart*>(at + sizeof(BoundOnednnKernel));
    std::byte* next = at + sizeof(BoundOnednnKernel) + parts_.size() * sizeof(BoundPart);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      auto* part = new (parts + i) BoundPart;
      bind_arguments(parts_[i], *part, next, [&](const Argument& argument) {
        return argument.from == Argument::From::read ? reads[argument.index].bytes : writes[argument.index].bytes;
      });
      if (parts_[i].has_scratch()) add_scratch(parts_[i], *part, scratch + parts_[i].scratch);
      part->primitive = parts_[i].primitive.get();
      part->stream = new_stream();
      next += arguments_per_part() * kArgumentBytes;
    }
    bound->run = &BoundOnednnKernel::call;
    bound->rebind = &BoundOnednnKernel::follow_cells;
    bound->destroy = &BoundOnednnKernel::end;
    bound->parts = {parts, parts_.size()};
    return bound;
  }

 private:
  static constexpr std::size_t kArgumentBytes = sizeof(BoundArgument) + sizeof(dnnl_exec_arg_t);

  // With the scratchpad.
  [[nodiscard]] std::size_t arguments_per_part() const { return arguments_.size() + 1; }

  // Puts the arguments of a part at `at`, with space for a scratchpad after them.
  template <typename CellOf>
  void bind_arguments(const PreparedPart& from, BoundPart& part, std::byte* at, CellOf cell_of) const {
    auto* arguments = reinterpret_cast<BoundArgument*>(at);
    auto* list = reinterpret_cast<dnnl_exec_arg_t*>(arguments + arguments_per_part());
    const_dnnl_primitive_desc_t description = description_of(from.primitive);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& argument = arguments_[i];
      const std::vector<std::int64_t>& reads = from.offsets.reads;
      auto* bound = new (arguments + i) BoundArgument{.cell = cell_of(argument)};
      if (argument.from == Argument::From::write) {
        bound->offset = from.offsets.write;
      } else if (argument.index < reads.size()) {
        bound->offset = reads[argument.index];
      }
      bound->memory = memory_at(tensor_of(description, argument.tensor, argument.number), bound->address());
      new (list + i) dnnl_exec_arg_t{argument.name, bound->memory};
    }
    part.arguments = {arguments, arguments_.size()};
    part.list = {list, arguments_.size()};
  }

  static void add_scratch(const PreparedPart& from, BoundPart& part, std::byte* scratch) {
    const std::size_t count = part.list.size();
    dnnl_memory_t memory = memory_at(tensor_of(description_of(from.primitive), dnnl_query_scratchpad_md), scratch);
    new (part.arguments.data() + count) BoundArgument{.memory = memory};
    new (part.list.data() + count) dnnl_exec_arg_t{DNNL_ARG_SCRATCHPAD, memory};
    part.arguments = {part.arguments.data(), count + 1};
    part.list = {part.list.data(), count + 1};
  }

  std::vector<PreparedPart> parts_;
  std::vector<Argument> arguments_;
};

}  // namespace

Result<std::unique_ptr<PreparedKernel>> onednn_kernel(std::vector<PrimitivePart> parts,
                                                      std::vector<Argument> arguments) {
  const SingleThread single;
  const std::vector<std::int64_t> scratch = scratch_offsets(parts);
  std::vector<PreparedPart> prepared;
  for (PrimitivePart& part : parts) {
    Primitive primitive = primitive_of(std::move(part.description));
    if (primitive == nullptr) return Error{ErrorCode::unsupported, "oneDNN cannot make the primitive", ""};
    prepared.push_back(
        {.primitive = std::move(primitive), .offsets = std::move(part.offsets), .scratch = scratch[prepared.size()]});
  }
  if (prepared.empty()) return Error{ErrorCode::unsupported, "oneDNN has no primitive for the node", ""};
  return std::unique_ptr<PreparedKernel>(std::make_unique<OnednnKernel>(std::move(prepared), std::move(arguments)));
}

}  // namespace lowtide::kernels_internal
