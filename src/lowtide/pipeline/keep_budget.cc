// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/keep_budget.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/pipeline/budget_problem_of.h"
#include "lowtide/pipeline/confirm_answer.h"
#include "lowtide/rematerialize/rematerialize.h"
#include "lowtide/verify/check_budget.h"

namespace lowtide {
namespace pipeline_internal {
namespace {

constexpr std::int64_t kLeastEffort = 2'000'000'000;
constexpr std::int64_t kMostEffort = 30'000'000'000;  // up to about a minute
constexpr std::int64_t kMostCounted = 160;            // nodes; more get all of it

// What a search spends that is not proven earlier. The graphs with published budgets need about this much, which grows
// as the fourth power of the nodes: there are as many pairs of reruns with two places each.
std::int64_t suggested_effort(std::int64_t nodes) {
  if (nodes > kMostCounted) return kMostEffort;
  return std::clamp(60 * nodes * nodes * nodes * nodes, kLeastEffort, kMostEffort);
}

// Budgets in equal steps from `most` to `least`, each once.
std::vector<Bytes> budgets_between(Bytes most, Bytes least, std::int64_t points) {
  LOWTIDE_CHECK(points >= 2 && least <= most, "a curve has two ends");
  std::vector<Bytes> budgets;
  const std::int64_t width = (most - least).count();
  for (std::int64_t at = 0; at < points; ++at) {
    // Without the overflow of width * at.
    const std::int64_t drop = width / (points - 1) * at + width % (points - 1) * at / (points - 1);
    const Bytes budget = most - Bytes(drop);
    if (budgets.empty() || budget < budgets.back()) budgets.push_back(budget);
  }
  return budgets;
}

// Sequences go from smaller to larger budgets, and bounds from larger to smaller ones.
void share_answers(std::vector<BudgetAnswer>& answers) {
  for (std::size_t at = 1; at < answers.size(); ++at) {
    const BudgetAnswer& larger = answers[at - 1];
    BudgetAnswer& here = answers[at];
    if (here.outcome == BudgetOutcome::infeasible || here.cost_bound >= larger.cost_bound) continue;
    here.cost_bound = larger.cost_bound;
    here.bound_kind = larger.bound_kind;
    here.proof = larger.proof;
  }
  for (std::size_t at = answers.size(); at-- > 1;) {
    const BudgetAnswer& smaller = answers[at];
    BudgetAnswer& here = answers[at - 1];
    if (smaller.outcome != BudgetOutcome::found) continue;
    if (here.outcome == BudgetOutcome::found && here.cost <= smaller.cost) continue;
    here.outcome = BudgetOutcome::found;
    here.runs = smaller.runs;
    here.cost = smaller.cost;
    here.peak = smaller.peak;
  }
}

}  // namespace
}  // namespace pipeline_internal

Result<KeptBudget> keep_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, const Target& target,
                               const BudgetOptions& options) {
  Result<OrderedGraph> ordered = order_graph(graph, target, options.order);
  if (!ordered) return ordered.error();
  BudgetProblem problem = pipeline_internal::budget_problem_of(graph, costs, options.budget);
  const std::int64_t effort =
      options.effort.value_or(pipeline_internal::suggested_effort(static_cast<std::int64_t>(problem.nodes.size())));
  BudgetAnswer answer = rematerialize(
      problem, ordered->order, {.effort = effort, .stop = options.stop, .on_improvement = options.on_improvement});
  pipeline_internal::confirm_answer(problem, answer);
  return KeptBudget{.ordered = *std::move(ordered), .problem = std::move(problem), .answer = std::move(answer)};
}

Result<BudgetCurve> keep_budgets(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, const Target& target,
                                 const CurveOptions& options) {
  Result<OrderedGraph> ordered = order_graph(graph, target, options.order);
  if (!ordered) return ordered.error();
  BudgetCurve curve{.ordered = *std::move(ordered), .problem = {}, .budgets = {}, .answers = {}, .floor = {}};
  curve.problem = pipeline_internal::budget_problem_of(graph, costs, Bytes(0));
  const std::int64_t share = options.effort / options.points;
  const BudgetFloor floor = bound_budgets(curve.problem, curve.ordered.order, {.effort = share});
  curve.floor = floor.bytes;
  if (floor.proof) {
    curve.problem.budget = floor.bytes - Bytes(1);
    LOWTIDE_CHECK(check_infeasible(curve.problem, *floor.proof), "the verifier confirms that no sequence keeps less");
  }
  curve.budgets = pipeline_internal::budgets_between(curve.ordered.load, curve.floor, options.points);
  for (Bytes budget : curve.budgets) {
    curve.problem.budget = budget;
    const bool is_stopped = options.stop != nullptr && options.stop->load();
    curve.answers.push_back(
        rematerialize(curve.problem, curve.ordered.order, {.effort = is_stopped ? 0 : share, .stop = options.stop}));
  }
  pipeline_internal::share_answers(curve.answers);
  for (std::size_t at = 0; at < curve.budgets.size(); ++at) {
    curve.problem.budget = curve.budgets[at];
    pipeline_internal::confirm_answer(curve.problem, curve.answers[at]);
  }
  return curve;
}

}  // namespace lowtide
