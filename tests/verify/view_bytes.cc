// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/view_bytes.h"

#include <algorithm>
#include <string>

namespace lowtide::testing {
namespace {

using Index = std::vector<std::int64_t>;

struct ElementSource {
  TensorId tensor;
  std::int64_t element = 0;
  std::size_t operand = 0;
};

std::int64_t axis_of(const Node& node, int rank, std::int64_t preset) {
  const auto* given = find_attribute<std::int64_t>(node.attributes, "axis");
  const std::int64_t axis = given != nullptr ? *given : preset;
  return axis < 0 ? axis + rank : axis;
}

// Content of optional input `at`, or of attribute `name` where the node has one input.
std::optional<Index> bound(const Graph& graph, const Node& node, std::size_t at, const char* name) {
  const Index* found = nullptr;
  if (node.inputs.size() == 1) {
    found = find_attribute<Index>(node.attributes, name);
  } else if (at < node.inputs.size() && node.inputs[at]) {
    found = graph.known_integers(*node.inputs[at]);
  }
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

// Which index of an axis of `extent` elements a Slice picks k-th; -1 if there is none. Counts one by one.
std::int64_t picked(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t k) {
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  start = std::max<std::int64_t>(0, std::min(start, step > 0 ? extent : extent - 1));
  end = std::max<std::int64_t>(step > 0 ? 0 : -1, std::min(end, extent));
  for (std::int64_t at = start; step > 0 ? at < end : at > end; at += step) {
    if (k-- == 0) return at;
  }
  return -1;
}

std::optional<ElementSource> slice_source(const Graph& graph, const Node& node, Index index) {
  const Shape& shape = graph.tensor(*node.inputs[0]).shape;
  const auto starts = bound(graph, node, 1, "starts");
  const auto ends = bound(graph, node, 2, "ends");
  const auto axes = bound(graph, node, 3, "axes");
  const auto steps = node.inputs.size() > 1 ? bound(graph, node, 4, "steps") : std::nullopt;
  if (!starts || !ends) return std::nullopt;
  for (std::size_t at = 0; at < starts->size(); ++at) {
    std::int64_t axis = axes ? (*axes)[at] : static_cast<std::int64_t>(at);
    if (axis < 0) axis += shape.rank();
    std::int64_t& position = index[static_cast<std::size_t>(axis)];
    position = picked(shape[static_cast<int>(axis)], (*starts)[at], (*ends)[at], steps ? (*steps)[at] : 1, position);
    if (position < 0) return std::nullopt;
  }
  return ElementSource{*node.inputs[0], join_index(shape, index)};
}

std::optional<ElementSource> split_source(const Graph& graph, const Node& node, std::size_t output, Index index) {
  const Shape& shape = graph.tensor(*node.inputs[0]).shape;
  const auto axis = static_cast<std::size_t>(axis_of(node, shape.rank(), 0));
  for (std::size_t at = 0; at < output; ++at) {
    index[axis] += graph.tensor(*node.outputs[at]).shape.extents()[axis];
  }
  return ElementSource{*node.inputs[0], join_index(shape, index)};
}

std::optional<ElementSource> concat_source(const Graph& graph, const Node& node, const Shape& result, Index index) {
  const auto axis = static_cast<std::size_t>(axis_of(node, result.rank(), 0));
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    const Shape& shape = graph.tensor(*node.inputs[at]).shape;
    if (index[axis] < shape.extents()[axis]) return ElementSource{*node.inputs[at], join_index(shape, index), at};
    index[axis] -= shape.extents()[axis];
  }
  return std::nullopt;
}

std::optional<ElementSource> tile_source(const Graph& graph, const Node& node, Index index) {
  const Shape& shape = graph.tensor(*node.inputs[0]).shape;
  for (int axis = 0; axis < shape.rank(); ++axis) index[static_cast<std::size_t>(axis)] %= shape[axis];
  return ElementSource{*node.inputs[0], join_index(shape, index)};
}

std::optional<ElementSource> transpose_source(const Graph& graph, const Node& node, const Index& index) {
  Index source(index.size(), 0);
  const auto* perm = find_attribute<Index>(node.attributes, "perm");
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    source[perm != nullptr ? static_cast<std::size_t>((*perm)[axis]) : index.size() - 1 - axis] = index[axis];
  }
  return ElementSource{*node.inputs[0], join_index(graph.tensor(*node.inputs[0]).shape, source)};
}

bool is_dropout_in_training(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 3 || !node.inputs[2]) return false;
  const Index* training = graph.known_integers(*node.inputs[2]);
  return training == nullptr || *training != Index{0};
}

