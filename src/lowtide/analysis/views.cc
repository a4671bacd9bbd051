// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/views.h"

#include <algorithm>
#include <optional>

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

// Numbers given as an input known before the run, or (in older opsets) as an attribute.
const Numbers* numbers_of(const Graph& graph, const Node& node, std::size_t input, const char* attribute) {
  if (const std::optional<TensorId> tensor = input_at(node, input)) return graph.known_integers(*tensor);
  return find_attribute<Numbers>(node.attributes, attribute);
}

bool is_same_bytes(const Tensor& a, const Tensor& b) {
  return a.size == b.size && bits_of(a.dtype).has_value() && bits_of(a.dtype) == bits_of(b.dtype);
}

// Bytes before element `index`; nothing if that is not a whole byte.
std::optional<Bytes> bytes_before(const Tensor& tensor, std::int64_t index) {
  const std::optional<int> bits = bits_of(tensor.dtype);
  if (!bits) return std::nullopt;
  const std::int64_t at = must_multiply(index, *bits);
  return at % 8 == 0 ? std::optional<Bytes>(Bytes(at / 8)) : std::nullopt;
}

std::int64_t product(const Shape& shape, int begin, int end) {
  std::int64_t result = 1;
  for (int axis = begin; axis < end; ++axis) result = must_multiply(result, shape[axis]);
  return result;
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

struct AxisRange {
  std::int64_t start = 0;
  std::int64_t step = 1;
};

// Start and step of a Slice on every axis, as ONNX clamps them; nothing if they are not known before the run.
std::optional<std::vector<AxisRange>> slice_ranges(const Graph& graph, const Node& node, const Shape& from) {
  const Numbers* starts = numbers_of(graph, node, 1, "starts");
  const Numbers* axes = numbers_of(graph, node, 3, "axes");
  const Numbers* steps = numbers_of(graph, node, 4, "steps");
  const bool has_unknown = (input_at(node, 3) && axes == nullptr) || (input_at(node, 4) && steps == nullptr);
  if (starts == nullptr || has_unknown) return std::nullopt;
  if ((axes != nullptr && axes->size() != starts->size()) || (steps != nullptr && steps->size() != starts->size())) {
    return std::nullopt;
  }
  std::vector<AxisRange> ranges(static_cast<std::size_t>(from.rank()));
  for (std::size_t at = 0; at < starts->size(); ++at) {
    std::int64_t axis = axes != nullptr ? (*axes)[at] : static_cast<std::int64_t>(at);
    if (axis < 0) axis += from.rank();
    if (axis < 0 || axis >= from.rank()) return std::nullopt;
    const std::int64_t extent = from[static_cast<int>(axis)];
    const std::int64_t step = steps != nullptr ? (*steps)[at] : 1;
    std::int64_t start = (*starts)[at];
    if (start < 0) start += extent;
    start = std::clamp<std::int64_t>(start, 0, step < 0 ? std::max<std::int64_t>(extent - 1, 0) : extent);
    ranges[static_cast<std::size_t>(axis)] = {start, step};
  }
  return ranges;
}

// Innermost axis that the part does not cover; -1 if it covers all.
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
  if (graph.tensor(*output).size == Bytes(0)) return {};
  const std::optional<std::vector<AxisRange>> ranges = slice_ranges(graph, node, from);
  if (!ranges) return {};
  const int partial = last_partial_axis(from, part);
  std::int64_t first = 0;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const AxisRange& range = (*ranges)[static_cast<std::size_t>(axis)];
    if (axis < partial && part[axis] != 1) return {};
    if (part[axis] != 1 && range.step != 1) return {};
    if (range.start + part[axis] > from[axis]) return {};
    first = must_add(must_multiply(first, from[axis]), range.start);
  }
  const std::optional<Bytes> offset = bytes_before(graph.tensor(*input), first);
  if (!offset || offset->count() + graph.tensor(*output).size.count() > graph.tensor(*input).size.count()) return {};
  return {{*output, *input, *offset}};
}

// Axis of a Split or Concat, made non-negative; nothing if it is not one of the shape or something varies before it.
bool has_contiguous_parts(const Node& node, const Shape& whole, std::int64_t default_axis) {
  const std::int64_t* attribute = find_attribute<std::int64_t>(node.attributes, "axis");
  std::int64_t axis = attribute != nullptr ? *attribute : default_axis;
  if (axis < 0) axis += whole.rank();
  if (axis < 0 || axis >= whole.rank() || whole.has_upper_bounds()) return false;
  return product(whole, 0, static_cast<int>(axis)) == 1;
}

// Views for tensors that lie one after the other in `whole` and fill it.
std::vector<View> consecutive(const Graph& graph, TensorId whole, const std::vector<std::optional<TensorId>>& parts) {
  std::vector<View> views;
  std::vector<TensorId> seen;
  std::int64_t elements = 0;
  for (const std::optional<TensorId>& part : parts) {
    if (!part || graph.tensor(*part).shape.has_upper_bounds()) return {};
    const std::optional<Bytes> offset = bytes_before(graph.tensor(whole), elements);
    if (!offset || bits_of(graph.tensor(*part).dtype) != bits_of(graph.tensor(whole).dtype)) return {};
    views.push_back({*part, whole, *offset});
    seen.push_back(*part);
    elements = must_add(elements, product(graph.tensor(*part).shape, 0, graph.tensor(*part).shape.rank()));
  }
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) return {};
  const std::optional<Bytes> end = bytes_before(graph.tensor(whole), elements);
  if (!end || *end != graph.tensor(whole).size) return {};
  return views;
}

std::vector<View> split_views(const Graph& graph, const Node& node) {
  const std::optional<TensorId> input = input_at(node, 0);
  if (!input || !has_contiguous_parts(node, graph.tensor(*input).shape, 0)) return {};
  return consecutive(graph, *input, node.outputs);
}

std::vector<View> concat_views(const Graph& graph, const Node& node) {
  const std::optional<TensorId> output = only_output(node);
  // The axis has been mandatory since opset 4; a node without one is no view.
  if (!output || !has_contiguous_parts(node, graph.tensor(*output).shape, graph.tensor(*output).shape.rank()))
    return {};
  return consecutive(graph, *output, node.inputs);
}

}  // namespace

std::vector<View> views_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  switch (graph.op(id).traits.view) {
    case ViewKind::none:
      return {};
    case ViewKind::whole:
    case ViewKind::expand:
      return whole_view(graph, node);
    case ViewKind::slice:
      return slice_view(graph, node);
    case ViewKind::split:
      return split_views(graph, node);
    case ViewKind::concat:
      return concat_views(graph, node);
  }
  return {};
}

}  // namespace lowtide
