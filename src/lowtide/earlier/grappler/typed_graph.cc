// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/typed_graph.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::int64_t kInt32 = 3;
constexpr std::int64_t kMostParts = 65'536;

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, op) != all.end();
}

std::size_t count_outputs(const DefNode& node) {
  if (node.op == "FusedBatchNorm" || node.op == "FusedBatchNormV2" || node.op.starts_with("FusedBatchNormGrad")) {
    return 5;
  }
  if (node.op == "FusedBatchNormV3") return 6;
  if (is_one_of(node.op, {"Switch", "RefSwitch", "Merge", "RefMerge", "TopKV2", "Unique",
                          "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})) {
    return 2;
  }
  if (node.op != "Unpack") return 0;
  const std::vector<std::int64_t> parts = attribute_integers(node, "num");
  return parts.empty() ? 0 : static_cast<std::size_t>(std::clamp<std::int64_t>(parts.front(), 0, kMostParts));
}

// The types of outputs without readers, which the walk over the graph did not need.
void add_unread_outputs(TypedGraph& graph, NodeIndex at) {
  std::vector<OutputType>& outputs = graph.outputs[at];
  const std::size_t count = count_outputs(graph.nodes[at]);
  if (count <= outputs.size()) return;
  const std::size_t known = outputs.size();
  outputs.resize(count);
  const std::string& op = graph.nodes[at].op;
  const CostedNode costed = graph.costed(at);
  for (std::size_t port = known; port < count; ++port) {
    if (op == "Switch" && !costed.inputs.empty()) outputs[port] = *costed.inputs[0];
    if (op.ends_with("CrossEntropyWithLogits") && !costed.inputs.empty()) outputs[port] = *costed.inputs[0];
    if (op == "TopKV2" && known > 0) {
      outputs[port] = {.data_type = kInt32, .element_bytes = 4, .extents = outputs[0].extents};
    }
    if (op.starts_with("FusedBatchNorm") && costed.inputs.size() > 2) {
      const bool is_gradient = op.starts_with("FusedBatchNormGrad");
      outputs[port] = *costed.inputs[is_gradient ? 2 : 1];
      if (port > (is_gradient ? 2U : 4U)) outputs[port].extents = std::vector<std::int64_t>{0};
    }
  }
}

}  // namespace

const OutputType& TypedGraph::type_of(NodeIndex node, std::int64_t port) const {
  static const OutputType unknown;
  const auto at = static_cast<std::size_t>(port);
  return at < outputs[node].size() ? outputs[node][at] : unknown;
}

CostedNode TypedGraph::costed(NodeIndex node) const {
  CostedNode costed{.node = nodes[node], .inputs = {}, .outputs = outputs[node]};
  for (std::size_t input = 0; input < nodes[node].inputs.size(); ++input) {
    const DefInput name = read_input(nodes[node].inputs[input]);
    if (!name.is_control) costed.inputs.push_back(&type_of(links.inputs[node][input], name.port));
  }
  return costed;
}

Result<TypedGraph> type_nodes(const std::vector<DefNode>& nodes, const std::vector<std::string>& unknown) {
  LOWTIDE_TRY(NodeLinks links, link_nodes(nodes));
  LOWTIDE_TRY(std::vector<std::vector<OutputType>> outputs, infer_output_types(with_nodes({}, nodes), unknown));
  TypedGraph graph{.nodes = nodes, .links = std::move(links), .outputs = std::move(outputs)};
  for (NodeIndex at = 0; at < nodes.size(); ++at) add_unread_outputs(graph, at);
  return graph;
}

std::vector<bool> needed_nodes(const TypedGraph& graph, const std::vector<NodeIndex>& from) {
  std::vector<bool> is_needed(graph.nodes.size(), false);
  std::vector<NodeIndex> next = from;
  while (!next.empty()) {
    const NodeIndex at = next.back();
    next.pop_back();
    if (is_needed[at]) continue;
    is_needed[at] = true;
    next.insert(next.end(), graph.links.inputs[at].begin(), graph.links.inputs[at].end());
  }
  return is_needed;
}

bool is_persistent(const DefNode& node) {
  return is_one_of(node.op, {"AutoReloadVariable", "Const", "ReadVariableOp", "VarHandleOp", "Variable", "VariableV2",
                             "_ReadVariablesOp", "_VarHandlesOp"});
}

bool gives_reference(const DefNode& node) {
  return is_one_of(node.op,
                   {"Assign", "AssignAdd", "AssignSub", "RefEnter", "RefExit", "RefIdentity", "RefMerge",
                    "RefNextIteration", "RefSelect", "RefSwitch", "TemporaryVariable", "Variable", "VariableV2"}) ||
         (node.op.starts_with("Scatter") && !node.op.starts_with("ScatterNd")) || node.op.starts_with("Apply");
}

bool takes_reference(const DefNode& node, std::size_t input) {
  if (node.op == "ApplyMomentum" || node.op == "ApplyAdagrad") return input < 2;
  if (node.op == "ApplyAdam" || node.op == "ApplyRMSProp") return input < 3;
  if (input > 0) return false;
  return node.op == "DestroyTemporaryVariable" || node.op == "IsVariableInitialized" || node.op == "CountUpTo" ||
         (gives_reference(node) && node.op != "Variable" && node.op != "VariableV2");
}

}  // namespace lowtide::grappler_internal
