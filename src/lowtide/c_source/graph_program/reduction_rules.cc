// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/axes.h"
#include "lowtide/c_source/graph_program/rules.h"

namespace lowtide::graph_program_internal {
namespace {

constexpr std::size_t kReduceAxes = 5;  // those with an even index are kept

struct ReduceRow {
  std::string_view type;
  std::string_view kernel;
};
constexpr auto kReduceRows = std::to_array<ReduceRow>({
    {"ReduceL1", "reduce_l1_f32"},
    {"ReduceL2", "reduce_l2_f32"},
    {"ReduceLogSum", "reduce_log_sum_f32"},
    {"ReduceMax", "reduce_max_f32"},
    {"ReduceMean", "reduce_mean_f32"},
    {"ReduceMin", "reduce_min_f32"},
    {"ReduceProd", "reduce_product_f32"},
    {"ReduceSum", "reduce_sum_f32"},
    {"ReduceSumSquare", "reduce_sum_square_f32"},
});

// Which axes are reduced.
Result<std::vector<bool>> reduced_axes(const NodeFacts& node) {
  const std::size_t rank = node.input_shape(0).size();
  LOWTIDE_TRY(const std::optional<Extents> axes, node.list(1, "axes"));
  const bool has_none = !axes || axes->empty();
  if (has_none) return std::vector<bool>(rank, node.integer("noop_with_empty_axes", 0) == 0);
  std::vector<bool> reduced(rank, false);
  for (std::int64_t number : *axes) {
    LOWTIDE_TRY(const std::size_t axis, axis_of(number, rank));
    reduced[axis] = true;
  }
  return reduced;
}

// The axes as the kernel has them: alternately kept and reduced. nullopt: there are more.
std::optional<Loops> alternating(const Extents& shape, const std::vector<bool>& reduced) {
  const Extents dense = dense_steps(shape);
  Loops loops{Extents(kReduceAxes, 1), {Extents(kReduceAxes, 0)}};
  std::size_t place = 0;
  bool is_empty = true;  // of the axis at this place
  for (std::size_t at = 0; at < shape.size(); ++at) {
    if (shape[at] == 1) continue;
    const bool is_reduced_place = place % 2 == 1;
    if (reduced[at] != is_reduced_place) {
      ++place;
      is_empty = true;
    }
    if (place >= kReduceAxes) return std::nullopt;
    loops.counts[place] = is_empty ? shape[at] : loops.counts[place] * shape[at];
    loops.steps[0][place] = dense[at];
    is_empty = false;
  }
  return loops;
}

Result<NodeCalls> reduce(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  if (product(node.input_shape(0)) == 0) return missing("its operand has no elements");
  LOWTIDE_TRY(const std::vector<bool> reduced, reduced_axes(node));
  if (std::ranges::none_of(reduced, [](bool is) { return is; })) {
    return NodeCalls{{copy_call(node.output(0).size, InputAt{0}, OutputAt{0})}};
  }
  const std::optional<Loops> loops = alternating(node.input_shape(0), reduced);
  if (!loops) return missing("it reduces more than 2 groups of axes");
  const auto* row = std::ranges::find(kReduceRows, node.type(), &ReduceRow::type);
  Parameters parameters;
  parameters.add("counts", loops->counts).add("steps", loops->steps[0]);
  return NodeCalls{{{std::string(row->kernel), parameters.take(), {InputAt{0}, OutputAt{0}}}}};
}

Result<NodeCalls> arg(const NodeFacts& node) {
  if (node.input(0).dtype != DType::f32) return missing("its operand is not f32");
  const Extents& shape = node.input_shape(0);
  LOWTIDE_TRY(const std::size_t axis, axis_of(node.integer("axis", 0), shape.size()));
  if (shape[axis] == 0) return missing("its axis is empty");
  Parameters parameters;
  parameters.add("outer", product(shape, 0, axis))
      .add("axis", shape[axis])
      .add("inner", product(shape, axis + 1, shape.size()))
      .add("takes_last", node.integer("select_last_index", 0) != 0 ? 1 : 0);
  return NodeCalls{
      {{node.type() == "ArgMax" ? "arg_max_f32" : "arg_min_f32", parameters.take(), {InputAt{0}, OutputAt{0}}}}};
}

constexpr auto kReductionRules = std::to_array<Rule>({
    {"ArgMax", &arg},
    {"ArgMin", &arg},
    {"ReduceL1", &reduce},
    {"ReduceL2", &reduce},
    {"ReduceLogSum", &reduce},
    {"ReduceMax", &reduce},
    {"ReduceMean", &reduce},
    {"ReduceMin", &reduce},
    {"ReduceProd", &reduce},
    {"ReduceSum", &reduce},
    {"ReduceSumSquare", &reduce},
});

}  // namespace

std::span<const Rule> reduction_rules() { return kReductionRules; }

}  // namespace lowtide::graph_program_internal
