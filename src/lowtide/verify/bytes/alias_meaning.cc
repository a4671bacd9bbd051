// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bytes/alias_meaning.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "lowtide/verify/bytes/slice_run.h"

namespace lowtide::verify_internal {
namespace {

AliasMeaning unprovable(std::string why) { return {.obstacle = std::move(why), .parts = {}}; }

const Tensor* tensor_at(const Graph& graph, const std::vector<std::optional<TensorId>>& ids, std::size_t at) {
  return at < ids.size() && ids[at] ? &graph.tensor(*ids[at]) : nullptr;
}

// Returns why a node lacks an input 0 and an output 0 of the same element type, or an empty string if it has both.
std::string check_ends(const Graph& graph, const Node& node) {
  const Tensor* source = tensor_at(graph, node.inputs, 0);
  const Tensor* result = tensor_at(graph, node.outputs, 0);
  if (source == nullptr || result == nullptr) return "it lacks its first input or output";
  if (source->dtype != result->dtype) return "input and output have different element types";
  return {};
}

bool has_more_outputs(const Node& node) {
  return std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                     [](const auto& output) { return output.has_value(); });
}

AliasMeaning whole(const Graph& graph, const Node& node) {
  if (std::string why = check_ends(graph, node); !why.empty()) return unprovable(std::move(why));
  if (has_more_outputs(node)) return unprovable("it has a second output, which must be computed");
  const std::int64_t before = graph.tensor(*node.inputs[0]).size.count();
  const std::int64_t after = graph.tensor(*node.outputs[0]).size.count();
  if (before != after) {
    return unprovable("the input has " + std::to_string(before) + " bytes, the output " + std::to_string(after));
  }
  AliasMeaning meaning;
  if (after > 0) meaning.parts.push_back({0, *node.inputs[0], 0, *node.outputs[0], 0, after});
  return meaning;
}

// Under an upper bound, the input may have fewer elements at run time, which are then repeated.
AliasMeaning expand(const Graph& graph, const Node& node) {
  AliasMeaning meaning = whole(graph, node);
  if (!meaning.obstacle.empty() || meaning.parts.empty()) return meaning;
  const bool is_exact = !graph.tensor(*node.inputs[0]).shape.has_upper_bounds() &&
                        !graph.tensor(*node.outputs[0]).shape.has_upper_bounds();
  return is_exact ? meaning : unprovable("an extent is only an upper bound");
}

bool has_training_mode(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 3 || !node.inputs[2]) return false;
  const std::vector<std::int64_t>* training = graph.known_integers(*node.inputs[2]);
  return training == nullptr || *training != std::vector<std::int64_t>{0};
}

AliasMeaning dropout(const Graph& graph, const Node& node) {
  if (has_training_mode(graph, node)) return unprovable("it may run in training mode");
  return whole(graph, node);
}

// Compares the strides of both tensors, which are dense: each axis that has several elements must have the stride of
// the axis that it comes from. Returns the obstacle, or an empty string.
std::string check_strides(const Shape& from, const Shape& result, const std::vector<std::int64_t>& sources) {
  std::vector<bool> is_free(sources.size(), true);
  for (std::size_t axis = 0; axis < sources.size(); ++axis) {
    if (sources[axis] < 0 || sources[axis] >= from.rank() || !is_free[static_cast<std::size_t>(sources[axis])])
      return "'perm' does not name each axis of its input once";
    is_free[static_cast<std::size_t>(sources[axis])] = false;
    if (result.extents()[axis] != from[static_cast<int>(sources[axis])])
      return "'perm' and the shape of its output disagree";
  }
  const auto stride = [](const Shape& shape, std::size_t axis) {
    std::int64_t elements = 1;  // no overflow: the graph has checked the number of elements
    for (std::size_t inner = axis + 1; inner < shape.extents().size(); ++inner) elements *= shape.extents()[inner];
    return elements;
  };
  for (std::size_t axis = 0; axis < sources.size(); ++axis) {
    const bool has_several = result.extents()[axis] > 1;
    if (has_several && stride(result, axis) != stride(from, static_cast<std::size_t>(sources[axis])))
      return "it moves axes whose extents are not 1";
  }
  return {};
}

