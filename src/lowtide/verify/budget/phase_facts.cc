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

bool PhaseFacts::is_aside(std::uint32_t phase, NodeId node) const {
  return node != milestones_[phase] && !before_[phase].test(node) && !after_[phase].test(node);
}

bool PhaseFacts::has(const PhaseVariable& variable) const {
  if (variable.phase >= phases() || !problem_.nodes.contains(variable.node)) return false;
  const bool is_before = before_[variable.phase].test(variable.node);
  return is_aside(variable.phase, variable.node) || (is_before && variable.kind != PhaseKind::ran);
}

void PhaseFacts::add_ran(PhaseInequality& inequality, std::uint32_t phase, NodeId node, std::int64_t factor) const {
  if (is_aside(phase, node)) {
    inequality.terms.push_back({{.phase = phase, .kind = PhaseKind::ran, .node = node}, factor});
  } else if (before_[phase].test(node)) {
    inequality.least -= factor;
  }
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
    const PhaseVariable keep{.phase = phase, .kind = PhaseKind::keep, .node = node};
    if (has(keep)) result.terms.push_back({keep, -problem_.nodes[node].size.count()});
  }
  const BudgetNode& milestone = problem_.nodes[milestones_[phase]];
  result.least = (milestone.size + milestone.extra - problem_.budget).count();
  return result;
}

// keep + rerun in the phases up to `last` >= 0.
PhaseInequality PhaseFacts::kept_or_rerun(const PhaseRow& row, std::size_t last) const {
  PhaseInequality result{.terms = {{{.phase = row.phase, .kind = PhaseKind::keep, .node = row.node}, 1}}, .least = 0};
  for (std::size_t phase = row.phase; phase <= last; ++phase) {
    result.terms.push_back(
        {{.phase = static_cast<std::uint32_t>(phase), .kind = PhaseKind::rerun, .node = row.node}, 1});
  }
  return result;
}

std::optional<PhaseInequality> PhaseFacts::need(const PhaseRow& row) const {
  if (!reads(row.reader, row.node) || row.reader == milestones_[row.phase]) return std::nullopt;
  if (before_[row.phase].test(row.reader)) return std::nullopt;
  PhaseInequality result = kept_or_rerun(row, last_phase_of(row.reader, row.phase));
  add_ran(result, row.phase, row.reader, 1);
  add_ran(result, row.phase, row.node, -1);
  return result;
}

std::optional<PhaseInequality> PhaseFacts::carry(const PhaseRow& row) const {
  const PhaseVariable next{.phase = row.phase + 1, .kind = PhaseKind::keep, .node = row.node};
  if (!has(next)) return std::nullopt;
  PhaseInequality result = kept_or_rerun(row, row.phase);
  result.terms.push_back({next, -1});
  result.least = -1;
  add_ran(result, row.phase, row.node, -1);
  return result;
}

// One node has run if another one has, or if it has run earlier.
std::optional<PhaseInequality> PhaseFacts::between_ran(const PhaseRow& row) const {
  const bool is_read = row.rule == PhaseRule::first_read;
  const PhaseVariable from{.phase = row.phase, .kind = PhaseKind::ran, .node = is_read ? row.reader : row.node};
  const PhaseVariable to{.phase = is_read ? row.phase : row.phase + 1, .kind = PhaseKind::ran, .node = row.node};
  if (!has(from) || !has(to) || (is_read && !reads(row.reader, row.node))) return std::nullopt;
  return PhaseInequality{.terms = {{to, 1}, {from, -1}}, .least = 0};
}

std::optional<PhaseInequality> PhaseFacts::inequality(const PhaseRow& row) const {
  if (row.phase >= phases()) return std::nullopt;
  if (row.rule == PhaseRule::memory) return memory(row.phase);
  const PhaseVariable keep{.phase = row.phase, .kind = PhaseKind::keep, .node = row.node};
  if (!has(keep)) return std::nullopt;
  switch (row.rule) {
    case PhaseRule::memory: break;
    case PhaseRule::read:
      if (!reads(milestones_[row.phase], row.node)) return std::nullopt;
      return PhaseInequality{.terms = {{keep, 1}}, .least = 1};
    case PhaseRule::need: return need(row);
    case PhaseRule::result: {
      if (!problem_.nodes[row.node].is_output) return std::nullopt;
      PhaseInequality result = kept_or_rerun(row, phases() - 1);
      add_ran(result, row.phase, row.node, -1);
      return result;
    }
    case PhaseRule::rerun_input: {
      const PhaseVariable again{.phase = row.phase, .kind = PhaseKind::rerun, .node = row.reader};
      if (!reads(row.reader, row.node) || !has(again)) return std::nullopt;
      PhaseInequality result = kept_or_rerun(row, row.phase);
      result.terms.push_back({again, -1});
      return result;
    }
    case PhaseRule::carry: return carry(row);
    case PhaseRule::once:
      if (!problem_.nodes[row.node].runs_once) return std::nullopt;
      return PhaseInequality{.terms = {{{.phase = row.phase, .kind = PhaseKind::rerun, .node = row.node}, -1}},
                             .least = 0};
    case PhaseRule::first_read:
    case PhaseRule::stay_run: return between_ran(row);
  }
  return std::nullopt;
}

}  // namespace lowtide::verify_internal
