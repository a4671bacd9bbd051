// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/tail.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/tflite/flatbuffer/resource_variable.h"
#include "lowtide/tflite/micro/kernel_data.h"
#include "lowtide/tflite/micro/kernels.h"

namespace lowtide {
namespace micro_internal {
namespace {

constexpr std::int64_t kAlignment = kMicroAlignment.count();
constexpr std::int64_t kMostArenaBytes = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kPlannedBuffer = 40;  // what the planner has per buffer while it places them
constexpr std::int64_t kSpareRequests = 12;  // the most requests for scratch of one operator

// The bytes of the runtime's structures. Those with pointers are aligned to a pointer.
struct Structures {
  std::int64_t pointer;
  std::int64_t allocator;           // of one arena
  std::int64_t separate_allocator;  // of an arena for the tail
  std::int64_t head_allocator;      // of an arena for the head
  std::int64_t planner;
  std::int64_t micro_allocator;
  std::int64_t options_allocator;
  std::int64_t subgraph;
  std::int64_t eval_tensor;
  std::int64_t tensor;
  std::int64_t quantization;
  std::int64_t node;
  std::int64_t scratch_request;
  std::int64_t planned_tensor;
  std::int64_t resources;
  std::int64_t resource;
};

constexpr Structures kCortexM{.pointer = 4,
                              .allocator = 36,
                              .separate_allocator = 16,
                              .head_allocator = 32,
                              .planner = 44,
                              .micro_allocator = 36,
                              .options_allocator = 8,
                              .subgraph = 8,
                              .eval_tensor = 12,
                              .tensor = 32,
                              .quantization = 12,
                              .node = 32,
                              .scratch_request = 12,
                              .planned_tensor = 24,
                              .resources = 12,
                              .resource = 20};
constexpr Structures kPython{.pointer = 8,
                             .allocator = 104,
                             .separate_allocator = 32,
                             .head_allocator = 56,
                             .planner = 72,
                             .micro_allocator = 272,
                             .options_allocator = 16,
                             .subgraph = 24,
                             .eval_tensor = 24,
                             .tensor = 64,
                             .quantization = 24,
                             .node = 64,
                             .scratch_request = 16,
                             .planned_tensor = 32,
                             .resources = 16,
                             .resource = 40};

const Structures& structures_of(MicroBuild build) { return build == MicroBuild::python ? kPython : kCortexM; }

std::int64_t up(std::int64_t size, std::int64_t alignment) {
  return must_multiply((must_add(size, alignment) - 1) / alignment, alignment);
}

std::int64_t count_of(std::size_t size) { return static_cast<std::int64_t>(size); }

// How far the runtime's two stacks reach, which grow towards each other from the ends of the arena.
class Stacks {
 public:
  void keep(std::int64_t bytes, std::int64_t alignment) {
    tail_ = up(must_add(tail_, bytes), alignment);
    note(head_);
  }
  void borrow(std::int64_t bytes, std::int64_t alignment) { note(must_add(up(head_, alignment), bytes)); }
  // Gives back what was borrowed, and resizes what begins at the low end.
  void resize(std::int64_t bytes) {
    head_ = 0;
    note(bytes);
  }
  // The planner has the rest of the arena, whose ends it aligns, and needs these bytes of it.
  void plan(std::int64_t bytes) {
    const std::int64_t end = must_add(up(head_, kAlignment), bytes);
    most_head_ = std::max(most_head_, end);
    most_ = std::max(most_, must_add(end, up(tail_, kAlignment)));
  }

  [[nodiscard]] std::int64_t tail() const { return tail_; }
  [[nodiscard]] std::int64_t most() const { return most_; }            // of both together
  [[nodiscard]] std::int64_t most_head() const { return most_head_; }  // of the one at the low end

 private:
  void note(std::int64_t head) {
    head_ = head;
    most_head_ = std::max(most_head_, head_);
    most_ = std::max(most_, must_add(head_, tail_));
  }

  std::int64_t head_ = 0;
  std::int64_t tail_ = 0;
  std::int64_t most_head_ = 0;
  std::int64_t most_ = 0;
};

// Follows the interpreter from its constructor until the model is ready.
class Start {
 public:
  Start(const TfliteModel& model, const MicroFirmware& firmware)
      : model_(model), firmware_(firmware), build_(firmware.build), sizes_(structures_of(firmware.build)) {}

