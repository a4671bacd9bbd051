// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/views.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace lowtide {
namespace {

using Numbers = std::vector<std::int64_t>;

std::optional<TensorId> input_at(const Node& node, std::size_t position) {
  return position < node.inputs.size() ? node.inputs[position] : std::nullopt;
}

std::optional<TensorId> only_output(const Node& node) {
  if (node.outputs.empty() || !node.outputs[0]) return std::nullopt;
  const bool others =
      std::any_of(node.outputs.begin() + 1, node.outputs.end(), [](const auto& output) { return output.has_value(); });
  return others ? std::nullopt : node.outputs[0];
}

// Numbers of a Slice: inputs that are known before the run, or attributes in older opsets, where a node has one input.
const Numbers* numbers_of(const Graph& graph, const Node& node, std::size_t input, const char* attribute) {
  if (node.inputs.size() == 1) return find_attribute<Numbers>(node.attributes, attribute);
  const std::optional<TensorId> tensor = input_at(node, input);
  return tensor ? graph.known_integers(*tensor) : nullptr;
}

bool is_same_bytes(const Tensor& a, const Tensor& b) {
  return a.size == b.size && bits_of(a.dtype).has_value() && a.dtype == b.dtype;
}

// Returns the bytes before element `index`, or nullopt if it does not start on a whole byte.
std::optional<Bytes> bytes_before(const Tensor& tensor, std::int64_t index) {
  const std::optional<int> bits = bits_of(tensor.dtype);
  if (!bits) return std::nullopt;
  const std::int64_t at = must_multiply(index, *bits);
  return at % 8 == 0 ? std::optional<Bytes>(Bytes(at / 8)) : std::nullopt;
}

bool is_inference_dropout(const Graph& graph, const Node& node) {
  if (graph.operators()[node.op].type != "Dropout") return true;
  const std::optional<TensorId> training_mode = input_at(node, 2);
  if (!training_mode) return true;
  const Numbers* mode = graph.known_integers(*training_mode);
  return mode != nullptr && mode->size() == 1 && (*mode)[0] == 0;
}

std::vector<View> whole_view(const Graph& graph, const Node& node) {
  const std::optional<TensorId> input = input_at(node, 0);
  const std::optional<TensorId> output = only_output(node);
  if (!input || !output || !is_same_bytes(graph.tensor(*input), graph.tensor(*output))) return {};
  if (!is_inference_dropout(graph, node)) return {};
  return {{*output, *input, Bytes(0)}};
}

// Whether a Transpose leaves all elements where they are, because it moves only axes of extent 1.
bool moves_no_element(const Graph& graph, const Node& node) {
  const Shape& from = graph.tensor(*node.inputs[0]).shape;
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  if (from.rank() != result.rank() || from.has_upper_bounds() || result.has_upper_bounds()) return false;
  const Numbers* perm = find_attribute<Numbers>(node.attributes, "perm");
  if (perm != nullptr && std::cmp_not_equal(perm->size(), from.rank())) return false;
  std::vector<bool> is_named(static_cast<std::size_t>(from.rank()), false);
  std::int64_t last = -1;  // the source of the last axis whose extent is not 1
  for (int axis = 0; axis < from.rank(); ++axis) {
    const std::int64_t source = perm != nullptr ? (*perm)[static_cast<std::size_t>(axis)] : from.rank() - 1 - axis;
    if (source < 0 || source >= from.rank() || is_named[static_cast<std::size_t>(source)]) return false;
    is_named[static_cast<std::size_t>(source)] = true;
    if (result[axis] != from[static_cast<int>(source)]) return false;
    if (result[axis] == 1) continue;
    if (source < last) return false;
    last = source;
  }
  return true;
}

// An Expand or Tile repeats nothing if input and result have equally many elements. Under an upper bound, the input may
// have fewer elements at run time than the result, even if both bounds are equal.
std::vector<View> expand_view(const Graph& graph, const Node& node) {
  std::vector<View> views = whole_view(graph, node);
  if (views.empty()) return views;
  const bool has_upper_bounds =
      graph.tensor(*node.inputs[0]).shape.has_upper_bounds() || graph.tensor(*node.outputs[0]).shape.has_upper_bounds();
  return has_upper_bounds ? std::vector<View>() : views;
}

std::vector<View> transpose_view(const Graph& graph, const Node& node) {
  std::vector<View> views = whole_view(graph, node);
  return views.empty() || moves_no_element(graph, node) ? views : std::vector<View>();
}

struct AxisRange {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

// What a Slice takes of one axis, with the clamping and the counting from the end that ONNX defines.
AxisRange range_of(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t lowest = step < 0 ? -1 : 0;  // the lowest end; a negative step may end before element 0
  const std::int64_t highest = step < 0 ? extent - 1 : extent;
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  start = std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(highest, 0));
  end = std::clamp<std::int64_t>(end, lowest, std::max(highest, lowest));
  const bool is_empty = extent == 0 || (step > 0 ? end <= start : end >= start);
  // The distance and the step have the same sign. Neither is negated, because the lowest integer has no opposite.
  return {start, step, is_empty ? 0 : (end - start - (step > 0 ? 1 : -1)) / step + 1};
}

// Returns the range of each axis, or nullopt if one is unknown before the run or an axis is given twice.
std::optional<std::vector<AxisRange>> slice_ranges(const Graph& graph, const Node& node, const Shape& from) {
  const Numbers* starts = numbers_of(graph, node, 1, "starts");
  const Numbers* ends = numbers_of(graph, node, 2, "ends");
  const Numbers* axes = numbers_of(graph, node, 3, "axes");
  const Numbers* steps =
      node.inputs.size() == 1 ? nullptr : numbers_of(graph, node, 4, "steps");  // opsets with attributes have no steps
  const bool has_unknown = (input_at(node, 3) && axes == nullptr) || (input_at(node, 4) && steps == nullptr);
  if (starts == nullptr || ends == nullptr || has_unknown) return std::nullopt;
  if (ends->size() != starts->size() || (axes != nullptr && axes->size() != starts->size()) ||
      (steps != nullptr && steps->size() != starts->size())) {
    return std::nullopt;
  }
  std::vector<AxisRange> ranges;
  for (std::int64_t extent : from.extents()) ranges.push_back({0, 1, extent});
  std::vector<bool> is_given(ranges.size(), false);
  for (std::size_t at = 0; at < starts->size(); ++at) {
    std::int64_t axis = axes != nullptr ? (*axes)[at] : static_cast<std::int64_t>(at);
    if (axis < 0) axis += from.rank();
    if (axis < 0 || axis >= from.rank()) return std::nullopt;
    const auto index = static_cast<std::size_t>(axis);
    const std::int64_t step = steps != nullptr ? (*steps)[at] : 1;
    if (step == 0 || is_given[index]) return std::nullopt;
    is_given[index] = true;
    ranges[index] = range_of(from.extents()[index], (*starts)[at], (*ends)[at], step);
  }
  return ranges;
}

// Returns the innermost axis that the part does not cover entirely, or -1 if it covers all of them.
int last_partial_axis(const Shape& from, const Shape& part) {
  int axis = from.rank() - 1;
  while (axis >= 0 && from[axis] == part[axis]) --axis;
  return axis;
}

std::vector<View> slice_view(const Graph& graph, const Node& node) {
  const std::optional<TensorId> input = input_at(node, 0);
  const std::optional<TensorId> output = only_output(node);
  if (!input || !output) return {};
  const Shape& from = graph.tensor(*input).shape;
  const Shape& part = graph.tensor(*output).shape;
  if (from.rank() != part.rank() || from.has_upper_bounds() || part.has_upper_bounds()) return {};
  if (graph.tensor(*output).size == Bytes(0) || graph.tensor(*input).dtype != graph.tensor(*output).dtype) return {};
  const std::optional<std::vector<AxisRange>> ranges = slice_ranges(graph, node, from);
  if (!ranges) return {};
  const int partial = last_partial_axis(from, part);
  std::int64_t first = 0;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const AxisRange& range = (*ranges)[static_cast<std::size_t>(axis)];
    if (axis < partial && part[axis] != 1) return {};
    if (part[axis] != 1 && range.step != 1) return {};
    if (range.count != part[axis]) return {};
    first = must_add(must_multiply(first, from[axis]), range.start);
  }
  const std::int64_t end = must_add(first, element_count(part).value());
  const bool ends_whole = end == element_count(from).value() || bytes_before(graph.tensor(*input), end).has_value();
  const std::optional<Bytes> offset = bytes_before(graph.tensor(*input), first);
  if (!offset || !ends_whole) return {};
  return {{*output, *input, *offset}};
}

