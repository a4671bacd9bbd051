// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/rematerialize.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/budget/phases/knapsack_bound.h"
#include "lowtide/budget/phases/phase_plan.h"
#include "lowtide/budget/phases/phase_rounding.h"
#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/budget/runs/anneal.h"
#include "lowtide/budget/runs/checkpoint.h"
#include "lowtide/budget/runs/evict.h"
#include "lowtide/budget/runs/first_sequence.h"
#include "lowtide/budget/runs/floor_search.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/lowest_peak.h"
#include "lowtide/budget/runs/need_search.h"
#include "lowtide/budget/runs/retain.h"
#include "lowtide/budget/runs/small_search.h"

namespace lowtide {
namespace budget_internal {
namespace {

constexpr std::int64_t kSmallStates = 200'000;    // about 0.1 s
constexpr std::size_t kMostMediumNodes = 10'000;  // more would have no linear programs, and 1 ms per move of annealing
constexpr std::int64_t kFirstLevel = 20'000;      // of work per node
constexpr std::int64_t kSmallProof = 200'000'000;
// If nothing keeps the budget, the lowest peak gets a share of the effort, and at most this work.
constexpr std::int64_t kLowestShare = 2;
constexpr std::int64_t kLowestWork = 4'000'000;  // per node
constexpr std::int64_t kMostLowestWork = 2'000'000'000;
constexpr std::int64_t kMostWeighed = 1'000'000;  // of a level, per node
constexpr std::uint64_t kSeed = 1;

// The effort is spent in levels. Each has twice the allowance of the one before, and repeats what its allowance cut
// off there. Allowances depend on the problem only. So a search with less effort does the same as one with more, up to
// where it ends, and the answer is never worse with more effort:
//
//   level 0         level 1                   level 2
//   | parts, anneal | parts       , anneal    | parts                 , anneal   ...
//   ............................................^ less effort ends here
//
// A part that is not annealing begins only if all of its allowance is left, because a part that is cut could find
// something else. Annealing makes the same moves up to its end.
class Search {
 public:
  Search(const BudgetProblem& problem, const Runs& order, const RematerializeOptions& options)
      : problem_(problem),
        first_(first_sequence(problem_, order)),
        order_(first_runs(problem_, first_)),
        options_(options),
        left_(options.effort),
        scan_(problem_),
        annealing_(problem_, kSeed, options.stop) {
    answer_.base_cost = problem_.base_cost;
    answer_.cost_bound = problem_.base_cost;
    for (RunProblem::Index entry = 0; entry < problem_.count(); ++entry) {
      at_end_ += problem_.is_output[entry] != 0 ? problem_.size[entry] : 0;
    }
    const Loads loads = scan_.scan(first_);
    can_search_ = loads.is_valid;
    answer_.cost = loads.cost;
    answer_.peak = Bytes(std::max(loads.peak, at_end_) + problem_.state_bytes);
    if (can_search_) note(first_);
    if (at_end_ > problem_.budget) refuse_outputs();
  }

  BudgetAnswer solve() {
    if (left_ > 0 && !is_done() && !is_small_solved() && can_search_) {
      std::int64_t allowance = kFirstLevel * static_cast<std::int64_t>(problem_.count());
      while (search_level(allowance)) allowance *= 2;
    }
    if (options_.effort > 0 && answer_.outcome != BudgetOutcome::found && can_search_) find_lowest();
    if (best_.empty() && !can_search_) {
      answer_.cost = 0;
      answer_.peak = {};
    }
    answer_.runs.clear();
    for (RunProblem::Index node : best_) answer_.runs.emplace_back(node);
    return std::move(answer_);
  }

 private:
  [[nodiscard]] bool is_done() const { return answer_.is_optimal() || answer_.outcome == BudgetOutcome::infeasible; }
  [[nodiscard]] bool is_over() const {
    return left_ <= 0 || is_done() || (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed));
  }

  void refuse_outputs() {
    std::vector<NodeId> outputs;
    for (RunProblem::Index node = 0; node < problem_.count(); ++node) {
      if (problem_.is_output[node] != 0) outputs.emplace_back(node);
    }
    answer_.obstruction = InfeasibleProof{.node = std::nullopt, .sets = {}};
    // Without outputs, the states alone exceed the budget, and so does any run.
    if (outputs.empty() && !first_.empty()) answer_.obstruction->node = NodeId(first_.front());
    if (!outputs.empty()) answer_.obstruction->sets = {std::move(outputs)};
    answer_.outcome = BudgetOutcome::infeasible;
  }