AliasMeaning transpose(const Graph& graph, const Node& node) {
  AliasMeaning meaning = whole(graph, node);
  if (!meaning.obstacle.empty() || meaning.parts.empty()) return meaning;  // without elements, nothing moves
  const Shape& from = graph.tensor(*node.inputs[0]).shape;
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  if (from.has_upper_bounds() || result.has_upper_bounds()) return unprovable("an extent is only an upper bound");
  std::vector<std::int64_t> sources(from.extents().size());
  std::iota(sources.rbegin(), sources.rend(), 0);
  if (const auto* perm = find_attribute<std::vector<std::int64_t>>(node.attributes, "perm")) sources = *perm;
  if (from.rank() != result.rank() || sources.size() != from.extents().size())
    return unprovable("input, output and 'perm' have different ranks");
  std::string why = check_strides(from, result, sources);
  return why.empty() ? meaning : unprovable(std::move(why));
}

AliasMeaning slice(const Graph& graph, const Node& node) {
  if (std::string why = check_ends(graph, node); !why.empty()) return unprovable(std::move(why));
  if (has_more_outputs(node)) return unprovable("it has a second output");
  const Tensor& source = graph.tensor(*node.inputs[0]);
  const Tensor& result = graph.tensor(*node.outputs[0]);
  if (source.shape.has_upper_bounds() || result.shape.has_upper_bounds()) {
    return unprovable("an extent is only an upper bound");
  }
  AliasMeaning meaning;
  const SliceRun run = slice_run(graph, node);
  if (!run.obstacle.empty()) return unprovable(run.obstacle);
  if (run.elements == 0) return meaning;
  const std::int64_t bits = bits_of(source.dtype).value_or(0);
  // No overflow: the slice lies inside the tensor, and kMaxTensorBytes limits the bits of a tensor.
  const std::int64_t begin_bits = run.begin * bits;
  const std::int64_t end_bits = begin_bits + run.elements * bits;
  // A result that ends inside a byte may share it only with padding, not with a further element of the source.
  const bool ends_on_byte = end_bits % 8 == 0 || end_bits == element_count(source.shape).value() * bits;
  if (bits == 0 || begin_bits % 8 != 0 || !ends_on_byte)
    return unprovable("the part does not begin and end on whole bytes");
  meaning.parts.push_back({0, *node.inputs[0], begin_bits / 8, *node.outputs[0], 0, result.size.count()});
  return meaning;
}

// Returns why `part` is not a part of `all` along `axis`, or an empty string if it is.
std::string check_piece(const Tensor& all, const Tensor& part, int axis) {
  if (part.dtype != all.dtype) return "the parts have different element types";
  if (part.shape.rank() != all.shape.rank()) return "the parts have different ranks";
  if (part.shape.has_upper_bounds() || all.shape.has_upper_bounds()) return "an extent is only an upper bound";
  for (int at = 0; at < all.shape.rank(); ++at) {
    if (at != axis && part.shape[at] != all.shape[at])
      return "the parts differ in an extent other than that of the axis";
  }
  return {};
}

struct Piece {
  TensorId tensor;
  std::int64_t begin = 0;  // bytes in the whole
};

// Finds where the pieces of a Split or Concat begin in the whole. Returns why they do not lie there one after another,
// or an empty string if they do.
std::string lay_consecutively(const Graph& graph, TensorId whole_id, int axis, std::vector<Piece>& pieces) {
  const Tensor& all = graph.tensor(whole_id);
  std::int64_t extent = 0;
  std::int64_t bytes = 0;
  bool is_interleaved = false;
  for (int at = 0; at < axis; ++at) is_interleaved = is_interleaved || all.shape[at] != 1;
  for (Piece& piece : pieces) {
    const Tensor& part = graph.tensor(piece.tensor);
    if (std::string why = check_piece(all, part, axis); !why.empty()) return why;
    piece.begin = bytes;
    if (part.shape[axis] > all.shape[axis] - extent) return "the parts are longer than the whole along the axis";
    extent += part.shape[axis];
    bytes += part.size.count();
    if (part.shape[axis] == all.shape[axis]) continue;
    if (is_interleaved && part.size.count() > 0) return "an extent before the axis is not 1, so the parts interleave";
    const std::int64_t bits = bits_of(part.dtype).value_or(0) * element_count(part.shape).value();
    if (bits % 8 != 0 && bytes != all.size.count()) return "a part does not end on a whole byte";
  }
  if (extent != all.shape[axis]) return "the parts do not add up to the whole along the axis";
  return {};
}

std::optional<int> axis_of(const Node& node, int rank, std::optional<std::int64_t> preset) {
  const std::int64_t* given = find_attribute<std::int64_t>(node.attributes, "axis");
  if (given == nullptr && !preset) return std::nullopt;
  std::int64_t axis = given != nullptr ? *given : *preset;
  if (axis < -rank || axis >= rank) return std::nullopt;
  if (axis < 0) axis += rank;
  return static_cast<int>(axis);
}

