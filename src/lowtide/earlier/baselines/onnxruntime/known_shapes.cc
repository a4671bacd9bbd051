// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/known_shapes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace lowtide::baselines_internal {
namespace {

// An operator whose output sizes depend on the content of its inputs from index `first` on.
struct ContentRow {
  std::string_view type;
  std::size_t first;
};

// Sorted by type.
constexpr auto kContentRows = std::to_array<ContentRow>({
    {"Compress", 0},  {"ConstantOfShape", 0}, {"Expand", 1},       {"NonMaxSuppression", 0},
    {"NonZero", 0},   {"OneHot", 1},          {"Pad", 1},          {"Range", 0},
    {"ReduceL1", 1},  {"ReduceL2", 1},        {"ReduceLogSum", 1}, {"ReduceLogSumExp", 1},
    {"ReduceMax", 1}, {"ReduceMean", 1},      {"ReduceMin", 1},    {"ReduceProd", 1},
    {"ReduceSum", 1}, {"ReduceSumSquare", 1}, {"Reshape", 1},      {"Resize", 1},
    {"Slice", 1},     {"Split", 1},           {"Squeeze", 1},      {"Tile", 1},
    {"TopK", 1},      {"Unique", 0},          {"Unsqueeze", 1},    {"Upsample", 1},
});

std::size_t first_content(const Operator& op) {
  if (!op.domain.empty()) return SIZE_MAX;
  const auto* row = std::lower_bound(kContentRows.begin(), kContentRows.end(), op.type,
                                     [](const ContentRow& a, std::string_view type) { return a.type < type; });
  return row != kContentRows.end() && row->type == op.type ? row->first : SIZE_MAX;
}

// Operators whose results a session computes before the run if their inputs are known. Concat is not among them.
constexpr std::array<std::string_view, 7> kDerived = {"Add", "Div", "Gather", "Mul", "Squeeze", "Sub", "Unsqueeze"};

struct Knowledge {
  Flags<TensorId> shape;
  Flags<TensorId> content;
};

bool is_content_known(const Graph& graph, NodeId id, const Knowledge& known) {
  const Operator& op = graph.op(id);
  const auto& reads = graph.reads(id);
  if (!op.domain.empty() || reads.empty()) return false;
  if (op.type == "Shape" || op.type == "Size") return known.shape.test(reads.front());
  return std::find(kDerived.begin(), kDerived.end(), op.type) != kDerived.end() &&
         std::all_of(reads.begin(), reads.end(), [&](TensorId tensor) { return known.content.test(tensor); });
}

bool is_shape_known(const Graph& graph, NodeId id, const Knowledge& known) {
  const Node& node = graph.node(id);
  if (!node.bodies.empty()) return false;
  const std::size_t content = first_content(graph.op(id));
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (!node.inputs[at]) continue;
    const bool is_enough = at < content ? known.shape.test(*node.inputs[at]) : known.content.test(*node.inputs[at]);
    if (!is_enough) return false;
  }
  return true;
}

}  // namespace

Flags<TensorId> known_shapes(const Graph& graph) {
  Knowledge known{.shape = Flags<TensorId>(graph.tensors().size()), .content = Flags<TensorId>(graph.tensors().size())};
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.producer) continue;
    if (!tensor.shape.has_upper_bounds()) known.shape.set(id);
    if (tensor.role == Role::constant) known.content.set(id);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const bool has_content = is_content_known(graph, id, known);
    // The result of a Shape has as many elements as its input has axes, whatever their extents are.
    const bool has_shape = graph.op(id).type == "Shape" || is_shape_known(graph, id, known);
    for (std::optional<TensorId> tensor : graph.node(id).outputs) {
      if (!tensor || graph.tensor(*tensor).shape.has_upper_bounds()) continue;
      if (has_shape) known.shape.set(*tensor);
      if (has_content) known.content.set(*tensor);
    }
  }
  return std::move(known.shape);
}

}  // namespace lowtide::baselines_internal
