// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/rematerialize.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/rematerialize/phases/knapsack_bound.h"
#include "lowtide/rematerialize/phases/phase_plan.h"
#include "lowtide/rematerialize/runs/anneal.h"
#include "lowtide/rematerialize/runs/evict.h"
#include "lowtide/rematerialize/runs/floor_search.h"
#include "lowtide/rematerialize/runs/need_search.h"
#include "lowtide/rematerialize/runs/retain.h"
#include "lowtide/rematerialize/runs/run_problem.h"
#include "lowtide/rematerialize/runs/small_search.h"

namespace lowtide {
namespace rematerialize_internal {
namespace {

constexpr std::int64_t kSmallStates = 200'000;    // about 0.1 s
constexpr std::size_t kMostMediumNodes = 10'000;  // more would have no linear programs, and 1 ms per move of annealing
constexpr std::uint64_t kSeed = 1;

// What is known so far, and the work that is left.
class Search {
 public:
  Search(const BudgetProblem& problem, Runs order, std::int64_t effort)
      : problem_(problem), order_(std::move(order)), work_(effort), scan_(problem_) {
    answer_.base_cost = problem_.base_cost;
    answer_.cost_bound = problem_.base_cost;
    note(order_);
  }

  BudgetAnswer solve() {
    if (!is_done() && !is_small_solved() && !find_obstruction_first()) {
      bound_by_knapsacks();
      evict();
      if (problem_.count() <= kMostMediumNodes) {
        plan_reruns();
        anneal();
        raise_bound();
      }
    }
    answer_.runs.clear();
    for (RunProblem::Index node : best_) answer_.runs.emplace_back(node);
    return std::move(answer_);
  }

 private:
  [[nodiscard]] bool is_done() const { return answer_.is_optimal(); }

  // Takes a sequence if it is better than the best one.
  void note(const Runs& runs) {
    const Loads loads = scan_.scan(runs);
    LOWTIDE_CHECK(loads.is_valid, "every sequence that a search finds is valid");
    const bool fits = loads.peak <= problem_.budget;
    const bool had = answer_.outcome == BudgetOutcome::found;
    const bool is_better = fits ? !had || loads.cost < answer_.cost : !had && loads.peak < answer_.peak.count();
    if (!is_better && !best_.empty()) return;
    best_ = runs;
    answer_.cost = loads.cost;
    answer_.peak = Bytes(loads.peak);
    if (fits) answer_.outcome = BudgetOutcome::found;
  }

  bool is_small_solved() {
    if (work_ <= 0) return false;
    const SmallAnswer small = search_small(problem_, kSmallStates);
    if (!small.is_complete || !small.runs) return false;
    note(*small.runs);
    // A bound with a proof is better than the word of the search.
    prove(milestones_or_peak(), work_);
    if (answer_.cost_bound < answer_.cost) {
      answer_.cost_bound = answer_.cost;
      answer_.bound_kind = CostBoundKind::search;
      answer_.proof.reset();
    }
    return true;
  }

  bool find_obstruction_first() {
    std::int64_t share = work_ / 8;
    work_ -= share;
    floor_.emplace(problem_, order_, share);
    if (floor_->bound() > problem_.budget) answer_.obstruction = floor_->proof();
    // The search for an obstruction begins with the nodes that need most alone, and they are the plainest proof.
    if (answer_.obstruction || !floor_->is_reached()) {
      std::optional<InfeasibleProof> plain = find_obstruction(problem_, share);
      if (plain) answer_.obstruction = std::move(plain);
    }
    work_ += std::max<std::int64_t>(share, 0);
    if (!answer_.obstruction) return false;
    answer_.outcome = BudgetOutcome::infeasible;
    return true;
  }

  // Milestones where the order has the most live bytes.
  void bound_by_knapsacks() {
    for (RunProblem::Index milestone : tight_milestones(order_)) {
      if (work_ <= 0) return;
      take(knapsack_bound(problem_, milestone, work_));
    }
  }

  // Sequences by eviction with different rules. Then reruns for which there is space are removed.
  void evict() {
    std::int64_t share = work_ / 8;
    work_ -= share;
    for (bool uses_distance : {true, false}) {
      for (int chain_quarters : {4, 1, 0, 16}) {
        if (is_done() || share <= 0) break;
        const EvictionRule rule{.chain_quarters = chain_quarters, .uses_distance = uses_distance};
        const std::optional<Runs> runs = evict_along(problem_, order_, rule, *floor_, share);
        if (!runs) continue;
        note(retain_outputs(problem_, *runs, share));
      }
    }
    work_ += std::max<std::int64_t>(share, 0);
  }

