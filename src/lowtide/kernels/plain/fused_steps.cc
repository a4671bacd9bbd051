// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/fused_steps.h"

#include <algorithm>

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
    const TensorId result = *node.outputs[0];
    // The slots of the operands are not free yet, so a node never writes where it reads.
    if (result != program_.outputs()[0]) slot_of_[result] = made.slot = next_slot();
    for (TensorId read : program_.reads(id)) {
      if (slot_of_[read] && program_.readers(read).back() == id) free_.push_back(*slot_of_[read]);
    }
    return made;
  }

 private:
  [[nodiscard]] FusedSource source_of(TensorId id) const {
    if (slot_of_[id]) return {FusedSource::From::slot, *slot_of_[id]};
    const auto input = std::ranges::find(program_.inputs(), id);
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
  for (NodeId id : all_ids<NodeId>(program.nodes().size())) {
    std::optional<ElementwiseStep> step = elementwise_step(program, id);
    if (!step) return {};
    steps.push_back(slots.step_of(id, *step));
  }
  return steps;
}

RunCode run_fused(const FusedSteps& steps, const FusedRow& row, Interval<std::int64_t> elements, FusedSlots& slots) {
  const std::int64_t at = elements.begin;
  for (const FusedStep& one : steps) {
    Row part{.write = one.slot ? slots.at(*one.slot) : row.result.element(at), .count = elements.end - at};
    for (std::size_t read = 0; read < one.sources.size(); ++read) {
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
