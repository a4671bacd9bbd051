// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/keep_budget.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/budget/rematerialize.h"
#include "lowtide/pipeline/budgets/apply_hints.h"
#include "lowtide/pipeline/budgets/budget_problem_of.h"
#include "lowtide/pipeline/budgets/confirm_answer.h"
#include "lowtide/pipeline/budgets/refusals.h"
#include "lowtide/pipeline/budgets/run_model.h"
#include "lowtide/pipeline/order_for_budget.h"
#include "lowtide/verify/check_budget.h"

namespace lowtide {
namespace pipeline_internal {
namespace {

constexpr std::int64_t kLeastEffort = 2'000'000'000;
constexpr std::int64_t kMostEffort = 30'000'000'000;  // up to about a minute
constexpr std::int64_t kMostCounted = 160;            // nodes; more get all of it

// What a search spends that is not proven earlier. It limits the time, and does not say when a search can find no more:
// with the graphs of bench/budgets.py, it is about 10 seconds for 100 nodes, and up to a minute for more.
std::int64_t suggested_effort(std::int64_t nodes) {
  if (nodes > kMostCounted) return kMostEffort;
  return std::clamp(60 * nodes * nodes * nodes * nodes, kLeastEffort, kMostEffort);
}

// The most live bytes of a sequence of runs.
Bytes peak_of(const BudgetProblem& problem, const std::vector<NodeId>& runs) {
  IdVector<NodeId, std::optional<std::size_t>> latest(problem.nodes.size());
  std::vector<std::size_t> last_uses(runs.size());
  for (std::size_t at = 0; at < runs.size(); ++at) {
    for (NodeId read : problem.nodes[runs[at]].reads) last_uses[*latest[read]] = at;
    latest[runs[at]] = at;
    last_uses[at] = at;
  }
  for (NodeId node : all_ids<NodeId>(problem.nodes.size())) {
    if (problem.nodes[node].is_output) last_uses[*latest[node]] = runs.size();
  }
  std::vector<Bytes> ends(runs.size() + 1);  // what is live only up to each run
  Bytes live;
  Bytes peak;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const BudgetNode& node = problem.nodes[runs[at]];
    live += node.size;
    ends[last_uses[at]] += node.size;
    peak = std::max(peak, live + node.extra);
    live -= ends[at];
  }
  return peak;
}

Result<void> check_known(const BudgetAnswer& answer, const std::vector<NodeId>& order) {
  if (!answer.runs.empty() || order.empty()) return {};
  return no_known_sequence();
}

// Solves the problem of `kept`. A node that a hint makes run again is two nodes in the problem that is solved.
Result<void> solve_with_hints(KeptBudget& kept, const BudgetOptions& options, std::int64_t effort) {
  RunModel model{.problem = kept.problem, .node_of = {}, .order = kept.ordered.order};
  for (NodeId id : all_ids<NodeId>(kept.problem.nodes.size())) model.node_of.push_back(id);
  const std::size_t count = model.node_of.size();
  apply_hints(model, options.hints);
  std::int64_t total = 0;
  for (const BudgetNode& node : model.problem.nodes) total += node.cost;
  if (total > kMaxTotalCost) {
    return Error{ErrorCode::over_limit,
                 "the cost with one rerun for each hint exceeds " + std::to_string(kMaxTotalCost) +
                     " (kMaxTotalCost); omit some hints",
                 ""};
  }
  kept.answer = rematerialize(model.problem, model.order,
                              {.effort = effort, .stop = options.stop, .on_improvement = options.on_improvement});
  LOWTIDE_RETURN_IF_ERROR(check_known(kept.answer, model.order));
  confirm_answer(model.problem, kept.answer);
  for (NodeId id : all_ids<NodeId>(count)) {
    kept.problem.nodes[id].runs_once = model.problem.nodes[id].runs_once;
    kept.problem.nodes[id].seed = model.problem.nodes[id].seed;
  }
  if (model.node_of.size() == count) return {};
  for (std::size_t at = count; at < model.node_of.size(); ++at) {
    kept.answer.base_cost -= model.problem.nodes[NodeId(static_cast<std::uint32_t>(at))].cost;
  }
  for (NodeId& run : kept.answer.runs) run = model.node_of[run];
  kept.answer.peak = peak_of(kept.problem, kept.answer.runs);
  kept.answer.proof.reset();
  if (kept.answer.obstruction && kept.answer.obstruction->node) {
    kept.answer.obstruction->node = model.node_of[*kept.answer.obstruction->node];
    std::vector<NodeId>& makers = kept.answer.obstruction->makers;
    for (NodeId& maker : makers) maker = model.node_of[maker];
    std::sort(makers.begin(), makers.end());
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
  }
  BudgetAnswer plain = kept.answer;
  plain.bound_kind = CostBoundKind::search;
  LOWTIDE_CHECK(check_budget_runs(kept.problem, plain).empty(), "the verifier accepts sequences that honour hints");
  return {};
}

// A node that a hint makes run again is two nodes, which is only possible if it has one output and no rules.
Result<void> check_hints(const BudgetProblem& steps, const std::vector<NodeHint>& hints) {
  const bool is_plain = steps.before.empty() && steps.groups.empty() &&
                        std::all_of(steps.nodes.begin(), steps.nodes.end(), [](const BudgetNode& node) {
                          return node.is_run() && !node.overwrites && node.seed == Bytes(0) && !node.fetched_over;
                        });
  const bool must_rerun =
      std::any_of(hints.begin(), hints.end(), [](const NodeHint& hint) { return hint.kind == HintKind::recompute; });
  LOWTIDE_RETURN_IF_ERROR(check_groups_of_hints(steps, hints));
  if (is_plain || !must_rerun) return {};
  return Error{ErrorCode::unsupported,
               "a hint 'recompute' is not possible where the file has parts, views, states, updates, seeds, 'before', "
               "groups or values from outside; omit the hint",
               ""};
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
  return keep_budget(graph, pipeline_internal::budget_problem_of(graph, costs, options.budget), target, options);
}

Result<KeptBudget> keep_budget(const Graph& graph, const BudgetProblem& steps, const Target& target,
                               const BudgetOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(pipeline_internal::check_hints(steps, options.hints));
  const std::int64_t effort =
      options.effort.value_or(pipeline_internal::suggested_effort(static_cast<std::int64_t>(graph.nodes().size())));
  Result<OrderedGraph> ordered =
      pipeline_internal::order_for_budget(graph, target, {options.order, options.budget, effort});
  if (!ordered) return ordered.error();
  KeptBudget kept{.ordered = *std::move(ordered), .problem = steps, .answer = {}};
  kept.problem.budget = options.budget;
  LOWTIDE_RETURN_IF_ERROR(pipeline_internal::solve_with_hints(kept, options, effort));
  return kept;
}

Result<BudgetCurve> keep_budgets(const Graph& graph, const BudgetProblem& steps, const Target& target,
                                 const CurveOptions& options) {
  OrderOptions ordering = options.order;
  ordering.near_share = pipeline_internal::kNearShare;
  Result<OrderedGraph> ordered = order_graph(graph, target, ordering);
  if (!ordered) return ordered.error();
  BudgetCurve curve{.ordered = *std::move(ordered), .problem = steps, .budgets = {}, .answers = {}, .floor = {}};
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
    LOWTIDE_RETURN_IF_ERROR(pipeline_internal::check_known(curve.answers.back(), curve.ordered.order));
  }
  pipeline_internal::share_answers(curve.answers);
  for (std::size_t at = 0; at < curve.budgets.size(); ++at) {
    curve.problem.budget = curve.budgets[at];
    pipeline_internal::confirm_answer(curve.problem, curve.answers[at]);
  }
  return curve;
}

}  // namespace lowtide
