// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/swap_budget.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"
#include "lowtide/offload/offload.h"
#include "lowtide/pipeline/budget_problem_of.h"
#include "lowtide/rematerialize/bound_cost.h"
#include "lowtide/rematerialize/rematerialize.h"
#include "lowtide/verify/check_transfers.h"

namespace lowtide {
namespace pipeline_internal {
namespace {

constexpr std::int64_t kMostEffortPerNode = 200'000'000;  // small problems need less than a large limit
constexpr std::int64_t kFirstLevel = 500'000;             // of effort per node
constexpr std::int64_t kBoundSteps = 8;
constexpr std::size_t kMostBoundNodes = 10'000;  // a bound takes time quadratic in the nodes

Result<void> check_times(const BudgetProblem& problem, const TransferLink& link) {
  std::int64_t cost = 0;
  for (const BudgetNode& node : problem.nodes) cost = must_add(cost, node.cost);
  if (cost <= kMaxTime / link.nanoseconds_per_cost) return {};
  return Error{ErrorCode::over_limit,
               "all costs together take more than 2^50 - 1 nanoseconds (kMaxTime), with " +
                   std::to_string(link.nanoseconds_per_cost) + " nanoseconds per unit; state a smaller unit",
               ""};
}

// The loop over order, rematerialize and offload. As in rematerialize.cc, the effort is spent in levels, each with
// twice the allowance of the one before. A search with less effort does the same up to where it ends, so more effort
// is never worse. Sequences of an earlier level are kept.
class SwapSearch {
 public:
  SwapSearch(const BudgetProblem& problem, const OrderedGraph& ordered, const SwapOptions& options)
      : problem_(problem),
        link_(options.link),
        ordered_(ordered),
        options_(options),
        left_(std::min(options.effort, kMostEffortPerNode * static_cast<std::int64_t>(problem.nodes.size()))),
        missing_(std::max<std::int64_t>((ordered_.load - problem_.budget).count(), 0)),
        answer_(offload(problem_, link_, {ordered_.order}, {.effort = 0})) {}

  SwapAnswer search() {
    if (answer_.outcome == BudgetOutcome::infeasible) return std::move(answer_);
    std::int64_t allowance = kFirstLevel * static_cast<std::int64_t>(problem_.nodes.size());
    for (std::uint64_t level = 1; !is_over(); ++level, allowance *= 2) search_level(level, allowance);
    return std::move(answer_);
  }

 private:
  [[nodiscard]] bool is_stopped_or_optimal() const {
    return answer_.is_optimal() || (options_.stop != nullptr && options_.stop->load());
  }
  [[nodiscard]] bool is_over() const { return left_ <= 0 || is_stopped_or_optimal(); }

  void search_level(std::uint64_t level, std::int64_t allowance) {
    // What a link can move for nothing acts like a larger budget. So sequences for larger budgets are begins, too.
    std::vector<std::vector<NodeId>> starts = {ordered_.order};
    for (std::int64_t part : {std::int64_t{0}, missing_ / 2}) {
      if (missing_ == 0) break;
      if (!begin_part(allowance / 8)) return;
      BudgetAnswer answer =
          rematerialize(larger(part), ordered_.order, {.effort = allowance / 8, .stop = options_.stop});
      if (answer.outcome == BudgetOutcome::found) starts.push_back(std::move(answer.runs));
    }
    const std::int64_t effort = std::min(left_, allowance / 2);
    take(offload(problem_, link_, starts,
                 {.effort = effort, .length = allowance / 2, .seed = level, .stop = options_.stop}));
    left_ -= effort;
    if (answer_.outcome == BudgetOutcome::found && missing_ > 0 && begin_part(allowance / 8))
      raise_bound(allowance / 8);
  }

  // Only the annealing of `offload` may be cut off, because anything else could find something else with less effort.
  bool begin_part(std::int64_t allowance) {
    if (left_ < allowance) left_ = 0;
    if (is_over()) return false;
    left_ -= allowance;
    return true;
  }

