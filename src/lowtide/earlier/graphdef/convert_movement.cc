// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "lowtide/earlier/graphdef/node_conversion.h"
#include "lowtide/earlier/graphdef/op_slices.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::int64_t kBehindFirst = INT64_MIN + 1;  // the end of a backward slice that takes the first element

// The axis of an attribute or of a known operand. nullopt, with a fault, if there is no such axis.
std::optional<std::int64_t> axis_in(NodeConversion& node, std::optional<std::int64_t> axis, std::size_t rank) {
  const std::optional<std::size_t> index = axis ? index_of_axis(*axis, rank) : std::nullopt;
  if (index) return static_cast<std::int64_t>(*index);
  node.fault = axis ? "it has no axis " + std::to_string(*axis) : "its axis must be constant";
  return std::nullopt;
}

// Writes result 0 as the slices of a tensor along all of its axes, and without the axes that one index takes.
void write_slices(NodeConversion& node, const SlicePlan& plan) {
  Extents starts;
  Extents ends;
  Extents steps;
  Extents axes;
  Extents counts;
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const AxisSlice& slice = plan.axes[axis];
    counts.push_back(slice.count);
    const bool is_whole = slice.begin == 0 && slice.stride == 1 && slice.count == node.shape(0)[axis];
    if (is_whole) continue;
    const bool is_empty = slice.count == 0;
    const std::int64_t end = is_empty ? 0 : slice.begin + slice.stride * slice.count;
    starts.push_back(is_empty ? 0 : slice.begin);
    ends.push_back(end < 0 ? kBehindFirst : end);
    steps.push_back(is_empty ? 1 : slice.stride);
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  if (axes.empty()) return write_reshaped(node);
  const std::vector<std::string> inputs = {node.operands[0], node.to.integers(starts), node.to.integers(ends),
                                           node.to.integers(axes), node.to.integers(steps)};
  // A new axis and one that an index takes can leave the rank as it is.
  if (plan.shape == counts) return node.write("Slice", inputs);
  write_reshaped(node, node.make("Slice", inputs));
}

// Writes the parts of a tensor of `rank` axes, with the channels first if it is there in that order.
void write_parts(NodeConversion& node, const std::string& x, std::size_t rank, std::int64_t axis,
                 const Extents& sizes) {
  const bool is_first = node.to.has_channels_first(x);
  std::vector<std::string> parts;
  for (const std::string& result : node.results) {
    parts.push_back(is_first ? node.to.fresh(result + "/channels_first") : result);
  }
  node.to.add({.type = "Split",
               .inputs = {is_first ? node.to.channels_first(x, rank) : x, node.to.integers(sizes)},
               .outputs = parts,
               .attributes = {{"axis", is_first ? axis_in_first(axis, rank) : axis}}});
  if (!is_first) return;
  for (std::size_t at = 0; at < node.results.size(); ++at) node.to.channels_last(parts[at], rank, node.results[at]);
}

// Two numbers for each axis, as ONNX lists them: all begins, then all ends.
std::optional<Extents> pads_of(NodeConversion& node) {
  const Extents* given = node.known(1, "paddings");
  if (given == nullptr) return std::nullopt;
  const std::size_t rank = node.shape(0).size();
  if (given->size() != 2 * rank) {
    node.fault = "its paddings do not fit its operand";
    return std::nullopt;
  }
  Extents pads;
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t axis = 0; axis < rank; ++axis) pads.push_back((*given)[2 * axis + side]);
  }
  return pads;
}

Extents pads_first(const Extents& pads) {
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  Extents moved = extents_in_first({pads.begin(), middle});
  const Extents ends = extents_in_first({middle, pads.end()});
  moved.insert(moved.end(), ends.begin(), ends.end());
  return moved;
}

