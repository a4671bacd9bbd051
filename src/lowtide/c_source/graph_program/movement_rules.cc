// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/axes.h"
#include "lowtide/c_source/graph_program/rules.h"

namespace lowtide::graph_program_internal {
namespace {

CType type_of(const NodeFacts& node) { return *c_type_of(node.output(0).dtype); }

// The operators whose result has the elements of input 0 in their order.
Result<NodeCalls> whole(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_results(1));
  return NodeCalls{{copy_call(node.output(0).size, InputAt{0}, OutputAt{0})}};
}

Result<NodeCalls> dropout(const NodeFacts& node) {
  if (node.has_input(2)) {
    const std::optional<Extents> training = node.constant_integers(2);
    const std::optional<bool> is_off = training ? std::optional(training->front() == 0) : std::nullopt;
    if (is_off != true) return missing("no kernel of C trains");
  }
  return whole(node);
}

// The moves of a dense tensor that is a part of another one, along one axis.
struct PartOf {
  Extents part;
  Extents whole;
  std::size_t axis = 0;
  std::int64_t begin = 0;
};

Movement into_whole(const PartOf& at) {
  const Extents steps = dense_steps(at.whole);
  return {.loops = {at.part, {dense_steps(at.part), steps}}, .output_start = at.begin * steps[at.axis]};
}

Movement out_of_whole(const PartOf& at) {
  const Extents steps = dense_steps(at.whole);
  return {.loops = {at.part, {steps, dense_steps(at.part)}}, .input_start = at.begin * steps[at.axis]};
}

Result<NodeCalls> concat(const NodeFacts& node) {
  const Extents& result = node.output_shape(0);
  LOWTIDE_TRY(const std::size_t axis, axis_of(node.integer("axis", 1), result.size()));
  NodeCalls calls;
  std::int64_t begin = 0;
  for (std::size_t at = 0; at < node.node().inputs.size(); ++at) {
    const Extents& part = node.input_shape(at);
    if (product(part) > 0) {
      LOWTIDE_TRY(NodeCall call,
                  move_call(type_of(node), into_whole({part, result, axis, begin}), InputAt{at}, OutputAt{0}));
      calls.calls.push_back(std::move(call));
    }
    begin += part[axis];
  }
  return calls;
}

Result<NodeCalls> split(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  LOWTIDE_TRY(const std::size_t axis, axis_of(node.integer("axis", 0), source.size()));
  NodeCalls calls;
  std::int64_t begin = 0;
  for (std::size_t at = 0; at < node.node().outputs.size(); ++at) {
    if (!node.has_output(at)) return missing("a result that is omitted has no known length");
    const Extents& part = node.output_shape(at);
    if (product(part) > 0) {
      LOWTIDE_TRY(NodeCall call, move_call(*c_type_of(node.output(at).dtype), out_of_whole({part, source, axis, begin}),
                                           InputAt{0}, OutputAt{at}));
      calls.calls.push_back(std::move(call));
    }
    begin += part[axis];
  }
  return calls;
}

// The first element that a Slice takes along an axis.
std::int64_t slice_start(std::int64_t start, std::int64_t extent, std::int64_t step) {
  if (start < 0) start += extent;
  return step > 0 ? std::clamp<std::int64_t>(start, 0, extent) : std::clamp<std::int64_t>(start, -1, extent - 1);
}

Result<NodeCalls> slice(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  LOWTIDE_TRY(const std::optional<Extents> starts, node.list(1, "starts"));
  LOWTIDE_TRY(std::optional<Extents> axes, node.list(3, "axes"));
  LOWTIDE_TRY(std::optional<Extents> steps, node.list(4, "steps"));
  if (!starts) return missing("it does not say where the slice begins");
  if (!axes) {
    axes.emplace();
    for (std::size_t at = 0; at < starts->size(); ++at) axes->push_back(static_cast<std::int64_t>(at));
  }
  if (!steps) steps = Extents(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size()) return missing("its lists differ in length");
  const Extents dense = dense_steps(source);
  Movement movement{.loops = {node.output_shape(0), {dense, dense_steps(node.output_shape(0))}}};
  for (std::size_t at = 0; at < axes->size(); ++at) {
    LOWTIDE_TRY(const std::size_t axis, axis_of((*axes)[at], source.size()));
    if (node.output_shape(0)[axis] > 1) movement.loops.steps[0][axis] = dense[axis] * (*steps)[at];
    movement.input_start += slice_start((*starts)[at], source[axis], (*steps)[at]) * dense[axis];
  }
  LOWTIDE_TRY(NodeCall call, move_call(type_of(node), movement, InputAt{0}, OutputAt{0}));
  return NodeCalls{{std::move(call)}};
}

// Moves elements such that axis i of the result is axis order[i] of the input, which has these extents.
Result<NodeCalls> permuted(const NodeFacts& node, const Extents& extents, const Extents& order) {
  const Extents dense = dense_steps(extents);
  Loops loops{{}, {{}, {}}};
  for (std::int64_t from : order) {
    LOWTIDE_TRY(const std::size_t axis, axis_of(from, extents.size()));
    loops.counts.push_back(extents[axis]);
    loops.steps[0].push_back(dense[axis]);
  }
  loops.steps[1] = dense_steps(loops.counts);
  LOWTIDE_TRY(NodeCall call, move_call(type_of(node), {.loops = std::move(loops)}, InputAt{0}, OutputAt{0}));
  return NodeCalls{{std::move(call)}};
}

Result<NodeCalls> transpose(const NodeFacts& node) {
  std::optional<Extents> order = node.integers("perm");
  const std::size_t rank = node.input_shape(0).size();
  if (!order) {
    order.emplace();
    for (std::size_t at = rank; at-- > 0;) order->push_back(static_cast<std::int64_t>(at));
  }
  if (order->size() != rank) return missing("perm does not name each axis");
  return permuted(node, node.input_shape(0), *order);
}

Result<NodeCalls> depth_to_space(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  const std::int64_t block = node.integer("blocksize", 1);
  if (source.size() != 4 || block < 1) return missing("the kernel of C has four axes");
  const std::int64_t depth = source[1] / (block * block);
  if (node.text("mode", "DCR") == "DCR") {
    return permuted(node, {source[0], block, block, depth, source[2], source[3]}, {0, 3, 4, 1, 5, 2});
  }
  return permuted(node, {source[0], depth, block, block, source[2], source[3]}, {0, 1, 4, 2, 5, 3});
}

Result<NodeCalls> space_to_depth(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  const std::int64_t block = node.integer("blocksize", 1);
  if (source.size() != 4 || block < 1) return missing("the kernel of C has four axes");
  return permuted(node, {source[0], source[1], source[2] / block, block, source[3] / block, block}, {0, 3, 5, 1, 2, 4});
}

Result<NodeCalls> expand(const NodeFacts& node) {
  const Extents& result = node.output_shape(0);
  Loops loops{result, {broadcast_steps(node.input_shape(0), result), dense_steps(result)}};
  LOWTIDE_TRY(NodeCall call, move_call(type_of(node), {.loops = std::move(loops)}, InputAt{0}, OutputAt{0}));
  return NodeCalls{{std::move(call)}};
}

Result<NodeCalls> gather(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  LOWTIDE_TRY(const std::size_t axis, axis_of(node.integer("axis", 0), source.size()));
  const DType places = node.input(1).dtype;
  if (places != DType::i64 && places != DType::i32) return missing("indices are neither i64 nor i32");
  if (source[axis] == 0) return missing("the axis is empty");
  Parameters parameters;
  parameters.add("outer", product(source, 0, axis))
      .add("axis", source[axis])
      .add("bytes", product(source, axis + 1, source.size()) * size_of(type_of(node)))
      .add("places", product(node.input_shape(1)));
  return NodeCalls{
      {{places == DType::i64 ? "gather_i64" : "gather_i32", parameters.take(), {InputAt{0}, InputAt{1}, OutputAt{0}}}}};
}

constexpr auto kMovementRules = std::to_array<Rule>({
    {"Concat", &concat},
    {"DepthToSpace", &depth_to_space},
    {"Dropout", &dropout},
    {"Expand", &expand},
    {"Flatten", &whole},
    {"Gather", &gather},
    {"Identity", &whole},
    {"Reshape", &whole},
    {"Slice", &slice},
    {"SpaceToDepth", &space_to_depth},
    {"Split", &split},
    {"Squeeze", &whole},
    {"Transpose", &transpose},
    {"Unsqueeze", &whole},
});

}  // namespace

std::span<const Rule> movement_rules() { return kMovementRules; }

}  // namespace lowtide::graph_program_internal
