// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/budgets/swap_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"
#include "lowtide/budget/bound_cost.h"
#include "lowtide/budget/offload.h"
#include "lowtide/budget/rematerialize.h"
#include "lowtide/verify/check_transfers.h"

namespace lowtide::pipeline_internal {
namespace {

constexpr std::int64_t kMostEffortPerNode = 200'000'000;  // small problems need less than a large limit
constexpr std::int64_t kFirstLevel = 500'000;             // of effort per node
constexpr std::int64_t kBoundSteps = 8;
constexpr std::size_t kMostBoundNodes = 10'000;  // a bound takes time quadratic in the nodes

// A copy of a value that begins outside takes no time of a run. The verifier permits any number of them.
BudgetProblem with_free_fetches(BudgetProblem problem) {
  for (BudgetNode& node : problem.nodes) {
    if (!node.fetched_over) continue;
    node.cost = 0;
    node.runs_once = false;
  }
  return problem;
}

// The loop over rematerialize and offload. As in rematerialize.cc, the effort is spent in levels, each with
// twice the allowance of the one before. A search with less effort does the same up to where it ends, so more effort
// is never worse. Sequences of an earlier level are kept.
class SwapSearch {
 public:
  SwapSearch(const BudgetProblem& problem, const TransferLink& link, const SwapStart& start,
             const SwapSearchOptions& options)
      : problem_(problem),
        link_(link),
        order_(start.order),
        first_(rematerialize(problem, start.order, {.effort = 0}).runs),
        options_(options),
        left_(std::min(options.effort, kMostEffortPerNode * static_cast<std::int64_t>(problem.nodes.size()))),
        missing_(std::max<std::int64_t>((start.load - problem_.budget).count(), 0)) {}

  std::optional<SwapAnswer> search() {
    if (first_.empty() && !order_.empty()) return std::nullopt;
    answer_ = offload(problem_, link_, {first_}, {.effort = 0});
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
    std::vector<std::vector<NodeId>> starts = {first_};
    for (std::int64_t part : {std::int64_t{0}, missing_ / 2}) {
      if (missing_ == 0) break;
      if (!begin_part(allowance / 8)) return;
      BudgetAnswer answer = rematerialize(larger(part), order_, {.effort = allowance / 8, .stop = options_.stop});
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
    BudgetProblem larger = problem_;
    larger.budget = Bytes(must_add(problem_.budget.count(), by));
    return larger;
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
      std::optional<ProvenCost> proven =
          bound_cost(with_free_fetches(larger(away)), first_, kMaxTotalCost, effort / kBoundSteps);
      if (!proven) {
        high = away;
        continue;
      }
      const std::int64_t kept = must_multiply(proven->cost, link_.nanoseconds_per_cost);
      const std::int64_t moved = least_time_away(problem_, link_, proven->proof, Bytes(away + 1));
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
  const std::vector<NodeId>& order_;
  std::vector<NodeId> first_;  // the order, as the rules of the problem permit it; empty if none is known
  const SwapSearchOptions& options_;
  std::int64_t left_;     // of the effort
  std::int64_t missing_;  // bytes by which the order exceeds the budget
  SwapAnswer answer_;
};

void verify_swaps(const BudgetProblem& problem, const TransferLink& link, const SwapAnswer& answer) {
  if (answer.outcome == BudgetOutcome::infeasible) {
    LOWTIDE_CHECK(check_too_large(problem, answer.obstruction), "the verifier confirms that nothing keeps the budget");
  }
  LOWTIDE_CHECK(check_transfers(problem, link, answer).empty(),
                "the verifier accepts every sequence of runs and transfers");
  if (!answer.proof) {
    LOWTIDE_CHECK(answer.time_bound <= least_link_time(problem, link), "the verifier confirms what the links need");
    return;
  }
  const TimeBoundCheck check = check_time_bound(problem, link, *answer.proof);
  LOWTIDE_CHECK(!check.problem && check.proven >= answer.time_bound, "the verifier confirms the bound of the time");
}

}  // namespace

bool has_countable_time(const BudgetProblem& problem, const TransferLink& link) {
  IdVector<NodeId, std::int64_t> agreed(problem.nodes.size());  // runs by groups
  IdVector<NodeId, std::int64_t> times(problem.nodes.size(), 1);
  for (const std::vector<NodeId>& group : problem.groups) {
    for (NodeId id : group) {
      if (++agreed[id] == 1) continue;
      ++times[id];
      // What the run overwrites is made again before it.
      for (NodeId read : problem.nodes[id].reads) {
        const NodeId bytes = bytes_of_entry(problem, read);
        ++times[problem.nodes[bytes].part_of.value_or(bytes)];
      }
    }
  }
  Int128 runs = 0;
  Int128 fetches = 0;
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const BudgetNode& node = problem.nodes[id];
    const FetchLink* from = node.fetched_over ? &problem.links[*node.fetched_over] : nullptr;
    const Int128 time =
        from == nullptr ? Int128{node.cost} * link.nanoseconds_per_cost
                        : nanoseconds_to_move(node.size.count(), from->bytes_per_second) + from->latency_nanoseconds;
    if (time > kMaxTime) return false;
    (from == nullptr ? runs : fetches) += time * times[id];
  }
  return runs <= kMaxTime && fetches <= kMaxTime;
}

std::optional<SwapAnswer> search_swaps(const BudgetProblem& problem, const TransferLink& link, const SwapStart& start,
                                       const SwapSearchOptions& options) {
  std::optional<SwapAnswer> answer = SwapSearch(problem, link, start, options).search();
  if (answer) verify_swaps(problem, link, *answer);
  return answer;
}

}  // namespace lowtide::pipeline_internal
