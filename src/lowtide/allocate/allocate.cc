// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/best_fit.h"
#include "lowtide/allocate/compressed.h"
#include "lowtide/allocate/conflict_graph.h"
#include "lowtide/allocate/descent.h"
#include "lowtide/allocate/effort.h"
#include "lowtide/allocate/ejection.h"
#include "lowtide/allocate/load_bound.h"
#include "lowtide/allocate/orders.h"
#include "lowtide/allocate/placer.h"
#include "lowtide/allocate/sections.h"
#include "lowtide/allocate/validate.h"
#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

// A graph of 16 million pairs takes 128 MB; beyond it, the index over time serves the few orders that there is time for.
constexpr std::int64_t kMostGraphPairs = 16'000'000;

// One descent from nothing to a whole packing looks at every section for every buffer; where that is more than this, few
// would be made and none of them repeated.
constexpr std::int64_t kMostSearched = 4'000'000;

struct GreedyStrategy {
  std::string_view name;
  std::vector<PackingId> (*order)(const CompressedProblem&);
  GapRule rule;
};

// Lowest gap before tightest: on hard problems it wins more often. Size before the others for the same reason, and
// because a problem with many pairs may leave effort for one.
constexpr std::array<GreedyStrategy, 9> kGreedyStrategies = {{
    {"greedy_by_size", greedy_by_size, GapRule::lowest},
    {"greedy_by_size_tightest", greedy_by_size, GapRule::tightest},
    {"greedy_by_breadth", greedy_by_breadth, GapRule::lowest},
    {"greedy_by_breadth_tightest", greedy_by_breadth, GapRule::tightest},
    {"greedy_by_breadth_last_end_tightest", greedy_by_breadth_last_end, GapRule::tightest},
    {"greedy_by_lifespan", greedy_by_lifespan, GapRule::lowest},
    {"greedy_by_lifespan_tightest", greedy_by_lifespan, GapRule::tightest},
    {"greedy_by_area", greedy_by_area, GapRule::lowest},
    {"greedy_by_area_tightest", greedy_by_area, GapRule::tightest},
}};

// When there is nothing left to gain: the capacity holds everything, if one is asked for; else the bound is met. Offsets
// are multiples of the smallest alignment, and so is what an arena is made of: a height that reaches into the same unit as
// the bound costs nothing more, and the bytes between them are only the padding of whichever buffer happens to be on top.
class Goal {
 public:
  Goal(const CompressedProblem& problem, std::int64_t bound, std::optional<Bytes> capacity)
      : bound_(bound), unit_(limits::kMaxAlignment) {
    for (const CompressedProblem::Buffer& buffer : problem.buffers) unit_ = std::min(unit_, buffer.alignment);
    if (capacity) {
      has_capacity_ = true;
      capacity_ = capacity->count();
    }
  }
  [[nodiscard]] bool is_met(const Placements& placements) const {
    if (has_capacity_ && bound_ <= capacity_) return placements.height <= capacity_;
    return (placements.height + unit_ - 1) / unit_ <= (bound_ + unit_ - 1) / unit_;
  }
  [[nodiscard]] bool asks_for_capacity() const { return has_capacity_; }
  // Nothing fits: the lowest height is of little use then, and not worth a search.
  [[nodiscard]] bool is_out_of_reach() const { return has_capacity_ && bound_ > capacity_; }
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  // The height to search for.
  [[nodiscard]] std::int64_t target() const { return std::max(bound_, capacity_); }
  // A search has shown more than the load does.
  void raise(std::int64_t bound) { bound_ = std::max(bound_, bound); }

 private:
  std::int64_t bound_;
  std::int64_t unit_;
  bool has_capacity_ = false;
  std::int64_t capacity_ = 0;
};

struct Best {
  Placements placements;
  std::string_view strategy;
  std::int64_t decisions = 0;  // of the exact search
};

// Tries each order until one meets the goal or the effort ends.
void try_greedy_orders(const CompressedProblem& problem, const ConflictGraph* graph, std::int64_t pairs,
                       const Goal& goal, Best& best, Effort& effort) {
  Placer placer(problem, graph);
  for (const GreedyStrategy& strategy : kGreedyStrategies) {
    // Every pair is looked at once at least: without effort for that it would be abandoned half-way.
    if (goal.is_met(best.placements) || effort.left() < pairs || effort.spent > effort.limit / 4) return;
    std::optional<Placements> placements = place_in_order(placer, strategy.order(problem), strategy.rule, effort);
    if (!placements) return;
    if (placements->height < best.placements.height) {
      best = {.placements = *std::move(placements), .strategy = strategy.name};
    }
  }
}

bool is_small_enough(const SectionedProblem& sections) {
  return static_cast<std::int64_t>(sections.buffers.size()) * sections.sections <= kMostSearched;
}