  void run(const MicroHead& head, std::int64_t head_size, const MicroOffsets& given, bool is_separate) {
    construct(is_separate);
    tables();
    for_each_operator([this](const TfliteSubgraph& /*subgraph*/, const TfliteOperator& op) { read_options(op); });
    for_each_operator([this](const TfliteSubgraph& /*subgraph*/, const TfliteOperator& op) {
      const KernelData* data = kernel_data(op, firmware_);
      if (data != nullptr && data->data(build_) > 0) stacks_.keep(data->data(build_), kAlignment);
    });
    for_each_operator([this](const TfliteSubgraph& subgraph, const TfliteOperator& op) { prepare(subgraph, op); });
    if (requests_ > 0) keep_structures(requests_, sizes_.pointer);
    place(head, given);
    stacks_.resize(head_size);
    const TfliteSubgraph& main = model_.subgraphs.front();
    for (const auto* tensors : {&main.inputs, &main.outputs}) {
      stacks_.keep(must_multiply(count_of(tensors->size()), sizes_.pointer), kAlignment);
      for (std::uint32_t tensor : *tensors) keep_tensor(main.tensors[tensor]);
    }
  }

  [[nodiscard]] const Stacks& stacks() const { return stacks_; }
  [[nodiscard]] const std::set<std::string>& unknown() const { return unknown_; }

 private:
  // What a kernel does when it is prepared.
  class OfKernel final : public Preparation {
   public:
    OfKernel(const TfliteSubgraph& subgraph, const TfliteOperator& op, Start& start)
        : Preparation(subgraph, op, start.build_), start_(start) {}
    void keep(std::int64_t bytes) override { start_.stacks_.keep(bytes, kAlignment); }
    void assign() override {
      const TfliteTensor* handle = input(0);
      const TfliteTensor* value = input(1);
      const auto variable = start_.handles_.find(handle);
      if (variable == start_.handles_.end() || value == nullptr) {
        start_.unknown_.insert(op().type);
      } else if (start_.assigned_.insert(variable->second).second) {
        keep(bytes_of(*value));
      }
    }

   private:
    void describe_tensor(const TfliteTensor& tensor) override {
      start_.describe(tensor,
                      [this](std::int64_t bytes, std::int64_t alignment) { start_.stacks_.borrow(bytes, alignment); });
    }
    Start& start_;
  };

  template <typename Visit>
  void for_each_operator(const Visit& visit) {
    for (const TfliteSubgraph& subgraph : model_.subgraphs) {
      for (const TfliteOperator& op : subgraph.operators) visit(subgraph, op);
    }
  }

  static std::int64_t bytes_of(const TfliteTensor& tensor) {
    const auto count = elements(tensor);
    return count ? must_multiply(*count, element_bytes(tensor.type).value_or(0)) : kMostArenaBytes;
  }

  void keep_structures(std::int64_t count, std::int64_t size) {
    stacks_.keep(must_multiply(count, size), sizes_.pointer);
  }

  void construct(bool is_separate) {
    if (is_separate) {
      keep_structures(1, sizes_.separate_allocator);
      keep_structures(1, sizes_.head_allocator);
    } else {
      keep_structures(1, sizes_.allocator);
    }
    keep_structures(1, sizes_.planner);
    keep_structures(1, sizes_.micro_allocator);
    TfliteVariableNumbers resources;
    for_each_operator([&](const TfliteSubgraph& subgraph, const TfliteOperator& op) {
      if (!is_var_handle(op)) return;
      const std::size_t number = resources.number_of(variable_of(op));
      if (!op.outputs.empty() && op.outputs[0]) handles_.emplace(&subgraph.tensors[*op.outputs[0]], number);
    });
    if (resources.count() == 0) return;
    stacks_.keep(sizes_.resources, kAlignment);
    stacks_.keep(must_multiply(count_of(resources.count()), sizes_.resource), kAlignment);
  }

  void tables() {
    keep_structures(1, sizes_.options_allocator);
    stacks_.resize(kSpareRequests * sizes_.scratch_request);
    keep_structures(count_of(model_.subgraphs.size()), sizes_.subgraph);
    for (const TfliteSubgraph& subgraph : model_.subgraphs) {
      keep_structures(count_of(subgraph.tensors.size()), sizes_.eval_tensor);
    }
    for (const TfliteSubgraph& subgraph : model_.subgraphs) {
      keep_structures(count_of(subgraph.operators.size()), sizes_.node);
    }
  }

  void read_options(const TfliteOperator& op) {
    const KernelData* data = kernel_data(op, firmware_);
    if (data == nullptr) {
      unknown_.insert(op.type);
    } else if (const Aligned options = data->options(build_); options.size > 0) {
      stacks_.keep(options.size, options.alignment);
    }
  }

  void prepare(const TfliteSubgraph& subgraph, const TfliteOperator& op) {
    OfKernel preparation(subgraph, op, *this);
    if (const KernelData* data = kernel_data(op, firmware_); data != nullptr) {
      preparation.describe(data->described);
      if (data->prepare != nullptr) data->prepare(preparation);
    }
    const auto requests = scratch_requests(subgraph, op, firmware_.kernels);
    if (requests) requests_ += count_of(requests->size());
    stacks_.resize((kSpareRequests + requests_) * sizes_.scratch_request);
  }

