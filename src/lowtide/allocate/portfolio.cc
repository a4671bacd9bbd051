// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/portfolio.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/ejection.h"
#include "lowtide/allocate/orders.h"
#include "lowtide/allocate/placer.h"
#include "lowtide/base/parallel.h"

namespace lowtide {
namespace {

// A graph takes 8 bytes a pair. For problems of up to kManyBuffers it may take 128 MB, for larger ones 100 bytes a buffer;
// beyond that, the index over time serves the few orders that there is time for.
constexpr std::int64_t kMostGraphPairs = 16'000'000;
constexpr std::size_t kManyBuffers = 50'000;
constexpr std::int64_t kMostPairsABuffer = 12;

// One descent from nothing to a whole packing looks at every section for every buffer; where that is more than this, few
// would be made and none of them repeated.
constexpr std::int64_t kMostSearched = 4'000'000;

// Effort of the first phase, and of the bytes within a unit.
constexpr std::int64_t kFirstPhase = 500'000;
constexpr std::int64_t kWithinUnit = 12'000'000;
constexpr std::int64_t kLastPhase = std::int64_t{1} << 60;  // nobody waits for it

// More of a phase than this and a little is not spent on the target: if it is not found soon, it is hard or not there.
constexpr std::int64_t kAtTarget = 4'000'000;

struct GreedyStrategy {
  std::string_view name;
  std::vector<PackingId> (*order)(const CompressedProblem&);
  GapRule rule;
};

// Lowest gap before tightest: on hard problems it wins more often. The first two before the others for the same reason, and
// because a problem with many pairs may leave effort for one.
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

bool is_small_enough(const SectionedProblem& sections) {
  return static_cast<std::int64_t>(sections.buffers.size()) * sections.sections <= kMostSearched;
}

bool is_worth_a_graph(const CompressedProblem& problem, std::int64_t pairs) {
  const std::size_t buffers = problem.movable.size() + problem.fixed.size();
  if (buffers <= kManyBuffers) return pairs <= kMostGraphPairs;
  return pairs <= kMostPairsABuffer * static_cast<std::int64_t>(buffers);
}

}  // namespace

Portfolio::Portfolio(const CompressedProblem& problem, Goal& goal, Incumbent& best, Effort& effort, int threads)
    : problem_(problem), goal_(goal), best_(best), effort_(effort), threads_(threads) {}

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
  if (is_worth_a_graph(problem_, pairs_)) graph_ = conflict_graph(problem_, effort_);
  sections_ = sectioned(problem_);
  if (sections_ && is_small_enough(*sections_)) {
    descent_.emplace(problem_, *sections_, goal_.bound(), goal_.target(), threads_);
  }
}

void Portfolio::run_phase(std::int64_t limit) {
  try_greedy_orders(next_order_ > 0 ? limit / 8 : graph_ ? limit / 2 : limit / 4);
  search_target(std::min(limit / 2, kAtTarget + limit / 32));
  eject(descent_ ? limit / 4 : limit);
  search_between(limit / 2);
}

// As if one came after the other, until one meets the goal; with threads, the later ones may run in vain.
void Portfolio::try_greedy_orders(std::int64_t limit) {
  const std::size_t most = static_cast<std::size_t>(limit / std::max<std::int64_t>(pairs_, 1));
  const std::size_t count = std::min(std::max<std::size_t>(most, 1), kGreedyStrategies.size() - next_order_);
  const std::size_t at_once = threads_ > 1 ? count : 1;
  for (std::size_t done = 0; done < count && !is_over(); done += at_once) {
    std::vector<std::optional<Placements>> found(at_once);
    std::vector<Effort> efforts(at_once, effort_.share(effort_.limit));
    for_each_in_parallel(at_once, threads_, [&](std::size_t at) {
      const GreedyStrategy& strategy = kGreedyStrategies[next_order_ + at];
      Placer placer(problem_, graph_ ? &*graph_ : nullptr);
      found[at] = place_in_order(placer, strategy.order(problem_), strategy.rule, efforts[at]);
    });
    for (std::size_t at = 0; at < at_once && !is_over(); ++at) {
      const std::string_view name = kGreedyStrategies[next_order_++].name;
      const bool is_cut = !found[at] || efforts[at].spent > effort_.left();
      effort_.spend(efforts[at].spent);
      if (!is_cut) best_.offer(*std::move(found[at]), name);
    }
  }
}

void Portfolio::eject(std::int64_t limit) {
  if (is_over()) return;
  Effort share = effort_.share(limit);
  (void)lower_by_ejection(problem_, graph_ ? &*graph_ : nullptr, goal_.target(), ++seed_, best_, share);
  effort_.spend(share.spent);
}

void Portfolio::search_target(std::int64_t limit) {
  if (!descent_ || is_over() || goal_.is_out_of_reach()) return;
  descent_->try_target(best_, limit, effort_);
  goal_.raise(descent_->bound());
  decisions_ = descent_->nodes();
}

void Portfolio::search_between(std::int64_t limit) {
  if (goal_.asks_for_capacity()) return search_target(limit);
  if (!descent_) return;
  const std::int64_t last = effort_.spent + std::min(limit, effort_.left());
  while (!is_over() && effort_.spent < last) {
    descent_->step(best_, effort_);
    goal_.raise(descent_->bound());
  }
  decisions_ = descent_->nodes();
}

void Portfolio::lower_within_unit() {
  if (best_.height() == goal_.bound() || goal_.asks_for_capacity() || !goal_.is_met(best_.height())) return;
  if (!sections_) sections_ = sectioned(problem_);
  if (!sections_ || !is_small_enough(*sections_)) return;
  Descent descent(problem_, *sections_, goal_.bound(), goal_.bound(), threads_);
  descent.try_target(best_, kWithinUnit, effort_);
  goal_.raise(descent.bound());
  decisions_ += descent.nodes();
}

}  // namespace lowtide