// Returns the axis of a Split or Concat, or nullopt if the shape has no such axis or has upper bounds.
std::optional<int> exact_axis(const Node& node, const Shape& whole, std::int64_t default_axis) {
  const std::int64_t* attribute = find_attribute<std::int64_t>(node.attributes, "axis");
  std::int64_t axis = attribute != nullptr ? *attribute : default_axis;
  if (axis < 0) axis += whole.rank();
  if (axis < 0 || axis >= whole.rank() || whole.has_upper_bounds()) return std::nullopt;
  return static_cast<int>(axis);
}

// Whether the part may be a part of the whole along the axis: both have the same type and exact extents that agree on
// all other axes.
bool is_piece(const Tensor& part, const Tensor& whole, int axis) {
  if (part.dtype != whole.dtype || part.shape.has_upper_bounds() || part.shape.rank() != whole.shape.rank())
    return false;
  for (int at = 0; at < whole.shape.rank(); ++at) {
    if (at != axis && part.shape[at] != whole.shape[at]) return false;
  }
  return true;
}

// Whether the elements of the part are consecutive in the whole: the part is empty or all of the whole, or every axis
// before the given one has extent 1.
bool is_contiguous(const Tensor& part, const Tensor& whole, int axis) {
  const auto leading = whole.shape.extents().begin();
  return part.size == Bytes(0) || part.shape[axis] == whole.shape[axis] ||
         std::all_of(leading, leading + axis, [](std::int64_t extent) { return extent == 1; });
}

