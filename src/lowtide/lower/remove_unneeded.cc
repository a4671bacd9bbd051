// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/remove_unneeded.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/lower/inference_form.h"
#include "lowtide/lower/with_bodies.h"

namespace lowtide {
namespace {

bool is_standard(const Operator& op) { return op.domain.empty() || op.domain == "ai.onnx"; }

// Whether nothing needs the outputs after the first one.
bool has_one_result(const Graph& graph, const Node& node) {
  for (std::size_t at = 1; at < node.outputs.size(); ++at) {
    const std::optional<TensorId>& output = node.outputs[at];
    if (output && (!graph.readers(*output).empty() || graph.is_needed_at_end(*output))) return false;
  }
  return true;
}

// Whether a Dropout has a constant ratio of 0. A ratio has one element, whose bytes are then 0 in every type.
bool has_no_ratio(const Graph& graph, const Node& node, const ConstantTable* table) {
  if (table == nullptr || node.inputs.size() < 2 || !node.inputs[1]) return false;
  const std::optional<ConstantId>& constant = graph.tensor(*node.inputs[1]).constant;
  if (!constant || !table->sources.contains(*constant)) return false;
  const auto* content = std::get_if<ConstantSource::Inline>(&table->sources[*constant].where);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  return content != nullptr && !content->bytes.empty() && std::ranges::all_of(content->bytes, is_zero);
}

bool is_copy(const Graph& graph, NodeId id, const ConstantTable* table) {
  const Node& node = graph.node(id);
  const Operator& op = graph.op(id);
  if (!is_standard(op) || node.inputs.empty() || !node.inputs[0] || node.outputs.empty() || !node.outputs[0])
    return false;
  if (op.type != "Identity" && op.type != "Cast" && op.type != "Dropout") return false;
  const Tensor& from = graph.tensor(*node.inputs[0]);
  const Tensor& to = graph.tensor(*node.outputs[0]);
  return from.dtype == to.dtype && from.shape == to.shape && !graph.is_needed_at_end(*node.outputs[0]) &&
         has_one_result(graph, node) &&
         (lower_internal::is_in_inference_form(graph, id) ||
          (op.type == "Dropout" && has_no_ratio(graph, node, table)));
}

}  // namespace

Result<Rewritten> remove_unneeded(const Graph& graph, const ConstantTable* table) {
  GraphRewriter rewriter(graph);
  IdVector<TensorId, TensorId> content(graph.tensors().size());  // the tensor that has the content, before any copy
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) content[id] = id;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (!is_copy(graph, id, table)) continue;
    const TensorId result = *graph.node(id).outputs[0];
    content[result] = content[*graph.node(id).inputs[0]];
    rewriter.replace_uses(result, content[result]);
    rewriter.remove_node(id);
  }
  rewriter.remove_unused();
  return lower_internal::finish_with_bodies(graph, std::move(rewriter),
                                            [&](const Graph& body) { return remove_unneeded(body, table); });
}

}  // namespace lowtide