  // Takes a sequence if it is better than the best one.
  void note(const Runs& runs) {
    Loads loads = scan_.scan(runs);
    LOWTIDE_CHECK(loads.is_valid, "every sequence that a search finds is valid");
    loads.peak = std::max(loads.peak, at_end_);
    const bool fits = loads.peak <= problem_.budget;
    const bool had = answer_.outcome == BudgetOutcome::found;
    const std::int64_t peak = loads.peak + problem_.state_bytes;
    const bool is_better = fits ? !had || loads.cost < answer_.cost : !had && peak < answer_.peak.count();
    if (!is_better && !best_.empty()) return;
    best_ = runs;
    answer_.cost = loads.cost;
    answer_.peak = Bytes(peak);
    if (fits) answer_.outcome = BudgetOutcome::found;
    report();
  }

  void report() const {
    if (options_.on_improvement) options_.on_improvement(answer_);
  }

  bool is_small_solved() {
    const SmallAnswer small = search_small(problem_, kSmallStates);
    const bool is_infeasible = small.is_complete && !small.runs;
    if (is_infeasible) left_ = std::min(left_, kSmallProof);  // for a proof that others can check
    if (!small.is_complete || is_infeasible) return false;
    note(*small.runs);
    // A bound with a proof is better than the word of the search.
    std::int64_t work = kSmallProof;
    prove(milestones_or_peak(), work);
    if (answer_.cost_bound < answer_.cost) {
      answer_.cost_bound = answer_.cost;
      answer_.bound_kind = CostBoundKind::search;
      answer_.proof.reset();
    }
    return true;
  }

  // Returns whether another level may find more.
  bool search_level(std::int64_t allowance) {
    const bool is_medium = problem_.count() <= kMostMediumNodes;
    if (!is_floor_complete_) spend(allowance / 8, [&](std::int64_t& work) { find_floor(work); });
    if (!are_knapsacks_complete_) spend(allowance / 16, [&](std::int64_t& work) { bound_by_knapsacks(work); });
    const bool has_slots = !problem_.groups().empty();  // runs that no order of first runs has
    if (has_slots)
      is_eviction_complete_ = is_plan_complete_ = is_checkpointing_complete_ = is_rounding_complete_ = true;
    if (!is_checkpointing_complete_) spend(allowance / 16, [&](std::int64_t& work) { checkpoint(work); });
    if (floor_ && !is_eviction_complete_) spend(allowance / 8, [&](std::int64_t& work) { evict(work); });
    if (is_medium) {
      if (!is_plan_complete_) spend(allowance / 16, [&](std::int64_t& work) { plan_reruns(work); });
      if (!is_rounding_complete_ && starts_.empty()) spend(allowance / 16, [&](std::int64_t& work) { round(work); });
      spend(allowance / 16, [&](std::int64_t& work) { prove(milestones_or_peak(), work); });
      spend(allowance / 16, [&](std::int64_t& work) { prove(tight_milestones(best_), work); });
      anneal(allowance - allowance / 4);
    }
    return !is_over() && (is_medium || !is_floor_complete_ || !are_knapsacks_complete_ || !is_checkpointing_complete_ ||
                          !is_eviction_complete_);
  }

  template <typename Part>
  void spend(std::int64_t allowance, Part part) {
    if (left_ < allowance) left_ = 0;
    if (is_over()) return;
    std::int64_t work = allowance;
    part(work);
    left_ -= allowance - work;
  }

  void find_floor(std::int64_t& work) {
    floor_.emplace(problem_, order_, work);
    is_eviction_complete_ = false;
    is_floor_complete_ = work >= 0;
    if (floor_->bound() > problem_.budget) answer_.obstruction = floor_->proof();
    // The search for an obstruction begins with the nodes that need most alone, and they are the plainest proof.
    if (answer_.obstruction || !floor_->is_reached()) {
      std::int64_t share = std::max<std::int64_t>(work, 0);
      std::optional<InfeasibleProof> plain = find_obstruction(problem_, share);
      if (plain) answer_.obstruction = std::move(plain);
      is_floor_complete_ = is_floor_complete_ && share >= 0;
      work = std::min(work, share);
    }
    if (answer_.obstruction) answer_.outcome = BudgetOutcome::infeasible;
  }