// The searches take turns, with shares that double: which of them gains more differs from problem to problem, and neither
// has a natural end.
void search_lower(const CompressedProblem& problem, const ConflictGraph* graph, Goal& goal, Best& best,
                  Effort& effort) {
  const std::optional<SectionedProblem> sections = sectioned(problem);
  std::optional<Descent> descent;
  if (sections && is_small_enough(*sections)) {
    descent.emplace(problem, *sections, goal.bound(), goal.target());
  }
  const auto with_share = [&](std::int64_t limit, std::string_view strategy, auto&& search) {
    if (goal.is_met(best.placements) || goal.is_out_of_reach()) return;
    Effort share{.limit = std::min(limit, effort.left())};
    if (search(share)) best.strategy = strategy;
    if (descent) goal.raise(descent->bound());
    if (descent) best.decisions = descent->nodes();
    // A turn that gives up at once costs something too: else one that can do nothing would be asked without end.
    effort.spend(std::max(share.spent, limit / 8));
  };
  if (descent) {
    with_share(effort.limit / 4, "search", [&](Effort& share) { return descent->try_lowest(best.placements, share); });
  }
  std::uint64_t seed = 0;
  for (std::int64_t limit = effort.limit / 16; !goal.is_met(best.placements) && !effort.exhausted(); limit *= 2) {
    if (goal.is_out_of_reach()) return;
    with_share(limit, "ejection", [&](Effort& share) {
      return lower_by_ejection(problem, graph, goal.target(), ++seed, best.placements, share);
    });
    if (descent) {
      with_share(limit, "search", [&](Effort& share) {
        bool is_lower = false;
        while (!goal.is_met(best.placements) && !goal.is_out_of_reach() && !share.exhausted()) {
          is_lower = descent->step(best.placements, share) || is_lower;
          goal.raise(descent->bound());
        }
        return is_lower;
      });
    }
  }
}

// The bytes between the bound and the best, where they lie in one unit: the padding of what is on top. A small share of the
// effort, since nobody misses them but who wants to know the least height.
void lower_within_unit(const CompressedProblem& problem, Goal& goal, Best& best, Effort& effort) {
  if (best.placements.height == goal.bound() || goal.asks_for_capacity() || !goal.is_met(best.placements)) return;
  const std::optional<SectionedProblem> sections = sectioned(problem);
  if (!sections || !is_small_enough(*sections)) return;
  Descent descent(problem, *sections, goal.bound(), goal.bound());
  Effort share{.limit = std::min(effort.limit / 16, effort.left())};
  bool is_lower = descent.try_lowest(best.placements, share);
  while (best.placements.height > descent.bound() && !share.exhausted()) {
    is_lower = descent.step(best.placements, share) || is_lower;
  }
  if (is_lower) best.strategy = "search";
  best.decisions += descent.nodes();
  goal.raise(descent.bound());
}

Best find_placements(const CompressedProblem& problem, Goal& goal, Effort& effort) {
  // First the one that needs no pairs: it answers for any size, and on most networks it meets the bound.
  Best best{.placements = best_fit(problem, effort), .strategy = "best_fit"};
  if (goal.is_met(best.placements)) {
    lower_within_unit(problem, goal, best, effort);
    return best;
  }

  // The orders and the search ask for the same conflicts again and again: kept where they fit.
  const std::int64_t pairs = count_meeting_pairs(problem);
  std::optional<ConflictGraph> graph;
  if (pairs <= kMostGraphPairs && pairs <= effort.left()) graph = conflict_graph(problem, effort);

  try_greedy_orders(problem, graph ? &*graph : nullptr, pairs, goal, best, effort);
  if (!goal.is_met(best.placements)) search_lower(problem, graph ? &*graph : nullptr, goal, best, effort);
  lower_within_unit(problem, goal, best, effort);
  return best;
}

PackingOutcome outcome_of(const Packing& packing, std::optional<Bytes> capacity) {
  if (!capacity || packing.height <= *capacity) return PackingOutcome::found;
  return packing.bound > *capacity ? PackingOutcome::infeasible : PackingOutcome::not_found;
}

}  // namespace

Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(validate_packing_problem(problem));
  const CompressedProblem compressed = compress(problem);
  const HeightBound bound = height_bound(compressed);

  Effort effort{.limit = options.effort};
  Goal goal(compressed, bound.height, problem.capacity);
  const Best best = find_placements(compressed, goal, effort);
  LOWTIDE_CHECK(best.placements.height >= goal.bound(), "no packing is lower than the bound");

  Packing packing;
  packing.offsets.reserve(problem.buffers.size());
  for (std::int64_t offset : best.placements.offsets) packing.offsets.push_back(Offset(offset));
  packing.height = Bytes(best.placements.height);
  packing.bound = Bytes(goal.bound());
  packing.proven_optimal = best.placements.height == goal.bound();
  packing.strategy = best.strategy;
  packing.is_bound_searched = goal.bound() > bound.height;
  packing.decisions = best.decisions;
  if (!problem.buffers.empty()) packing.witness_time = compressed.times[bound.witness];
  packing.outcome = outcome_of(packing, problem.capacity);
  return packing;
}

}  // namespace lowtide
