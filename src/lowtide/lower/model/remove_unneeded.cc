// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/remove_unneeded.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/graph/standard_operator.h"
#include "lowtide/lower/common/bodies.h"
#include "lowtide/lower/common/inference_form.h"

namespace lowtide {
namespace {

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

// Whether an operand of integers has this content in all elements, or is omitted.
bool are_all(const Graph& graph, const Node& node, std::size_t operand, std::int64_t value) {
  if (operand >= node.inputs.size() || !node.inputs[operand]) return true;
  const std::vector<std::int64_t>* known = graph.known_integers(*node.inputs[operand]);
  return known != nullptr && std::ranges::all_of(*known, [&](std::int64_t one) { return one == value; });
}

// Whether the content of an operand of integers is known, or it is omitted.
bool is_known(const Graph& graph, const Node& node, std::size_t operand) {
  const bool is_omitted = operand >= node.inputs.size() || !node.inputs[operand];
  return is_omitted || graph.known_integers(*node.inputs[operand]) != nullptr;
}

// Whether an operator that moves elements leaves all of them where they are, given that its result has the extents of
// its operand. If these followed from a declaration of the file alone, a run could give others.
bool keeps_places(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string& type = graph.op(id).type;
  if (graph.tensor(*node.inputs[0]).shape.has_upper_bounds()) return false;
  if (type == "Expand" || type == "Tile") return is_known(graph, node, 1);
  if (type == "Concat") return node.inputs.size() == 1;
  // With equal extents and steps of 1, it begins at the first element.
  if (type == "Slice") {
    return is_known(graph, node, 1) && is_known(graph, node, 2) && is_known(graph, node, 3) &&
           are_all(graph, node, 4, 1);
  }
  if (type != "Pad") return false;
  const auto* pads = find_attribute<std::vector<std::int64_t>>(node.attributes, "pads");
  const bool is_operand = node.inputs.size() > 1 && node.inputs[1];
  return is_operand ? are_all(graph, node, 1, 0)
                    : pads != nullptr && std::ranges::all_of(*pads, [](std::int64_t pad) { return pad == 0; });
}

bool is_copy(const Graph& graph, NodeId id, const ConstantTable* table) {
  const Node& node = graph.node(id);
  const Operator& op = graph.op(id);
  if (!is_standard(op) || node.inputs.empty() || !node.inputs[0] || node.outputs.empty() || !node.outputs[0])
    return false;
  const Tensor& from = graph.tensor(*node.inputs[0]);
  const Tensor& to = graph.tensor(*node.outputs[0]);
  if (from.dtype != to.dtype || from.shape != to.shape || graph.is_needed_at_end(*node.outputs[0])) return false;
  if (!has_one_result(graph, node)) return false;
  if (op.type == "Identity" || op.type == "Cast") return true;
  if (op.type != "Dropout") return keeps_places(graph, id);
  return lower_internal::is_in_inference_form(graph, id) || has_no_ratio(graph, node, table);
}

}  // namespace

Result<std::optional<Rewritten>> remove_unneeded(const Graph& graph, const ConstantTable* table) {
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