  // Milestones where the order has the most live bytes.
  void bound_by_knapsacks(std::int64_t& work) {
    for (RunProblem::Index milestone : tight_milestones(first_)) {
      if (work <= 0) return;
      take(knapsack_bound(problem_, milestone, work));
    }
    are_knapsacks_complete_ = true;
  }

  // Checkpointing's own sequences. Reruns for which there is space are removed.
  void checkpoint(std::int64_t& work) {
    if (!checkpoints_) checkpoints_.emplace(problem_, order_);
    while (work > 0 && !is_done()) {
      const std::optional<Runs> runs = checkpoints_->next(work);
      is_checkpointing_complete_ = !runs;
      if (!runs) return;
      const Loads loads = scan_.scan(*runs);
      if (!loads.is_valid) continue;
      note(*runs);
      if (loads.peak <= problem_.budget) note(retain_outputs(problem_, *runs, work));
    }
  }

  // Sequences by eviction with different rules. Then reruns for which there is space are removed.
  void evict(std::int64_t& work) {
    for (bool keeps_once : {true, false}) {
      for (bool uses_distance : {true, false}) {
        for (int chain_quarters : {4, 1, 0, 16}) {
          if (is_done() || work <= 0) return;
          const EvictionRule rule{
              .chain_quarters = chain_quarters, .uses_distance = uses_distance, .keeps_once = keeps_once};
          note_evicted(evict_along(problem_, order_, rule, *floor_, work), work);
        }
      }
      if (problem_.is_free()) break;
    }
    is_eviction_complete_ = work > 0;
  }

  // With rules, eviction may need a node where it must not run again.
  void note_evicted(const std::optional<Runs>& runs, std::int64_t& work) {
    if (!runs || (!problem_.is_free() && !scan_.scan(*runs).is_valid)) return;
    if (problem_.has_seeds()) note(*runs);
    note(retain_outputs(problem_, *runs, work));
  }

  // Nothing keeps the budget, so the sequence with the lowest peak is the answer.
  void find_lowest() {
    if (!problem_.groups().empty() || order_.empty() || (options_.stop != nullptr && options_.stop->load())) return;
    std::int64_t work = std::min(
        {options_.effort / kLowestShare, kMostLowestWork, kLowestWork * static_cast<std::int64_t>(problem_.count())});
    std::int64_t share = floor_ ? 0 : work / 4;  // a search for the floor might need all
    work -= share;
    if (!floor_) floor_.emplace(problem_, order_, share);
    best_ = find_lowest_peak(problem_, *floor_, {order_, best_}, work, options_.stop);
    const Loads loads = scan_.scan(best_);
    answer_.cost = loads.cost;
    answer_.peak = Bytes(std::max(loads.peak, at_end_) + problem_.state_bytes);
    if (answer_.peak.count() - problem_.state_bytes <= problem_.budget) answer_.outcome = BudgetOutcome::found;
  }

  // Plans by rounding. Those of plan_reruns() are better starts if there are any.
  void round(std::int64_t& work) {
    const std::int64_t allowance = work;
    const std::vector<Runs> plans = round_phases(problem_, order_, work, options_.stop);
    for (const Runs& plan : plans) {
      note(plan);
      note(retain_outputs(problem_, plan, work));
    }
    if (!plans.empty()) rounded_ = plans.front();
    is_rounding_complete_ = work > allowance / 2;
  }

  void plan_reruns(std::int64_t& work) {
    const std::int64_t allowance = work;
    PhasePlans plans = plan_phases(problem_, order_, work, options_.stop);
    // Each linear program may use a quarter of what is left, so none of them was cut.
    is_plan_complete_ = plans.best && work > allowance - allowance / 4;
    if (plans.tried.empty()) return;
    milestones_ = std::move(plans.milestones);
    starts_ = std::move(plans.tried);
    if (plans.best) note(*plans.best);
  }