  void plan_reruns() {
    std::int64_t share = work_ / 4;
    work_ -= share;
    PhasePlans plans = plan_phases(problem_, order_, share);
    work_ += std::max<std::int64_t>(share, 0);
    milestones_ = std::move(plans.milestones);
    if (plans.best) note(*plans.best);
    starts_ = std::move(plans.tried);
    if (plans.best) prove(milestones_, work_);
  }

  void anneal() {
    if (is_done()) return;
    const std::int64_t goal = answer_.cost_bound;
    Annealing annealing(problem_, kSeed);
    const std::int64_t whole = work_ - work_ / 8;
    work_ -= whole;
    for (int round = 0; round < kRounds && whole > 0; ++round) {
      // The plan with one milestone is above the budget, but the cheapest beginning. Later rounds improve the best.
      const bool is_first = round < kRounds / 2 && !starts_.empty();
      const bool is_found = answer_.outcome == BudgetOutcome::found;
      const Runs& start = is_first ? starts_.back() : is_found ? best_ : order_;
      std::int64_t share = whole / kRounds;
      annealing.cool(start, {.hottest = is_first ? 0.5 : 0.2, .coldest = 0.005, .goal = goal}, share);
      const Annealed& found = annealing.found();
      if (found.best) note(*found.best);
      if (!found.lowest.empty()) note(found.lowest);
      if (is_done()) return;
    }
  }

  void raise_bound() {
    if (is_done() || work_ <= 0) return;
    prove(milestones_or_peak(), work_);
    if (!is_done()) prove(tight_milestones(best_), work_);
  }

  // First runs of a sequence with the most live bytes, the most first.
  Runs tight_milestones(const Runs& runs) {
    std::vector<std::int64_t> loads;
    static_cast<void>(scan_.scan(runs, &loads));
    std::vector<char> has_run(problem_.count(), 0);
    std::vector<std::pair<std::int64_t, RunProblem::Index>> tight;  // minus the live bytes
    for (std::size_t at = 0; at < runs.size(); ++at) {
      if (std::exchange(has_run[runs[at]], char{1}) == 0) tight.emplace_back(-loads[at], runs[at]);
    }
    std::sort(tight.begin(), tight.end());
    Runs milestones;
    for (std::size_t at = 0; at < std::min(tight.size(), kMostTight); ++at) milestones.push_back(tight[at].second);
    return milestones;
  }

  // The milestones of the last plan, or the run with the most live bytes in the order.
  Runs milestones_or_peak() {
    if (!milestones_.empty()) return milestones_;
    return {order_[scan_.scan(order_).peak_at]};
  }

  void prove(const Runs& milestones, std::int64_t& work) {
    const std::int64_t limit =
        answer_.outcome == BudgetOutcome::found ? answer_.cost - answer_.base_cost : kMaxTotalCost;
    std::optional<PhaseBound> bound = bound_phases(problem_, milestones, limit, work);
    take(std::move(bound));
  }

  void take(std::optional<PhaseBound> bound) {
    if (!bound || answer_.base_cost + bound->extra <= answer_.cost_bound) return;
    answer_.cost_bound = answer_.base_cost + bound->extra;
    answer_.bound_kind = CostBoundKind::milestones;
    answer_.proof = std::move(bound->proof);
  }

  static constexpr int kRounds = 4;
  static constexpr std::size_t kMostTight = 32;

  RunProblem problem_;
  Runs order_;
  std::int64_t work_;
  LoadScan scan_;
  BudgetAnswer answer_;
  Runs best_;
  Runs milestones_;
  std::vector<Runs> starts_;
  std::optional<FloorSearch> floor_;
};

}  // namespace
}  // namespace rematerialize_internal

BudgetAnswer rematerialize(const BudgetProblem& problem, const std::vector<NodeId>& order,
                           const RematerializeOptions& options) {
  LOWTIDE_CHECK(order.size() == problem.nodes.size(), "the given order has each node once");
  if (problem.nodes.empty()) return {.outcome = BudgetOutcome::found};
  rematerialize_internal::Runs runs;
  for (NodeId node : order) runs.push_back(node.value());
  return rematerialize_internal::Search(problem, std::move(runs), options.effort).solve();
}

BudgetFloor bound_budgets(const BudgetProblem& problem, const std::vector<NodeId>& order,
                          const RematerializeOptions& options) {
  LOWTIDE_CHECK(order.size() == problem.nodes.size(), "the given order has each node once");
  rematerialize_internal::Runs runs;
  for (NodeId node : order) runs.push_back(node.value());
  std::int64_t work = options.effort;
  const rematerialize_internal::RunProblem plain(problem);
  const rematerialize_internal::FloorSearch floor(plain, runs, work);
  return {.bytes = Bytes(floor.bound()), .proof = floor.proof()};
}

}  // namespace lowtide
