// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/portfolio.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/greedy/placer.h"
#include "lowtide/allocate/improve/ejection.h"
#include "lowtide/base/parallel.h"

namespace lowtide {
namespace {

// A graph takes 8 bytes a pair. For problems of up to kManyBuffers it may take 128 MB, for larger ones 100 bytes a
// buffer; beyond that, the index over time serves the few orders that there is time for.
constexpr std::int64_t kMostGraphPairs = 16'000'000;
constexpr std::size_t kManyBuffers = 50'000;
constexpr std::int64_t kMostPairsABuffer = 12;

// Effort of the first phase, and of the bytes within a unit.
constexpr std::int64_t kFirstPhase = 500'000;
constexpr std::int64_t kWithinUnit = 12'000'000;
constexpr std::int64_t kLastPhase = std::int64_t{1} << 60;  // nobody waits for it

// More of a phase than this and a little is not spent on the target: if it is not found soon, it is hard or not there.
constexpr std::int64_t kAtTarget = 4'000'000;

// Intervals as sets: a decision costs ten times as much, and begins to pay where others have tried for long.
constexpr std::int64_t kFirstWithSets = 200'000'000;

struct GreedyStrategy {
  std::string_view name;
  std::vector<PackingId> (*order)(const CompressedProblem&);
  GapRule rule;
};

// Lowest gap before tightest: on hard problems it wins more often. The first two before the others for the same reason,
// and because a problem with many pairs may leave effort for one.
constexpr std::array<GreedyStrategy, 9> kGreedyStrategies = {{
    {"greedy_by_breadth_last_end_tightest", greedy_by_breadth_last_end, GapRule::tightest},
    {"greedy_by_size", greedy_by_size, GapRule::lowest},
    {"greedy_by_breadth", greedy_by_breadth, GapRule::lowest},
    {"greedy_by_size_tightest", greedy_by_size, GapRule::tightest},
    {"greedy_by_breadth_tightest", greedy_by_breadth, GapRule::tightest},
    {"greedy_by_lifespan", greedy_by_lifespan, GapRule::lowest},
    {"greedy_by_lifespan_tightest", greedy_by_lifespan, GapRule::tightest},
    {"greedy_by_area", greedy_by_area, GapRule::lowest},
    {"greedy_by_area_tightest", greedy_by_area, GapRule::tightest},
}};

// Where a relation replaces time; greedy_by_size has been tried by then.
constexpr std::array<GreedyStrategy, 3> kStrategiesWithoutTime = {{
    {"greedy_by_neighbours", greedy_by_neighbours, GapRule::lowest},
    {"greedy_by_size_tightest", greedy_by_size, GapRule::tightest},
    {"greedy_by_neighbours_tightest", greedy_by_neighbours, GapRule::tightest},
}};

std::span<const GreedyStrategy> strategies_for(const CompressedProblem& problem) {
  if (problem.times.empty()) return kStrategiesWithoutTime;
  return kGreedyStrategies;
}

bool is_worth_a_graph(const CompressedProblem& problem, std::int64_t pairs) {
  const std::size_t buffers = problem.movable.size() + problem.fixed.size();
  if (buffers <= kManyBuffers) return pairs <= kMostGraphPairs;
  return pairs <= kMostPairsABuffer * static_cast<std::int64_t>(buffers);
}

}  // namespace

Portfolio::Portfolio(const CompressedProblem& problem, NamedConflicts named, Goal& goal, Incumbent& best,
                     Effort& effort, int threads, Tiering tiering)
    : problem_(problem),
      goal_(goal),
      best_(best),
      effort_(effort),
      threads_(threads),
      tiering_(tiering),
      graph_(std::move(named.graph)),
      cover_(std::move(named.cover)) {}

void Portfolio::run() {
  if (is_over()) return;
  prepare();
  const std::int64_t first = std::max(kFirstPhase, 4 * pairs_);
  for (std::int64_t limit = first; !is_over() && limit < kLastPhase; limit *= 2) {
    run_phase(limit);
    // Where all strategies give up early, effort alone does not end it.
    if (goal_.is_out_of_reach() || limit / 8 > effort_.limit) return;
  }
}

// The orders and the searches ask for the same conflicts again and again: kept where they fit.
void Portfolio::prepare() {
  pairs_ = count_meeting_pairs(problem_);
  if (!graph_ && is_worth_a_graph(problem_, pairs_)) graph_ = conflict_graph(problem_, effort_);
  if (task() != nullptr) descent_.emplace(problem_, *task(), goal_.bound(), goal_.target(), threads_);
}

const SearchTask* Portfolio::task() {
  if (!exact_) exact_.emplace(problem_, std::move(cover_), effort_);
  return exact_->task();
}

void Portfolio::run_phase(std::int64_t limit) {
  try_greedy_orders(next_order_ > 0 ? limit / 8 : graph_ ? limit / 2 : limit / 4);
  search_target(limit);
  try_tiers(limit / 2);
  eject(descent_ ? limit / 4 : limit);
  search_between(limit / 2);
}

// As if one came after the other, until one meets the goal; with threads, the later ones may run in vain.
void Portfolio::try_greedy_orders(std::int64_t limit) {
  const std::span<const GreedyStrategy> strategies = strategies_for(problem_);
  const std::size_t most = static_cast<std::size_t>(limit / std::max<std::int64_t>(pairs_, 1));
  const std::size_t count = std::min(std::max<std::size_t>(most, 1), strategies.size() - next_order_);
  const std::size_t at_once = threads_ > 1 ? count : 1;
  for (std::size_t done = 0; done < count && !is_over(); done += at_once) {
    std::vector<std::optional<Placements>> found(at_once);
    std::vector<Effort> efforts(at_once, effort_.share(effort_.limit));
    for_each_in_parallel(at_once, threads_, [&](std::size_t at) {
      const GreedyStrategy& strategy = strategies[next_order_ + at];
      Placer placer(problem_, graph_ ? &*graph_ : nullptr);
      found[at] = place_in_order(placer, strategy.order(problem_), strategy.rule, efforts[at]);
    });
    for (std::size_t at = 0; at < at_once && !is_over(); ++at) {
      const std::string_view name = strategies[next_order_++].name;
      const bool is_cut = !found[at] || efforts[at].spent > effort_.left();
      effort_.spend(efforts[at].spent);
      if (!is_cut) best_.offer(*std::move(found[at]), name);
    }
  }
}

void Portfolio::try_tiers(std::int64_t limit) {
  if (is_over() || tiering_ == Tiering::off || goal_.is_out_of_reach()) return;
  if (!tiers_) tiers_.emplace(problem_, graph_ ? &*graph_ : nullptr, goal_, threads_);
  tiers_->lower(best_, limit, effort_);
}

void Portfolio::eject(std::int64_t limit) {
  // Without a graph, ejection finds neighbours by time, which knows nothing of pairs.
  if (is_over() || (!graph_ && !problem_.pairs.empty())) return;
  Effort share = effort_.share(limit);
  (void)lower_by_ejection(problem_, graph_ ? &*graph_ : nullptr, goal_.target(), ++seed_, best_, share);
  effort_.spend(share.spent);
}

// The two exact searches see different things in intervals, and each solves problems on which the other one is lost.
// The one over sets looks at more for each decision: it comes second.
void Portfolio::search_target(std::int64_t limit) {
  search_target(descent_, std::min(limit / 2, kAtTarget + limit / 32));
  if (is_over() || limit < kFirstWithSets) return;
  prepare_sets();
  search_target(sets_descent_, limit / 4);
}

void Portfolio::search_between(std::int64_t limit) { search_between(descent_, limit); }

void Portfolio::prepare_sets() {
  if (sets_ || !exact_ || !exact_->is_of_intervals() || exact_->task() == nullptr) return;
  sets_ = ExactProblem::of_sets(problem_, effort_);
  if (sets_->task() == nullptr) return;
  sets_descent_.emplace(problem_, *sets_->task(), goal_.bound(), goal_.target(), threads_);
}

void Portfolio::search_target(std::optional<Descent>& descent, std::int64_t limit) {
  if (!descent || is_over() || goal_.is_out_of_reach()) return;
  const std::int64_t before = descent->nodes();
  descent->try_target(best_, limit, effort_);
  goal_.raise(descent->bound());
  decisions_ += descent->nodes() - before;
}

void Portfolio::search_between(std::optional<Descent>& descent, std::int64_t limit) {
  if (goal_.asks_for_capacity()) return search_target(descent, limit);
  if (!descent) return;
  const std::int64_t before = descent->nodes();
  const std::int64_t last = effort_.spent + std::min(limit, effort_.left());
  while (!is_over() && effort_.spent < last) {
    descent->step(best_, effort_);
    goal_.raise(descent->bound());
  }
  decisions_ += descent->nodes() - before;
}

void Portfolio::lower_within_unit() {
  if (best_.height() == goal_.bound() || goal_.asks_for_capacity() || !goal_.is_met(best_.height())) return;
  if (task() == nullptr) return;
  Descent descent(problem_, *task(), goal_.bound(), goal_.bound(), threads_);
  descent.try_target(best_, kWithinUnit, effort_);
  goal_.raise(descent.bound());
  decisions_ += descent.nodes();
}

}  // namespace lowtide
