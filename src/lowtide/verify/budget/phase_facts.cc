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
    : problem_(problem), milestones_(milestones), facts_(problem) {
  if (milestones.empty() || milestones.size() > kMostMilestones) {
    fault_ = "the proof has " + std::to_string(milestones.size()) + " milestones, not 1 to 64";
    return;
  }
  using Edges = IdVector<NodeId, std::vector<NodeId>>;  // between runs
  Edges inputs(problem.nodes.size());
  Edges readers(problem.nodes.size());
  for (NodeId run : all_ids<NodeId>(problem.nodes.size())) {
    for (NodeId input : facts_.reads(run)) {
      inputs[run].push_back(facts_.maker(input));
      readers[facts_.maker(input)].push_back(run);
    }
  }
  Edges all_inputs = inputs;
  Edges all_readers = readers;
  for (NodeId run : all_ids<NodeId>(problem.nodes.size())) {
    for (NodeId earlier : facts_.earlier(run)) {
      all_inputs[run].push_back(earlier);
      all_readers[earlier].push_back(run);
    }
  }
  for (std::size_t at = 0; at < milestones.size(); ++at) {
    if (!facts_.is_run(milestones[at])) {
      fault_ = "milestone " + std::to_string(at) + " is a node that does not exist or never runs";
      return;
    }
    before_.push_back(reached(inputs, milestones[at]));
    after_.push_back(reached(readers, milestones[at]));
    earlier_.push_back(reached(all_inputs, milestones[at]));
    later_.push_back(reached(all_readers, milestones[at]));
    if (at > 0 && !earlier_[at].test(milestones[at - 1])) {
      fault_ = "milestone " + std::to_string(at - 1) + " need not run before the next one";
      return;
    }
  }
}

bool PhaseFacts::is_aside(std::uint32_t phase, NodeId node) const {
  return node != milestones_[phase] && !before_[phase].test(node) && !after_[phase].test(node);
}

bool PhaseFacts::has(const PhaseVariable& variable) const {
  if (variable.phase >= phases() || !facts_.is_made(variable.node)) return false;
  const NodeId run = facts_.maker(variable.node);
  if (variable.kind != PhaseKind::keep && run != variable.node) return false;
  return is_aside(variable.phase, run) || (before_[variable.phase].test(run) && variable.kind != PhaseKind::ran);
}

std::optional<std::int64_t> PhaseFacts::known(const PhaseVariable& variable) const {
  const NodeId run = facts_.maker(variable.node);
  if (run == milestones_[variable.phase] || later_[variable.phase].test(run)) return 0;
  if (variable.kind == PhaseKind::ran && earlier_[variable.phase].test(run)) return 1;
  return std::nullopt;
}

bool PhaseFacts::never_again(std::uint32_t phase, NodeId run) const {
  if (facts_.happens_once(run)) return true;
  const std::vector<NodeId>& writers = facts_.writers_after(run);
  return std::any_of(writers.begin(), writers.end(),
                     [&](NodeId writer) { return writer == milestones_[phase] || earlier_[phase].test(writer); });
}

void PhaseFacts::add_ran(PhaseInequality& inequality, std::uint32_t phase, NodeId node, std::int64_t factor) const {
  if (is_aside(phase, node)) {
    inequality.terms.push_back({{.phase = phase, .kind = PhaseKind::ran, .node = node}, factor});
  } else if (before_[phase].test(node)) {
    inequality.least -= factor;
  }
}

std::size_t PhaseFacts::last_phase_of(NodeId node, std::size_t phase) const {
  for (std::size_t next = phase + 1; next < phases(); ++next) {
    if (milestones_[next] == node || earlier_[next].test(node)) return next - 1;
  }
  return phases() - 1;
}