// Whether the sizes in the attribute or the input agree with the shapes of the outputs. The caller uses the shapes.
bool agree_with_shapes(const Graph& graph, const Node& node, int axis) {
  const std::vector<std::int64_t>* sizes = find_attribute<std::vector<std::int64_t>>(node.attributes, "split");
  if (sizes == nullptr && node.inputs.size() > 1 && node.inputs[1]) sizes = graph.known_integers(*node.inputs[1]);
  if (sizes == nullptr) return true;
  if (sizes->size() != node.outputs.size()) return false;
  for (std::size_t at = 0; at < sizes->size(); ++at) {
    if (graph.tensor(*node.outputs[at]).shape[axis] != (*sizes)[at]) return false;
  }
  return true;
}

AliasMeaning split(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || !node.inputs[0]) return unprovable("it lacks its first input");
  const Shape& shape = graph.tensor(*node.inputs[0]).shape;
  const std::optional<int> axis = axis_of(node, shape.rank(), 0);
  if (!axis) return unprovable("its axis is outside the rank of its input");
  std::vector<Piece> pieces;
  for (const std::optional<TensorId>& output : node.outputs) {
    if (!output) return unprovable("an output is missing, so its size is not known");
    pieces.push_back({.tensor = *output});
  }
  if (std::string why = lay_consecutively(graph, *node.inputs[0], *axis, pieces); !why.empty()) return unprovable(why);
  if (!agree_with_shapes(graph, node, *axis)) return unprovable("its sizes and the shapes of its outputs disagree");
  AliasMeaning meaning;
  for (const Piece& piece : pieces) {
    const std::int64_t length = graph.tensor(piece.tensor).size.count();
    if (length > 0) meaning.parts.push_back({0, *node.inputs[0], piece.begin, piece.tensor, 0, length});
  }
  return meaning;
}

AliasMeaning concat(const Graph& graph, const Node& node) {
  if (node.outputs.empty() || !node.outputs[0] || has_more_outputs(node))
    return unprovable("it does not have exactly one output");
  const std::optional<int> axis = axis_of(node, graph.tensor(*node.outputs[0]).shape.rank(), std::nullopt);
  if (!axis) return unprovable("its axis is missing or outside the rank of its output");
  std::vector<Piece> pieces;
  for (const std::optional<TensorId>& input : node.inputs) {
    if (!input) return unprovable("an input is missing");
    pieces.push_back({.tensor = *input});
  }
  if (std::string why = lay_consecutively(graph, *node.outputs[0], *axis, pieces); !why.empty()) return unprovable(why);
  AliasMeaning meaning;
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    const std::int64_t length = graph.tensor(pieces[at].tensor).size.count();
    if (length > 0) meaning.parts.push_back({at, pieces[at].tensor, 0, *node.outputs[0], pieces[at].begin, length});
  }
  return meaning;
}

using Derivation = AliasMeaning (*)(const Graph&, const Node&);

constexpr std::pair<std::string_view, Derivation> kDerivations[] = {
    {"Reshape", whole},       {"Squeeze", whole}, {"Unsqueeze", whole}, {"Flatten", whole},
    {"Identity", whole},      {"Expand", expand}, {"Tile", expand},     {"Dropout", dropout},
    {"Transpose", transpose}, {"Slice", slice},   {"Split", split},     {"Concat", concat},
};

// Operators of other systems whose result is their input: domain and type.
constexpr std::pair<std::string_view, std::string_view> kWholeElsewhere[] = {
    {"caffe2", "Alias"},
    {"tensorflow", "ExpandDims"},
    {"tensorflow", "Identity"},
    {"tensorflow", "PreventGradient"},
    {"tensorflow", "Reshape"},
    {"tensorflow", "Squeeze"},
    {"tensorflow", "StopGradient"},
    {"tflite", "EXPAND_DIMS"},
    {"tflite", "RESHAPE"},
    {"tflite", "SQUEEZE"},
};

}  // namespace

bool may_be_training(const Graph& graph, NodeId id) {
  return graph.op(id).type == "Dropout" && has_training_mode(graph, graph.node(id));
}

AliasMeaning alias_meaning(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  const Node& node = graph.node(id);
  if (!node.bodies.empty()) return unprovable("it runs a body");
  const bool is_standard = op.domain.empty() || op.domain == "ai.onnx";
  for (const auto& [type, derive] : kDerivations) {
    if (is_standard && op.type == type) return derive(graph, node);
  }
  for (const auto& [domain, type] : kWholeElsewhere) {
    if (op.domain == domain && op.type == type) return whole(graph, node);
  }
  return unprovable("its operator is not a view, so its outputs must be computed");
}

}  // namespace lowtide::verify_internal