void write_pad(NodeConversion& node, const Extents& pads, const std::string& value, const std::string& mode) {
  const std::size_t rank = node.shape(0).size();
  const bool is_first = node.to.has_channels_first(node.operands[0]) && rank >= 3;
  std::vector<std::string> inputs = {is_first ? node.to.channels_first(node.operands[0], rank) : node.operands[0],
                                     node.to.integers(is_first ? pads_first(pads) : pads)};
  if (!value.empty()) inputs.push_back(value);
  write_aligned(node, is_first,
                {.type = "Pad", .inputs = std::move(inputs), .outputs = {}, .attributes = {{"mode", mode}}});
}

// Mirrors that repeat the first and the last element are slices in backward order.
std::string mirrored(NodeConversion& node, const std::string& x, std::int64_t axis, std::int64_t begin,
                     std::int64_t end) {
  std::vector<std::string> parts;
  const std::string along = node.to.integers({axis});
  const std::string backward = node.to.integers({-1});
  if (begin > 0) {
    parts.push_back(
        node.make("Slice", {x, node.to.integers({begin - 1}), node.to.integers({kBehindFirst}), along, backward}));
  }
  parts.push_back(x);
  if (end > 0) {
    parts.push_back(node.make("Slice", {x, node.to.integers({-1}), node.to.integers({-1 - end}), along, backward}));
  }
  return node.make("Concat", parts, {{"axis", axis}});
}

}  // namespace

void convert_identity(NodeConversion& node) {
  for (std::size_t at = 0; at < node.results.size() && at < node.operands.size(); ++at) {
    const std::size_t rank = node.shape(at).size();
    if (node.to.has_channels_first(node.operands[at])) {
      node.to.channels_last(node.to.channels_first(node.operands[at], rank), rank, node.results[at]);
    } else {
      node.to.add({.type = "Identity", .inputs = {node.operands[at]}, .outputs = {node.results[at]}});
    }
  }
}

// Also ExpandDims and Squeeze.
void convert_reshape(NodeConversion& node) {
  const Extents& x = node.shape(0);
  const bool is_vector = x.size() == 4 && x[1] == 1 && x[2] == 1;
  const bool is_first = node.to.has_channels_first(node.operands[0]) && is_vector;
  write_reshaped(node, is_first ? node.to.channels_first(node.operands[0], 4) : node.operands[0]);
}

void convert_transpose(NodeConversion& node) {
  const Extents* axes = node.known(1, "order of axes");
  if (axes == nullptr) return;
  if (axes->empty()) return node.write("Identity", {node.operands[0]});
  node.write("Transpose", {node.operands[0]}, {{"perm", *axes}});
}

// The axis is the last input, or the first one of Concat.
void convert_concat(NodeConversion& node) {
  const bool is_behind = node.node().op() == "ConcatV2";
  const std::size_t rank = node.result_shape().size();
  const std::optional<std::int64_t> axis =
      axis_in(node, node.types.number(is_behind ? node.operands.size() - 1 : 0), rank);
  if (!axis) return;
  std::vector<std::string> parts(node.operands.begin() + (is_behind ? 0 : 1),
                                 node.operands.end() - (is_behind ? 1 : 0));
  const bool is_first = std::any_of(parts.begin(), parts.end(),
                                    [&](const std::string& part) { return node.to.has_channels_first(part); });
  std::int64_t joined = *axis;
  if (is_first && rank >= 3) {
    for (std::string& part : parts) part = node.to.channels_first(part, rank);
    joined = axis_in_first(*axis, rank);
  }
  write_aligned(node, is_first && rank >= 3,
                {.type = "Concat", .inputs = std::move(parts), .outputs = {}, .attributes = {{"axis", joined}}});
}

void convert_pack(NodeConversion& node) {
  const auto axis = axis_in(node, node.node().integer("axis", 0), node.result_shape().size());
  if (!axis) return;
  std::vector<std::string> parts;
  for (const std::string& operand : node.operands) {
    parts.push_back(node.make("Unsqueeze", {operand, node.to.integers({*axis})}));
  }
  node.write("Concat", parts, {{"axis", *axis}});
}

