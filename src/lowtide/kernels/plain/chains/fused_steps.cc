// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/chains/fused_steps.h"

#include <algorithm>

#include "lowtide/base/check.h"

namespace lowtide::kernels_internal {
namespace {

// Gives each result between nodes a slot, and frees the slot after the last node that reads it.
class SlotChooser {
 public:
  explicit SlotChooser(const Graph& program) : program_(program), slot_of_(program.tensors().size()) {}

  FusedStep step_of(NodeId id, ElementwiseStep step) {
    const Node& node = program_.node(id);
    FusedStep made{.step = step};
    for (std::size_t at = 0; at < node.inputs.size(); ++at) {
      if (node.inputs[at]) made.sources[at] = source_of(*node.inputs[at]);
    }
    made.slot = slot_of_result(id);
    for (TensorId read : program_.reads(id)) free_after(read, id);
    return made;
  }

  // The nodes of a pattern from `first` to `last` become one step.
  FusedStep step_of(const FusedPattern& pattern, NodeId first, NodeId last) {
    FusedStep made{.pattern = pattern.kind};
    made.sources[0] = source_of(*pattern.value);
    if (pattern.other) made.sources[1] = source_of(*pattern.other);
    for (std::size_t at = 0; at < pattern.numbers.size(); ++at) {
      const FusedPattern::Number& number = pattern.numbers[at];
      made.numbers[at] = number.value;
      if (number.operand) made.sources[FusedStep::kValues + at] = source_of(*number.operand);
    }
    made.slot = slot_of_result(last);
    for (NodeId id = first; id <= last; id = NodeId(id.value() + 1)) {
      for (TensorId read : program_.reads(id)) free_after(read, id);
    }
    return made;
  }

 private:
  // The slots of the operands are not free yet, so a step never writes where it reads.
  std::optional<std::size_t> slot_of_result(NodeId id) {
    const TensorId result = *program_.node(id).outputs[0];
    if (result != program_.outputs()[0]) slot_of_[result] = next_slot();
    return slot_of_[result];
  }
  void free_after(TensorId read, NodeId id) {
    if (slot_of_[read] && program_.readers(read).back() == id) free_.push_back(*slot_of_[read]);
  }
  [[nodiscard]] FusedSource source_of(TensorId id) const {
    if (slot_of_[id]) return {FusedSource::From::slot, *slot_of_[id]};
    const auto input = std::ranges::find(program_.inputs(), id);
    LOWTIDE_CHECK(input != program_.inputs().end(), "a step reads an operand or the result of an earlier step");
    return {FusedSource::From::operand, static_cast<std::size_t>(input - program_.inputs().begin())};
  }
  std::size_t next_slot() {
    if (free_.empty()) return used_++;
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  const Graph& program_;
  IdVector<TensorId, std::optional<std::size_t>> slot_of_;
  std::vector<std::size_t> free_;
  std::size_t used_ = 0;
};

}  // namespace

FusedSteps fused_steps(const Graph& program) {
  FusedSteps steps;
  SlotChooser slots(program);
  NodeId next(0);
  for (NodeId id : all_ids<NodeId>(program.nodes().size())) {
    if (id < next) continue;  // a part of a pattern
    std::optional<ElementwiseStep> step = elementwise_step(program, id);
    if (!step) return {};
    const FusedPattern pattern = pattern_at(program, id);
    if (pattern.kind == FusedPattern::Kind::none) {
      steps.push_back(slots.step_of(id, *step));
      continue;
    }
    next = NodeId(id.value() + static_cast<std::uint32_t>(pattern.nodes));
    steps.push_back(slots.step_of(pattern, id, NodeId(next.value() - 1)));
  }
  return steps;
}

namespace {

void run_pattern(const FusedStep& step, const FusedRow& row, Interval<std::int64_t> elements, FusedSlots& slots) {
  std::array<const float*, FusedStep::kValues + FusedPattern::kMostNumbers> reads{};
  for (std::size_t at = 0; at < reads.size(); ++at) {
    const FusedSource& source = step.sources[at];
    if (source.from == FusedSource::From::operand) {
      reads[at] = reinterpret_cast<const float*>(row.operands[source.index].element(elements.begin));
    } else if (source.from == FusedSource::From::slot) {
      reads[at] = reinterpret_cast<const float*>(slots.at(source.index));
    }
  }
  std::byte* const to = step.slot ? slots.at(*step.slot) : row.result.element(elements.begin);
  PatternRow pattern{.value = reads[0],
                     .other = reads[1],
                     .numbers = step.numbers,
                     .y = reinterpret_cast<float*>(to),
                     .count = elements.end - elements.begin};
  for (std::size_t at = 0; at < pattern.numbers.size(); ++at) {
    if (const float* const number = reads[FusedStep::kValues + at]) pattern.numbers[at] = *number;
  }
  run_pattern(step.pattern, pattern);
}

}  // namespace

RunCode run_fused(const FusedSteps& steps, const FusedRow& row, Interval<std::int64_t> elements, FusedSlots& slots) {
  const std::int64_t at = elements.begin;
  for (const FusedStep& one : steps) {
    if (one.pattern != FusedPattern::Kind::none) {
      run_pattern(one, row, elements, slots);
      continue;
    }
    Row part{.write = one.slot ? slots.at(*one.slot) : row.result.element(at), .count = elements.end - at};
    for (std::size_t read = 0; read < part.reads.size(); ++read) {
      const FusedSource& source = one.sources[read];
      if (source.from == FusedSource::From::operand) {
        part.reads[read] = row.operands[source.index].element(at);
        part.steps[read] = row.operands[source.index].step;
      } else if (source.from == FusedSource::From::slot) {
        part.reads[read] = slots.at(source.index);
        part.steps[read] = 1;
      }
    }
    const RunCode code = run_step(one.step, part);
    if (code != RunCode::ok) return code;
  }
  return RunCode::ok;
}

}  // namespace lowtide::kernels_internal