// Whether element k of the result is element k of the input, however many elements there are.
bool keeps_order(const std::string& type) {
  const auto same = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Dropout"};
  return std::find(same.begin(), same.end(), type) != same.end();
}

bool has_upper_bounds(const Graph& graph, const std::vector<std::optional<TensorId>>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const auto& id) { return id && graph.tensor(*id).shape.has_upper_bounds(); });
}

std::optional<ElementSource> source_of(const Graph& graph, NodeId id, std::size_t output, std::int64_t element) {
  const Node& node = graph.node(id);
  const std::string& type = graph.op(id).type;
  const Shape& result = graph.tensor(*node.outputs[output]).shape;
  if (type == "Split") return split_source(graph, node, output, split_index(result, element));
  if (output > 0) return std::nullopt;
  if (type == "Slice") return slice_source(graph, node, split_index(result, element));
  if (type == "Concat") return concat_source(graph, node, result, split_index(result, element));
  if (type == "Tile") return tile_source(graph, node, split_index(result, element));
  if (type == "Transpose") return transpose_source(graph, node, split_index(result, element));
  if (type == "Expand") {
    return ElementSource{*node.inputs[0], broadcast_source(graph.tensor(*node.inputs[0]).shape, result, element)};
  }
  if (type == "Dropout" && is_dropout_in_training(graph, node)) return std::nullopt;
  return keeps_order(type) ? std::optional(ElementSource{*node.inputs[0], element}) : std::nullopt;
}

bool is_view(const Graph& graph, NodeId id, std::size_t output) {
  for (const char* type : {"Split", "Slice", "Concat", "Tile", "Expand", "Transpose", "Reshape", "Squeeze", "Unsqueeze",
                           "Flatten", "Identity", "Dropout"}) {
    if (graph.op(id).type == type) return output == 0 || std::string(type) == "Split";
  }
  return false;
}

}  // namespace

std::vector<std::int64_t> split_index(const Shape& shape, std::int64_t element) {
  Index index(static_cast<std::size_t>(shape.rank()), 0);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<std::size_t>(axis)] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

std::int64_t join_index(const Shape& shape, const Index& index) {
  std::int64_t element = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    element = element * shape[axis] + index[static_cast<std::size_t>(axis)];
  return element;
}

std::int64_t broadcast_source(const Shape& from, const Shape& to, std::int64_t element) {
  const Index index = split_index(to, element);
  Index source(static_cast<std::size_t>(from.rank()), 0);
  for (int axis = 0; axis < from.rank(); ++axis) {
    const int in_result = axis + to.rank() - from.rank();
    if (from[axis] != 1) source[static_cast<std::size_t>(axis)] = index[static_cast<std::size_t>(in_result)];
  }
  return join_index(from, source);
}

bool gives_the_same_again(const Graph& graph, NodeId id) {
  const std::string& type = graph.op(id).type;
  if (type == "Dropout") return !is_dropout_in_training(graph, graph.node(id));
  for (const char* same : {"Abs",     "Add", "Cast",  "Concat", "Expand",    "Flatten",  "Gemm",  "Identity",
                           "Mul",     "Neg", "PRelu", "Relu",   "Reshape",   "Sigmoid",  "Slice", "Split",
                           "Squeeze", "Sub", "Sum",   "Tile",   "Transpose", "Unsqueeze"}) {
    if (type == same) return true;
  }
  return false;
}

std::int64_t bytes_of_element(const Tensor& tensor) { return *bits_of(tensor.dtype) / 8; }

std::optional<std::vector<ByteSource>> view_bytes(const Graph& graph, NodeId id, std::size_t at) {
  if (!is_view(graph, id, at) || !graph.node(id).outputs[at]) return std::nullopt;
  const Node& node = graph.node(id);
  const bool is_exact = !has_upper_bounds(graph, node.inputs) && !has_upper_bounds(graph, node.outputs);
  if (!is_exact && !keeps_order(graph.op(id).type)) return std::nullopt;
  const Tensor& result = graph.tensor(*node.outputs[at]);
  const std::int64_t width = bytes_of_element(result);
  if (is_dropout_in_training(graph, node) && graph.op(id).type == "Dropout") return std::nullopt;
  std::vector<ByteSource> bytes;
  for (std::int64_t element = 0; element < result.size.count() / width; ++element) {
    const std::optional<ElementSource> source = source_of(graph, id, at, element);
    if (!source || graph.tensor(source->tensor).dtype != result.dtype) return std::nullopt;
    for (std::int64_t byte = 0; byte < width; ++byte) {
      bytes.push_back({source->tensor, source->element * width + byte, source->operand});
    }
  }
  return bytes;
}

}  // namespace lowtide::testing
