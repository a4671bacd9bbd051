// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/library/library_kernel.h"

#include <new>
#include <span>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/kernels/library/description.h"
#include "lowtide/kernels/library/dnnl.h"
#include "lowtide/kernels/library/engine.h"
#include "lowtide/kernels/library/quiet_heap.h"

namespace lowtide::kernels_internal {
namespace {

// A tensor of a bound primitive. `cell` is nullptr for scratch, whose address never changes.
struct BoundArgument {
  std::byte* const* cell;
  dnnl_memory_t memory;
};

// In memory it is followed by one BoundArgument and then one dnnl_exec_arg_t per argument.
struct BoundPrimitive : BoundKernel {
  const_dnnl_primitive_t primitive = nullptr;
  dnnl_stream_t stream = nullptr;
  std::span<BoundArgument> arguments;
  std::span<dnnl_exec_arg_t> list;

  static RunStatus call(BoundKernel* self, Team& /*team*/) {
    const auto* bound = static_cast<const BoundPrimitive*>(self);
    const SingleThread single;
    const QuietScope quiet;
    const dnnl_status_t status = dnnl().primitive_execute(bound->primitive, bound->stream,
                                                          static_cast<int>(bound->list.size()), bound->list.data());
    if (status == dnnl_success) return {};
    return {RunCode::kernel_failed, static_cast<std::uint32_t>(status)};
  }

  static void follow_cells(BoundKernel* self) {
    const QuietScope quiet;
    for (const BoundArgument& argument : static_cast<BoundPrimitive*>(self)->arguments) {
      if (argument.cell == nullptr) continue;
      const dnnl_status_t status = dnnl().memory_set_data_handle(argument.memory, *argument.cell);
      LOWTIDE_CHECK(status == dnnl_success, "memory of a bound primitive takes any address");
    }
  }

  static void end(BoundKernel* self) {
    auto* bound = static_cast<BoundPrimitive*>(self);
    for (const BoundArgument& argument : bound->arguments) dnnl().memory_destroy(argument.memory);
    dnnl().stream_destroy(bound->stream);
  }
};

class LibraryKernel final : public PreparedKernel {
 public:
  LibraryKernel(PrimitiveDescription description, Primitive primitive, std::vector<Argument> arguments)
      : description_(std::move(description)), primitive_(std::move(primitive)), arguments_(std::move(arguments)) {}

  [[nodiscard]] Bytes bound_bytes() const override {
    return Bytes(static_cast<std::int64_t>(sizeof(BoundPrimitive) +
                                           arguments_.size() * (sizeof(BoundArgument) + sizeof(dnnl_exec_arg_t))));
  }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) BoundPrimitive;
    auto* arguments = reinterpret_cast<BoundArgument*>(at + sizeof(BoundPrimitive));
    auto* list = reinterpret_cast<dnnl_exec_arg_t*>(arguments + arguments_.size());
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& argument = arguments_[i];
      std::byte* const* cell = nullptr;
      if (argument.from == Argument::From::read) cell = reads[argument.index].bytes;
      if (argument.from == Argument::From::write) cell = writes[argument.index].bytes;
      dnnl_memory_t memory = nullptr;
      const dnnl_status_t made =
          dnnl().memory_create(&memory, tensor_of(description_, argument.tensor, argument.number), library_engine(),
                               cell == nullptr ? scratch : *cell);
      LOWTIDE_CHECK(made == dnnl_success, "the library describes memory that exists");
      new (arguments + i) BoundArgument{cell, memory};
      new (list + i) dnnl_exec_arg_t{argument.name, memory};
    }
    bound->run = &BoundPrimitive::call;
    bound->rebind = &BoundPrimitive::follow_cells;
    bound->destroy = &BoundPrimitive::end;
    bound->primitive = primitive_.get();
    bound->arguments = {arguments, arguments_.size()};
    bound->list = {list, arguments_.size()};
    const dnnl_status_t made = dnnl().stream_create(&bound->stream, library_engine(), dnnl_stream_in_order);
    LOWTIDE_CHECK(made == dnnl_success, "the library makes streams on a CPU");
    return bound;
  }

 private:
  PrimitiveDescription description_;
  Primitive primitive_;
  std::vector<Argument> arguments_;
};

}  // namespace

Result<std::unique_ptr<PreparedKernel>> library_kernel(PrimitiveDescription description,
                                                       std::vector<Argument> arguments) {
  const SingleThread single;
  auto primitive =
      made_by<Primitive>([&](dnnl_primitive_t* made) { return dnnl().primitive_create(made, description.get()); });
  if (primitive == nullptr) return Error{ErrorCode::unsupported, "oneDNN cannot make the primitive", ""};
  if (scratch_of(description) > Bytes()) {
    arguments.push_back({DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md, Argument::From::scratch, 0});
  }
  return std::unique_ptr<PreparedKernel>(
      std::make_unique<LibraryKernel>(std::move(description), std::move(primitive), std::move(arguments)));
}

}  // namespace lowtide::kernels_internal