// Returns the views of tensors that are consecutive in `whole` and fill it.
std::vector<View> consecutive(const Graph& graph, TensorId whole_id, int axis,
                              const std::vector<std::optional<TensorId>>& parts) {
  const Tensor& whole = graph.tensor(whole_id);
  std::vector<View> views;
  std::int64_t elements = 0;
  std::int64_t extent = 0;
  for (const std::optional<TensorId>& id : parts) {
    if (!id) return {};
    const Tensor& part = graph.tensor(*id);
    if (!is_piece(part, whole, axis) || !is_contiguous(part, whole, axis)) return {};
    if (part.shape[axis] > whole.shape[axis] - extent) return {};
    std::optional<Bytes> offset = bytes_before(whole, elements);
    // An empty part has no first byte, so it may follow a last element that ends inside a byte.
    if (!offset && part.size == Bytes(0)) offset = whole.size;
    if (!offset) return {};
    views.push_back({*id, whole_id, *offset});
    elements += element_count(part.shape).value();
    extent += part.shape[axis];
  }
  return extent == whole.shape[axis] ? views : std::vector<View>();
}

// Whether the lengths that are given to a Split, if they are known, match its outputs.
bool has_stated_lengths(const Graph& graph, const Node& node, int axis) {
  const Numbers* lengths = find_attribute<Numbers>(node.attributes, "split");
  const std::optional<TensorId> input = input_at(node, 1);
  if (lengths == nullptr && input) lengths = graph.known_integers(*input);
  if (lengths == nullptr) return true;
  return std::equal(
      lengths->begin(), lengths->end(), node.outputs.begin(), node.outputs.end(),
      [&](std::int64_t length, const auto& output) { return graph.tensor(*output).shape[axis] == length; });
}

std::vector<View> split_views(const Graph& graph, const Node& node) {
  const std::optional<TensorId> input = input_at(node, 0);
  const std::optional<int> axis = input ? exact_axis(node, graph.tensor(*input).shape, 0) : std::nullopt;
  if (!axis) return {};
  std::vector<View> views = consecutive(graph, *input, *axis, node.outputs);
  return views.empty() || has_stated_lengths(graph, node, *axis) ? views : std::vector<View>();
}

std::vector<View> concat_views(const Graph& graph, const Node& node) {
  const std::optional<TensorId> output = only_output(node);
  if (!output) return {};
  // The axis has been mandatory since opset 4; a node without one has no views.
  const Shape& whole = graph.tensor(*output).shape;
  const std::optional<int> axis = exact_axis(node, whole, whole.rank());
  return axis ? consecutive(graph, *output, *axis, node.inputs) : std::vector<View>();
}

}  // namespace

std::vector<View> views_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.bodies.empty()) return {};  // it runs its bodies
  switch (graph.op(id).traits.view) {
    case ViewKind::none: return {};
    case ViewKind::whole: return whole_view(graph, node);
    case ViewKind::expand: return expand_view(graph, node);
    case ViewKind::transpose: return transpose_view(graph, node);
    case ViewKind::slice: return slice_view(graph, node);
    case ViewKind::split: return split_views(graph, node);
    case ViewKind::concat: return concat_views(graph, node);
  }
  return {};
}

}  // namespace lowtide
