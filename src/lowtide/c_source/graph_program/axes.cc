// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/axes.h"

#include <algorithm>
#include <utility>

namespace lowtide::graph_program_internal {
namespace {

constexpr std::size_t kMoveAxes = 5;

// Whether axis `at` of all tensors continues what `steps` and `count` of the axis before it do.
bool continues(const Loops& loops, std::size_t at, const Loops& result) {
  for (std::size_t tensor = 0; tensor < loops.steps.size(); ++tensor) {
    if (result.steps[tensor].back() != loops.steps[tensor][at] * loops.counts[at]) return false;
  }
  return true;
}

}  // namespace

Loops merged(const Loops& loops) {
  Loops result;
  result.steps.resize(loops.steps.size());
  for (std::size_t at = 0; at < loops.counts.size(); ++at) {
    if (loops.counts[at] == 1) continue;
    const bool is_same = !result.counts.empty() && continues(loops, at, result);
    if (is_same) {
      result.counts.back() *= loops.counts[at];
    } else {
      result.counts.push_back(loops.counts[at]);
    }
    for (std::size_t tensor = 0; tensor < loops.steps.size(); ++tensor) {
      if (is_same) {
        result.steps[tensor].back() = loops.steps[tensor][at];
      } else {
        result.steps[tensor].push_back(loops.steps[tensor][at]);
      }
    }
  }
  return result;
}

std::optional<Loops> with_axes(Loops loops, std::size_t axes) {
  if (loops.counts.size() > axes) return std::nullopt;
  const std::size_t added = axes - loops.counts.size();
  loops.counts.insert(loops.counts.begin(), added, 1);
  for (Extents& steps : loops.steps) steps.insert(steps.begin(), added, 0);
  return loops;
}

Extents broadcast_steps(const Extents& operand, const Extents& result) {
  const Extents dense = dense_steps(operand);
  Extents steps(result.size(), 0);
  const std::size_t added = result.size() - operand.size();
  for (std::size_t at = 0; at < operand.size(); ++at) {
    if (operand[at] != 1) steps[added + at] = dense[at];
  }
  return steps;
}

Result<NodeCall> move_call(CType type, const Movement& movement, NodeOperand from, NodeOperand to) {
  Loops loops = merged(movement.loops);
  const std::int64_t element = size_of(type);
  const bool is_float = type == CType::float32;
  std::int64_t unit = is_float ? 1 : element;  // of starts and steps
  std::int64_t piece = element;
  if (!is_float && !loops.counts.empty() && loops.steps[0].back() == 1 && loops.steps[1].back() == 1) {
    piece *= loops.counts.back();
    loops.counts.pop_back();
    for (Extents& steps : loops.steps) steps.pop_back();
  }
  // An axis without a neighbor has steps as a dense one, so that the kernel sees a row.
  if (loops.counts.empty()) loops = {{1}, {{1}, {1}}};
  std::optional<Loops> all = with_axes(std::move(loops), kMoveAxes);
  if (!all) return missing("it moves elements along more than " + std::to_string(kMoveAxes) + " axes");
  for (Extents& steps : all->steps) {
    for (std::int64_t& step : steps) step *= unit;
  }
  Parameters parameters;
  if (!is_float) parameters.add("bytes", piece);
  parameters.add("counts", all->counts)
      .add("input_steps", all->steps[0])
      .add("output_steps", all->steps[1])
      .add("input_start", movement.input_start * unit)
      .add("output_start", movement.output_start * unit);
  return NodeCall{is_float ? "move_f32" : "move", parameters.take(), {from, to}};
}

NodeCall copy_call(Bytes size, NodeOperand from, NodeOperand to) {
  Parameters parameters;
  parameters.add("bytes", size.count());
  return {"copy", parameters.take(), {from, to}};
}

}  // namespace lowtide::graph_program_internal