  template <typename Take>
  void describe(const TfliteTensor& tensor, const Take& take) const {
    take(sizes_.tensor, sizes_.pointer);
    const TfliteQuantization& quantization = tensor.quantization;
    if (quantization.scales.empty() || quantization.zero_points.empty()) return;
    take(sizes_.quantization, sizes_.pointer);
    take(4 + 4 * count_of(quantization.scales.size()), 4);
  }

  void keep_tensor(const TfliteTensor& tensor) {
    describe(tensor, [this](std::int64_t bytes, std::int64_t alignment) { stacks_.keep(bytes, alignment); });
  }

  // The runtime lists all tensors and all scratch, gives variables their memory, and plans the rest.
  void place(const MicroHead& head, const MicroOffsets& given) {
    std::int64_t tensors = 0;
    for (const TfliteSubgraph& subgraph : model_.subgraphs) tensors += count_of(subgraph.tensors.size());
    stacks_.borrow(must_multiply(count_of(model_.subgraphs.size()), sizes_.pointer), sizes_.pointer);
    stacks_.borrow(must_multiply(must_add(tensors, requests_), sizes_.planned_tensor), sizes_.pointer);
    for (const TfliteSubgraph& subgraph : model_.subgraphs) {
      for (std::size_t at = 0; at < subgraph.tensors.size(); ++at) {
        // The runtime asks by the number of the variable in its own subgraph.
        const bool is_given = !given.empty() && given[at].has_value();
        if (subgraph.tensors[at].is_variable && !is_given) {
          stacks_.keep(bytes_of(subgraph.tensors[at]), kAlignment);
        }
      }
    }
    const auto planned = std::count_if(head.buffers.begin(), head.buffers.end(),
                                       [](const MicroBuffer& buffer) { return buffer.tensor.has_value(); });
    stacks_.plan(must_multiply(must_add(planned, requests_), kPlannedBuffer));
  }

  const TfliteModel& model_;
  MicroFirmware firmware_;
  MicroBuild build_;
  const Structures& sizes_;
  Stacks stacks_;
  std::int64_t requests_ = 0;
  std::map<const TfliteTensor*, std::size_t> handles_;  // the numbers of resource variables
  std::set<std::size_t> assigned_;                      // resource variables
  std::set<std::string> unknown_;
};

}  // namespace
}  // namespace micro_internal

std::int64_t pointer_bytes(MicroBuild build) { return micro_internal::structures_of(build).pointer; }

MicroTail micro_tail(const TfliteModel& model, const MicroFirmware& firmware, const MicroHead& head, Bytes head_size,
                     const MicroOffsets& given) {
  using micro_internal::kAlignment;
  micro_internal::Start together(model, firmware);
  together.run(head, head_size.count(), given, false);
  MicroTail tail;
  std::set<std::string> unknown = together.unknown();
  unknown.insert(head.unknown_operators.begin(), head.unknown_operators.end());
  tail.unknown_operators.assign(unknown.begin(), unknown.end());
  tail.is_above_limit = together.stacks().most() > micro_internal::kMostArenaBytes;
  if (!unknown.empty() || tail.is_above_limit) return tail;
  micro_internal::Start apart(model, firmware);
  apart.run(head, head_size.count(), given, true);
  const auto rounded = [](std::int64_t bytes) { return Bytes(micro_internal::up(bytes, kAlignment)); };
  tail.arena = MicroArena{.tail = Bytes(together.stacks().tail()),
                          .smallest = rounded(together.stacks().most()),
                          .separate_head = rounded(apart.stacks().most_head()),
                          .separate_tail = rounded(apart.stacks().tail())};
  return tail;
}

const MicroArena* MicroArenas::of(MicroBuild build) const {
  const auto found = std::ranges::find(builds, build, &std::pair<MicroBuild, MicroArena>::first);
  return found != builds.end() ? &found->second : nullptr;
}

MicroArenas micro_arenas(const TfliteModel& model, MicroKernels kernels, const MicroHead& head, Bytes head_size,
                         const MicroOffsets& given) {
  MicroArenas arenas;
  for (const MicroBuild build : {MicroBuild::cortex_m, MicroBuild::python}) {
    if (kernels == MicroKernels::cmsis_nn && build == MicroBuild::python) continue;  // the package does not have them
    MicroTail tail = micro_tail(model, {kernels, build}, head, head_size, given);
    if (tail.arena) arenas.builds.emplace_back(build, *tail.arena);
    arenas.is_above_limit = arenas.is_above_limit || tail.is_above_limit;
    if (arenas.unknown_operators.empty()) arenas.unknown_operators = std::move(tail.unknown_operators);
  }
  return arenas;
}

}  // namespace lowtide