void convert_unpack(NodeConversion& node) {
  const auto axis = axis_in(node, node.node().integer("axis", 0), node.shape(0).size());
  if (!axis) return;
  const std::int64_t count = node.shape(0)[static_cast<std::size_t>(*axis)];
  if (count != static_cast<std::int64_t>(node.results.size())) {
    node.fault = "axis " + std::to_string(*axis) + " of its operand has the extent " + std::to_string(count) +
                 ", but it has " + std::to_string(node.results.size()) + " results";
    return;
  }
  std::vector<std::string> parts;
  for (const std::string& result : node.results) parts.push_back(node.to.fresh(result + "/part"));
  node.to.add({.type = "Split",
               .inputs = {node.operands[0], node.to.integers(Extents(parts.size(), 1))},
               .outputs = parts,
               .attributes = {{"axis", *axis}}});
  for (std::size_t at = 0; at < node.results.size(); ++at) {
    node.to.add({.type = "Squeeze", .inputs = {parts[at], node.to.integers({*axis})}, .outputs = {node.results[at]}});
  }
}

// Split has its axis before the operand, and SplitV the sizes of the parts and the axis behind it.
void convert_split(NodeConversion& node) {
  const bool has_sizes = node.node().op() == "SplitV";
  const std::size_t operand = has_sizes ? 0 : 1;
  const Extents& x = node.shape(operand);
  const auto axis = axis_in(node, node.types.number(has_sizes ? 2 : 0), x.size());
  if (!axis) return;
  Extents sizes;
  for (const KnownTensor& part : node.types.outputs) {
    if (!part.extents || static_cast<std::size_t>(*axis) >= part.extents->size()) {
      node.fault = "the sizes of its parts are not known";
      return;
    }
    sizes.push_back((*part.extents)[static_cast<std::size_t>(*axis)]);
  }
  write_parts(node, node.operands[operand], x.size(), *axis, sizes);
}

// Also StridedSlice.
void convert_slice(NodeConversion& node) {
  const std::optional<SlicePlan> plan =
      node.node().op() == "Slice" ? plan_slice(node.types) : plan_strided_slice(node.types);
  if (!plan) {
    node.fault = "what it takes must be constant, and in its operand";
    return;
  }
  if (node.node().op() == "Slice" && node.types.content(1) == nullptr) {
    node.fault = "the begin of the slice must be constant";
    return;
  }
  write_slices(node, *plan);
}

void convert_pad(NodeConversion& node) {
  const std::optional<Extents> pads = pads_of(node);
  if (!pads) return;
  write_pad(node, *pads, node.operands.size() > 2 ? node.operands[2] : "", "constant");
}

void convert_mirror_pad(NodeConversion& node) {
  const std::optional<Extents> pads = pads_of(node);
  if (!pads) return;
  if (node.node().text("mode", "") == "REFLECT") return write_pad(node, *pads, "", "reflect");
  if (node.node().text("mode", "") != "SYMMETRIC") {
    node.fault = "its mode is neither REFLECT nor SYMMETRIC";
    return;
  }
  std::string x = node.operands[0];
  const std::size_t rank = node.shape(0).size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t begin = (*pads)[axis];
    const std::int64_t end = (*pads)[rank + axis];
    if (begin > 0 || end > 0) x = mirrored(node, x, static_cast<std::int64_t>(axis), begin, end);
  }
  node.write("Identity", {x});
}

void convert_tile(NodeConversion& node) {
  const Extents* repeats = node.known(1, "numbers of copies");
  if (repeats != nullptr) node.write("Tile", {node.operands[0], node.to.integers(*repeats)});
}

void convert_reverse(NodeConversion& node) {
  const Extents* axes = node.known(1, "axes");
  if (axes == nullptr) return;
  if (axes->empty()) return node.write("Identity", {node.operands[0]});
  const std::size_t count = axes->size();
  node.write("Slice",
             {node.operands[0], node.to.integers(Extents(count, -1)), node.to.integers(Extents(count, kBehindFirst)),
              node.to.integers(*axes), node.to.integers(Extents(count, -1))});
}

}  // namespace lowtide::graphdef_internal
