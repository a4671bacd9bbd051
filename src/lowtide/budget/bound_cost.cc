// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/bound_cost.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/budget/phases/phase_plan.h"
#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/budget/runs/load_scan.h"

namespace lowtide {
namespace budget_internal {
namespace {

constexpr std::size_t kMostBoundMilestones = 12;

// Nodes by the live bytes of their first runs, the most first. With a link, copies stand for the runs of what begins
// outside, so these are no milestones.
Runs heaviest_first_runs(const RunProblem& problem, const Runs& runs, const BudgetProblem& stated) {
  std::vector<std::int64_t> loads;
  const Loads scanned = LoadScan(problem).scan(runs, &loads);
  LOWTIDE_CHECK(scanned.is_valid, "the sequence that gives milestones is valid");
  std::vector<char> has_run(problem.count(), 0);
  std::vector<std::pair<std::int64_t, RunProblem::Index>> first;  // minus the live bytes
  for (std::size_t at = 0; at < runs.size(); ++at) {
    if (stated.nodes[NodeId(runs[at])].fetched_over) continue;
    if (std::exchange(has_run[runs[at]], char{1}) == 0) first.emplace_back(-loads[at], runs[at]);
  }
  std::sort(first.begin(), first.end());
  Runs heaviest;
  for (std::size_t at = 0; at < std::min(first.size(), kMostBoundMilestones); ++at)
    heaviest.push_back(first[at].second);
  return heaviest;
}

}  // namespace
}  // namespace budget_internal

std::optional<ProvenCost> bound_cost(const BudgetProblem& problem, const std::vector<NodeId>& runs, std::int64_t enough,
                                     std::int64_t effort) {
  using namespace budget_internal;  // NOLINT(google-build-using-namespace): the body is about these types only
  if (runs.empty() || effort <= 0) return std::nullopt;
  const RunProblem inner(problem);
  Runs sequence;
  for (NodeId node : runs) sequence.push_back(node.value());
  const Runs milestones = heaviest_first_runs(inner, sequence, problem);
  if (milestones.empty()) return std::nullopt;
  std::optional<PhaseBound> bound = bound_phases(inner, milestones, enough - inner.base_cost, effort);
  if (!bound || bound->extra <= 0) return std::nullopt;
  return ProvenCost{.cost = inner.base_cost + bound->extra, .proof = std::move(bound->proof)};
}

}  // namespace lowtide