  void take(SwapAnswer found) {
    if (found.outcome != BudgetOutcome::found) return;
    if (answer_.outcome == BudgetOutcome::found && answer_.time <= found.time) return;
    found.time_bound = answer_.time_bound;
    found.proof = std::move(answer_.proof);
    answer_ = std::move(found);
    if (options_.on_improvement) options_.on_improvement(answer_);
  }

  [[nodiscard]] BudgetProblem larger(std::int64_t by) const {
    return {.nodes = problem_.nodes, .budget = Bytes(must_add(problem_.budget.count(), by))};
  }

  // The more bytes may be outside, the weaker is the bound of a larger budget, and the more time the link needs for
  // more bytes than that. Halves the interval between the two.
  void raise_bound(std::int64_t effort) {
    if (problem_.nodes.size() > kMostBoundNodes) return;
    std::int64_t low = 0;
    std::int64_t high = missing_;
    for (std::int64_t step = 0; step < kBoundSteps && low < high; ++step) {
      if (is_stopped_or_optimal()) return;
      const std::int64_t away = low + (high - low) / 2;
      std::optional<ProvenCost> proven = bound_cost(larger(away), ordered_.order, kMaxTotalCost, effort / kBoundSteps);
      if (!proven) {
        high = away;
        continue;
      }
      const std::int64_t kept = must_multiply(proven->cost, link_.nanoseconds_per_cost);
      const std::int64_t moved = least_time_away(problem_, link_, proven->proof.milestones, Bytes(away + 1));
      const std::int64_t bound = std::min({kept, moved, answer_.time});
      if (bound > answer_.time_bound) {
        answer_.time_bound = bound;
        answer_.proof = TimeProof{.away = Bytes(away), .proof = std::move(proven->proof)};
        if (options_.on_improvement) options_.on_improvement(answer_);
      }
      (moved < kept ? low : high) = moved < kept ? away + 1 : away;
    }
  }

  const BudgetProblem& problem_;
  const TransferLink& link_;
  const OrderedGraph& ordered_;
  const SwapOptions& options_;
  std::int64_t left_;     // of the effort
  std::int64_t missing_;  // bytes by which the order exceeds the budget
  SwapAnswer answer_;
};

void verify_swaps(const SwappedBudget& swapped) {
  const SwapAnswer& answer = swapped.answer;
  if (answer.outcome == BudgetOutcome::infeasible) {
    LOWTIDE_CHECK(check_too_large(swapped.problem, answer.obstruction),
                  "the verifier confirms that nothing keeps the budget");
  }
  LOWTIDE_CHECK(check_transfers(swapped.problem, swapped.link, answer).empty(),
                "the verifier accepts every sequence of runs and transfers");
  if (!answer.proof) return;
  const TimeBoundCheck check = check_time_bound(swapped.problem, swapped.link, *answer.proof);
  LOWTIDE_CHECK(!check.problem && check.proven >= answer.time_bound, "the verifier confirms the bound of the time");
}

}  // namespace
}  // namespace pipeline_internal

Result<SwappedBudget> swap_budget(const Graph& graph, const IdVector<NodeId, std::int64_t>& costs, const Target& target,
                                  const SwapOptions& options) {
  Result<OrderedGraph> ordered = order_graph(graph, target, options.order);
  if (!ordered) return ordered.error();
  SwappedBudget swapped{.ordered = *std::move(ordered),
                        .problem = pipeline_internal::budget_problem_of(graph, costs, options.budget),
                        .link = options.link,
                        .answer = {}};
  for (const NodeHint& hint : options.hints) swapped.problem.nodes[hint.node].runs_once = true;
  LOWTIDE_RETURN_IF_ERROR(pipeline_internal::check_times(swapped.problem, swapped.link));
  swapped.answer = pipeline_internal::SwapSearch(swapped.problem, swapped.ordered, options).search();
  pipeline_internal::verify_swaps(swapped);
  return swapped;
}

}  // namespace lowtide
