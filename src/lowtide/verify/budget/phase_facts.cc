// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/budget/phase_facts.h"

#include <algorithm>

namespace lowtide::verify_internal {
namespace {

constexpr std::size_t kMostMilestones = 64;

// All nodes that `next` leads to from `start`, without the start.
Flags<NodeId> reached(const IdVector<NodeId, std::vector<NodeId>>& next, NodeId start) {
  Flags<NodeId> found(next.size());
  std::vector<NodeId> open = {start};
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    for (NodeId other : next[node]) {
      if (found.insert(other)) open.push_back(other);
    }
  }
  return found;
}

}  // namespace

PhaseFacts::PhaseFacts(const BudgetProblem& problem, const std::vector<NodeId>& milestones)
    : problem_(problem), milestones_(milestones) {
  if (milestones.empty() || milestones.size() > kMostMilestones) {
    fault_ = "the proof has " + std::to_string(milestones.size()) + " milestones, not 1 to 64";
    return;
  }
  IdVector<NodeId, std::vector<NodeId>> inputs(problem.nodes.size());
  IdVector<NodeId, std::vector<NodeId>> readers(problem.nodes.size());
  for (NodeId node : all_ids<NodeId>(problem.nodes.size())) {
    for (NodeId input : problem.nodes[node].reads) {
      inputs[node].push_back(input);
      readers[input].push_back(node);
    }
  }
  for (std::size_t at = 0; at < milestones.size(); ++at) {
    if (!problem.nodes.contains(milestones[at])) {
      fault_ = "milestone " + std::to_string(at) + " is a node that does not exist";
      return;
    }
    before_.push_back(reached(inputs, milestones[at]));
    after_.push_back(reached(readers, milestones[at]));
    if (at > 0 && !before_[at].test(milestones[at - 1])) {
      fault_ = "milestone " + std::to_string(at - 1) + " need not run before the next one";
      return;
    }
  }
}

bool PhaseFacts::has(const PhaseVariable& variable) const {
  return variable.phase < phases() && problem_.nodes.contains(variable.node) &&
         before_[variable.phase].test(variable.node);
}

bool PhaseFacts::reads(NodeId reader, NodeId node) const {
  if (!problem_.nodes.contains(reader)) return false;
  const auto& all = problem_.nodes[reader].reads;
  return std::find(all.begin(), all.end(), node) != all.end();
}

std::size_t PhaseFacts::last_phase_of(NodeId node, std::size_t phase) const {
  for (std::size_t next = phase + 1; next < phases(); ++next) {
    if (milestones_[next] == node || before_[next].test(node)) return next - 1;
  }
  return phases() - 1;
}

PhaseInequality PhaseFacts::memory(std::uint32_t phase) const {
  PhaseInequality result;
  for (NodeId node : all_ids<NodeId>(problem_.nodes.size())) {
    if (!before_[phase].test(node)) continue;
    result.terms.push_back({{.phase = phase, .is_rerun = false, .node = node}, -problem_.nodes[node].size.count()});
  }
  const BudgetNode& milestone = problem_.nodes[milestones_[phase]];
  result.least = (milestone.size + milestone.extra - problem_.budget).count();
  return result;
}

PhaseInequality PhaseFacts::kept_or_rerun(const PhaseRow& row, std::size_t last) const {
  PhaseInequality result{.terms = {{{.phase = row.phase, .is_rerun = false, .node = row.node}, 1}}, .least = 1};
  for (std::size_t phase = row.phase; phase <= last; ++phase) {
    result.terms.push_back({{.phase = static_cast<std::uint32_t>(phase), .is_rerun = true, .node = row.node}, 1});
  }
  return result;
}

std::optional<PhaseInequality> PhaseFacts::inequality(const PhaseRow& row) const {
  if (row.phase >= phases()) return std::nullopt;
  if (row.rule == PhaseRule::memory) return memory(row.phase);
  if (!has({.phase = row.phase, .is_rerun = false, .node = row.node})) return std::nullopt;
  const PhaseVariable keep{.phase = row.phase, .is_rerun = false, .node = row.node};
  switch (row.rule) {
    case PhaseRule::memory: break;
    case PhaseRule::read:
      if (!reads(milestones_[row.phase], row.node)) return std::nullopt;
      return PhaseInequality{.terms = {{keep, 1}}, .least = 1};
    case PhaseRule::need:
      if (!reads(row.reader, row.node) || !after_[row.phase].test(row.reader)) return std::nullopt;
      return kept_or_rerun(row, last_phase_of(row.reader, row.phase));
    case PhaseRule::result:
      if (!problem_.nodes[row.node].is_output) return std::nullopt;
      return kept_or_rerun(row, phases() - 1);
    case PhaseRule::rerun_input: {
      const PhaseVariable again{.phase = row.phase, .is_rerun = true, .node = row.reader};
      if (!reads(row.reader, row.node) || !has(again)) return std::nullopt;
      PhaseInequality result = kept_or_rerun(row, row.phase);
      result.terms.push_back({again, -1});
      result.least = 0;
      return result;
    }
    case PhaseRule::carry: {
      if (row.phase + 1 >= phases()) return std::nullopt;
      PhaseInequality result = kept_or_rerun(row, row.phase);
      result.terms.push_back({{.phase = row.phase + 1, .is_rerun = false, .node = row.node}, -1});
      result.least = 0;
      return result;
    }
    case PhaseRule::once:
      if (!problem_.nodes[row.node].runs_once) return std::nullopt;
      return PhaseInequality{.terms = {{{.phase = row.phase, .is_rerun = true, .node = row.node}, -1}}, .least = 0};
  }
  return std::nullopt;
}

}  // namespace lowtide::verify_internal