PhaseInequality PhaseFacts::memory(std::uint32_t phase) const {
  PhaseInequality result;
  for (NodeId node : all_ids<NodeId>(problem_.nodes.size())) {
    const PhaseVariable keep{.phase = phase, .kind = PhaseKind::keep, .node = node};
    if (has(keep)) result.terms.push_back({keep, -problem_.nodes[node].size.count()});
  }
  result.least = (facts_.taken_by(milestones_[phase]) + facts_.states() - problem_.budget).count();
  return result;
}

// keep + rerun in the phases up to `last` >= 0.
PhaseInequality PhaseFacts::kept_or_rerun(const PhaseRow& row, std::size_t last) const {
  PhaseInequality result{.terms = {{{.phase = row.phase, .kind = PhaseKind::keep, .node = row.node}, 1}}, .least = 0};
  for (std::size_t phase = row.phase; phase <= last; ++phase) {
    result.terms.push_back(
        {{.phase = static_cast<std::uint32_t>(phase), .kind = PhaseKind::rerun, .node = facts_.maker(row.node)}, 1});
  }
  return result;
}

std::optional<PhaseInequality> PhaseFacts::need(const PhaseRow& row) const {
  if (!facts_.reads(row.reader, row.node) || row.reader == milestones_[row.phase]) return std::nullopt;
  if (before_[row.phase].test(row.reader)) return std::nullopt;
  PhaseInequality result = kept_or_rerun(row, last_phase_of(row.reader, row.phase));
  add_ran(result, row.phase, row.reader, 1);
  add_ran(result, row.phase, facts_.maker(row.node), -1);
  return result;
}

std::optional<PhaseInequality> PhaseFacts::carry(const PhaseRow& row) const {
  const PhaseVariable next{.phase = row.phase + 1, .kind = PhaseKind::keep, .node = row.node};
  if (!has(next)) return std::nullopt;
  PhaseInequality result = kept_or_rerun(row, row.phase);
  result.terms.push_back({next, -1});
  result.least = -1;
  add_ran(result, row.phase, facts_.maker(row.node), -1);
  return result;
}

// One run has happened if another one has, or if it has happened earlier.
std::optional<PhaseInequality> PhaseFacts::between_ran(const PhaseRow& row) const {
  const bool is_read = row.rule == PhaseRule::first_read;
  const PhaseVariable from{.phase = row.phase, .kind = PhaseKind::ran, .node = is_read ? row.reader : row.node};
  const PhaseVariable to{
      .phase = is_read ? row.phase : row.phase + 1, .kind = PhaseKind::ran, .node = facts_.maker(row.node)};
  if (!has(from) || !has(to) || (is_read && !facts_.reads(row.reader, row.node))) return std::nullopt;
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
      if (!facts_.reads(milestones_[row.phase], row.node)) return std::nullopt;
      return PhaseInequality{.terms = {{keep, 1}}, .least = 1};
    case PhaseRule::need: return need(row);
    case PhaseRule::result: {
      if (!facts_.is_output(row.node)) return std::nullopt;
      PhaseInequality result = kept_or_rerun(row, phases() - 1);
      add_ran(result, row.phase, facts_.maker(row.node), -1);
      return result;
    }
    case PhaseRule::rerun_input: {
      const PhaseVariable again{.phase = row.phase, .kind = PhaseKind::rerun, .node = row.reader};
      if (!facts_.reads(row.reader, row.node) || !has(again)) return std::nullopt;
      PhaseInequality result = kept_or_rerun(row, row.phase);
      result.terms.push_back({again, -1});
      return result;
    }
    case PhaseRule::carry: return carry(row);
    case PhaseRule::once:
      if (!facts_.is_run(row.node) || !never_again(row.phase, row.node)) return std::nullopt;
      return PhaseInequality{.terms = {{{.phase = row.phase, .kind = PhaseKind::rerun, .node = row.node}, -1}},
                             .least = 0};
    case PhaseRule::first_read:
    case PhaseRule::stay_run: return between_ran(row);
  }
  return std::nullopt;
}

}  // namespace lowtide::verify_internal
