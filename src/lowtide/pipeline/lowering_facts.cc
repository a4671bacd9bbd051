// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/lowering_facts.h"

#include <algorithm>
#include <string_view>

#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"
#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/node_name.h"

namespace lowtide {
namespace {

// "relu", or "Relu that writes y".
std::string name_in_model(const Graph& model, NodeId id) {
  const Node& node = model.node(id);
  if (!node.name.empty()) return node.name;
  const auto written = std::ranges::find_if(node.outputs, [](const auto& output) { return output.has_value(); });
  const std::string op = full_name(model.op(id));
  return written == node.outputs.end() ? op : op + " that writes " + model.tensor(**written).name;
}

LoweringFacts::Rewrite rewrite_of(const Graph& model, const Graph& lowered, NodeId id,
                                  const std::vector<NodeId>& origins) {
  LoweringFacts::Rewrite rewrite{.id = id, .node = node_name(lowered, id), .op = full_name(lowered.op(id)), .from = {}};
  if (has_epilogue(lowered.node(id))) {
    const Result<Graph> program = epilogue_program(lowered, id);
    LOWTIDE_CHECK(program.ok(), "an epilogue that lowering made has a program");
    rewrite.in_epilogue = static_cast<std::int64_t>(program->nodes().size());
  }
  const Operator& first = model.op(origins.front());
  rewrite.has_padding = first.type == "Pad" && (first.domain.empty() || first.domain == "ai.onnx");
  for (NodeId origin : origins) rewrite.from.push_back(name_in_model(model, origin));
  return rewrite;
}

bool has_result_of(const Graph& graph, NodeId id, DType dtype) {
  return std::ranges::any_of(graph.node(id).outputs,
                             [&](const auto& output) { return output && graph.tensor(*output).dtype == dtype; });
}

// Whether lowering added a node of the load-time work.
bool is_added(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool widens = graph.op(id).type == "Cast" && node.outputs[0] &&
                      std::string_view(graph.tensor(*node.outputs[0]).name).ends_with(kWideSuffix);
  return graph.op(id).domain == kOwnDomain || widens;
}

}  // namespace

LoweringFacts compare_lowered(const Graph& model, const Graph& lowered, const Graph& load, const Origins* origins) {
  LoweringFacts facts;
  for (NodeId id : all_ids<NodeId>(load.nodes().size())) facts.at_load += is_added(load, id) ? 0 : 1;
  if (origins == nullptr) return facts;
  Flags<NodeId> runs(model.nodes().size());
  Flags<NodeId> is_wide(model.nodes().size());
  for (NodeId id : all_ids<NodeId>(origins->nodes.size())) {
    for (NodeId origin : origins->nodes[id]) {
      runs.set(origin);
      const bool is_on_f32 = lowered.op(id).type != "Cast" && has_result_of(lowered, id, DType::f32) &&
                             has_result_of(model, origin, DType::f16);
      if (is_on_f32 && is_wide.insert(origin)) ++facts.on_f32;
    }
    const Operator& op = lowered.op(id);
    if (op.domain == kOwnDomain && op.type == kReorderType) {
      ++facts.reorders;
      facts.reordered += lowered.tensor(*lowered.node(id).outputs[0]).size;
    }
    if (origins->nodes[id].size() > 1) facts.rewrites.push_back(rewrite_of(model, lowered, id, origins->nodes[id]));
  }
  for (NodeId id : all_ids<NodeId>(model.nodes().size())) facts.left_out += runs.test(id) ? 0 : 1;
  facts.left_out = std::max<std::int64_t>(facts.left_out - facts.at_load, 0);
  return facts;
}

}  // namespace lowtide
