// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/budgets/apply_hints.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace lowtide::pipeline_internal {
namespace {

bool reads(const BudgetNode& node, NodeId read) {
  return std::find(node.reads.begin(), node.reads.end(), read) != node.reads.end();
}

std::optional<NodeId> node_with(const RunModel& model, NodeId of_graph) {
  for (NodeId id : all_ids<NodeId>(model.node_of.size())) {
    if (model.node_of[id] == of_graph) return id;
  }
  return std::nullopt;
}

// Positions in the order at which the output of a node is read; the end of the order if it is kept to the end.
std::vector<std::size_t> uses_of(const RunModel& model, NodeId id) {
  std::vector<std::size_t> uses;
  for (std::size_t at = 0; at < model.order.size(); ++at) {
    if (reads(model.problem.nodes[model.order[at]], id)) uses.push_back(at);
  }
  if (model.problem.nodes[id].is_output) uses.push_back(model.order.size());
  return uses;
}

void read_stand_in(BudgetNode& reader, NodeId old, NodeId stand_in) {
  std::vector<NodeId> changed(reader.reads.begin(), reader.reads.end());
  std::replace(changed.begin(), changed.end(), old, stand_in);
  std::sort(changed.begin(), changed.end());
  reader.reads = CompactVector<NodeId>(changed.data(), changed.data() + changed.size());
}

void add_stand_in(RunModel& model, NodeId id) {
  IdVector<NodeId, BudgetNode>& nodes = model.problem.nodes;
  const std::vector<std::size_t> uses = uses_of(model, id);
  if (nodes[id].runs_once || uses.size() < 2) return;
  std::size_t first = 1;  // use of the stand-in
  for (std::size_t at = 1; at < uses.size(); ++at) {
    if (uses[at] - uses[at - 1] > uses[first] - uses[first - 1]) first = at;
  }
  const NodeId stand_in = nodes.push_back(BudgetNode(nodes[id]));
  model.node_of.push_back(NodeId(model.node_of[id]));
  for (std::size_t at = first; at < uses.size(); ++at) {
    if (uses[at] < model.order.size()) read_stand_in(nodes[model.order[uses[at]]], id, stand_in);
  }
  nodes[id].is_output = false;
  model.order.insert(model.order.begin() + static_cast<std::ptrdiff_t>(uses[first]), stand_in);
}

}  // namespace

void apply_hints(RunModel& model, const std::vector<NodeHint>& hints) {
  for (const NodeHint& hint : hints) {
    const std::optional<NodeId> node = node_with(model, hint.node);
    if (!node) continue;
    if (hint.kind == HintKind::recompute) {
      add_stand_in(model, *node);
    } else {
      model.problem.nodes[*node].runs_once = true;
      model.problem.nodes[*node].seed = {};  // it is for a second run
    }
  }
}

}  // namespace lowtide::pipeline_internal