  // Rounds from different sequences, at different heats. The one of the phases is above the budget, but cheap. Weights
  // find sequences within the budget. Without them, long rounds find cheaper ones, and so they do where branching has
  // found a plan.
  void anneal(std::int64_t allowance) {
    const bool may_weigh = starts_.empty() && allowance <= kMostWeighed * static_cast<std::int64_t>(problem_.count());
    const std::int64_t length = allowance / static_cast<std::int64_t>(kRounds.size());
    for (const Round& round : kRounds) {
      if (is_over()) return;
      const bool is_found = answer_.outcome == BudgetOutcome::found;
      const Runs& phases = !starts_.empty() ? starts_.back() : !rounded_.empty() ? rounded_ : first_;
      const Runs& start = round.start == Start::phases             ? phases
                          : round.start == Start::best && is_found ? best_
                                                                   : first_;
      const Cooling cooling{.hottest = round.heat,
                            .coldest = kCold,
                            .goal = answer_.cost_bound,
                            .length = std::max<std::int64_t>(length, 1),
                            .weighs = !is_found || (may_weigh && round.weighs)};
      annealing_.cool(start, cooling, left_);
      const Annealed& found = annealing_.found();
      if (found.best) note(*found.best);
      if (!found.lowest.empty()) note(found.lowest);
    }
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
    return {first_[scan_.scan(first_).peak_at]};
  }

  void prove(const Runs& milestones, std::int64_t& work) {
    const std::int64_t limit =
        answer_.outcome == BudgetOutcome::found ? answer_.cost - answer_.base_cost : kMaxTotalCost;
    take(bound_phases(problem_, milestones, limit, work, options_.stop));
  }

  void take(std::optional<PhaseBound> bound) {
    if (!bound || answer_.base_cost + bound->extra <= answer_.cost_bound) return;
    answer_.cost_bound = answer_.base_cost + bound->extra;
    answer_.bound_kind = CostBoundKind::milestones;
    answer_.proof = std::move(bound->proof);
    report();
  }

  enum class Start : std::uint8_t { order, phases, best };
  struct Round {
    Start start;
    double heat;  // in units of the mean cost of a run
    bool weighs;
  };
  static constexpr std::array<Round, 7> kRounds = {{{Start::order, 1, false},
                                                    {Start::best, 0.02, true},
                                                    {Start::order, 1, false},
                                                    {Start::best, 0.05, true},
                                                    {Start::phases, 0.5, true},
                                                    {Start::order, 1, true},
                                                    {Start::best, 0.02, false}}};
  static constexpr double kCold = 0.005;
  static constexpr std::size_t kMostTight = 32;

  RunProblem problem_;
  Runs first_;  // the given order, with the rules of the problem
  Runs order_;  // the first runs in it
  const RematerializeOptions& options_;
  std::int64_t left_;  // of the effort
  LoadScan scan_;
  Annealing annealing_;
  BudgetAnswer answer_;
  std::int64_t at_end_ = 0;  // live bytes after the last run: those of all outputs
  Runs best_;
  Runs milestones_;
  std::vector<Runs> starts_;
  Runs rounded_;
  std::optional<CheckpointSequences> checkpoints_;
  std::optional<FloorSearch> floor_;
  bool can_search_ = true;
  bool is_floor_complete_ = false;
  bool are_knapsacks_complete_ = false;
  bool is_checkpointing_complete_ = false;
  bool is_eviction_complete_ = false;
  bool is_rounding_complete_ = false;
  bool is_plan_complete_ = false;
};

}  // namespace
}  // namespace budget_internal

BudgetAnswer rematerialize(const BudgetProblem& problem, const std::vector<NodeId>& order,
                           const RematerializeOptions& options) {
  budget_internal::Runs runs;
  for (NodeId node : order) runs.push_back(node.value());
  return budget_internal::Search(problem, runs, options).solve();
}

BudgetFloor bound_budgets(const BudgetProblem& problem, const std::vector<NodeId>& order,
                          const RematerializeOptions& options) {
  budget_internal::Runs runs;
  for (NodeId node : order) runs.push_back(node.value());
  std::int64_t work = options.effort;
  const budget_internal::RunProblem plain(problem);
  runs = budget_internal::first_runs(plain, budget_internal::first_sequence(plain, runs));
  const budget_internal::FloorSearch floor(plain, runs, work);
  BudgetFloor found{.bytes = Bytes(floor.bound() + plain.state_bytes), .proof = floor.proof()};
  // The states alone exceed a smaller budget, so any run does.
  if (!found.proof && plain.state_bytes > 0 && !order.empty()) found.proof = {.node = order.front(), .sets = {}};
  return found;
}

}  // namespace lowtide
