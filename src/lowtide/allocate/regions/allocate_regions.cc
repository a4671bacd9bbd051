// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/phases.h"
#include "lowtide/allocate/regions/region_bound.h"
#include "lowtide/allocate/regions/region_candidates.h"
#include "lowtide/allocate/regions/region_choice.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/allocate/regions/region_packer.h"
#include "lowtide/allocate/regions/region_search.h"
#include "lowtide/allocate/regions/region_sweep.h"
#include "lowtide/allocate/regions/validate_regions.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

// A choice with offsets for the regions that have capacities.
struct Answer {
  std::vector<std::uint8_t> region;  // of each item
  std::vector<PackedRegion> packed;  // by region; empty without capacity
  LevelCost cost;
  std::string strategy;
};

class RegionAllocation {
 public:
  RegionAllocation(const RegionProblem& problem, const RegionModel& model, const RegionOptions& options)
      : problem_(problem),
        model_(model),
        options_(options),
        effort_{.limit = options.effort, .stop = options.stop},
        packer_(problem, model, effort_, options.threads) {}

  Result<RegionPacking> run() {
    for (std::size_t level = 0; level < model_.levels(); ++level) bounds_.emplace_back(model_, level);
    witness_ = model_.overload();
    candidates_ = collect_candidates(model_, bounds_, effort_);
    if (witness_) {
      for (const RegionCandidate& candidate : candidates_) commit(candidate, first_limit());
    } else {
      run_strategies();
    }
    RegionPacking out = finish();
    if (packer_.error()) return *packer_.error();
    return out;
  }

 private:
  // One row of the table of strategies. Each spends some multiple of the phase's limit, which is that of one
  // packing.
  struct StrategyRow {
    std::string_view name;
    std::string_view does;
    void (RegionAllocation::*run)(std::int64_t limit);
  };
  static const StrategyRow kStrategies[4];

  void run_strategies();
  [[nodiscard]] std::int64_t first_limit() const {
    return std::max(tuning::kRegionFirstLimit,
                    tuning::kRegionLimitPerBuffer * static_cast<std::int64_t>(problem_.packing.buffers.size()));
  }
  [[nodiscard]] RegionCost bound() const {
    RegionCost bound;
    for (const RegionBound& level : bounds_) bound.push_back(level.bound());
    return swept_ ? std::max(bound, model_.as_region_cost(*swept_)) : bound;
  }
  [[nodiscard]] bool is_optimal() const {
    return best_ && (is_searched_ || model_.as_region_cost(best_->cost) <= bound());
  }
  [[nodiscard]] bool is_over() const { return is_optimal() || is_searched_ || effort_.exhausted() || packer_.error(); }
  [[nodiscard]] std::vector<std::size_t> items_in(std::size_t region, const std::vector<std::uint8_t>& of) const {
    std::vector<std::size_t> items;
    for (std::size_t item = 0; item < of.size(); ++item) {
      if (of[item] == region) items.push_back(item);
    }
    return items;
  }

  void commit_candidates(std::int64_t limit);
  bool commit(const RegionCandidate& candidate, std::int64_t limit);
  void move_above(RegionChoice& choice, PackedRegion& packed, std::size_t region, std::span<const std::size_t> items,
                  std::int64_t limit);
  void keep_attempt(const RegionCandidate& candidate, RegionChoice choice, std::vector<PackedRegion> packed);
  bool offer(Answer answer);
  void move_with_offsets(std::int64_t limit);
  void sweep(std::int64_t limit);
  void search(std::int64_t limit);
  void lower_heights(Answer& answer);
  [[nodiscard]] RegionPacking finish();

  const RegionProblem& problem_;
  const RegionModel& model_;
  const RegionOptions& options_;
  Effort effort_;
  RegionPacker packer_;
  std::vector<RegionBound> bounds_;
  std::vector<RegionCandidate> candidates_;  // complete choices before others, then the cheapest first
  std::optional<RegionWitness> witness_;
  std::optional<Answer> best_;
  std::optional<Answer> attempt_;  // what comes nearest while nothing fits
  Bytes attempt_excess_;
  std::optional<LevelCost> swept_;  // no choice whose loads fit costs less
  std::optional<RegionSearch> search_;
  bool is_searched_ = false;
  std::int64_t decisions_ = 0;
};

bool RegionAllocation::offer(Answer answer) {
  if (best_ && best_->cost <= answer.cost) return false;
  best_ = std::move(answer);
  return true;
}

// Items that end above the capacity go to the next region with enough space, the one with the most weight first, or
// stay unassigned. Then promotable items fill the gaps that they leave.
void RegionAllocation::move_above(RegionChoice& choice, PackedRegion& packed, std::size_t region,
                                  std::span<const std::size_t> items, std::int64_t limit) {
  const std::int64_t capacity = problem_.regions[RegionId(static_cast<std::uint32_t>(region))].capacity->count();
  Flags<PackingId> is_above(problem_.packing.buffers.size());
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    const PackingId id = packed.ids[at];
    if ((packed.offsets[at] + problem_.packing.buffers[id].size).position() > capacity) is_above.set(id);
  }
  std::vector<std::size_t> leaving;
  for (std::size_t item : items) {
    const std::span<const PackingId> members = model_.members_of(item);
    if (std::none_of(members.begin(), members.end(), [&](PackingId id) { return is_above.test(id); })) continue;
    for (PackingId id : members) is_above.set(id);  // a group goes together
    leaving.push_back(item);
  }
  PackedRegion kept{
      .outcome = PackingOutcome::found, .ids = {}, .offsets = {}, .height = Bytes(0), .strategy = packed.strategy};
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    if (is_above.test(packed.ids[at])) continue;
    kept.ids.push_back(packed.ids[at]);
    kept.offsets.push_back(packed.offsets[at]);
    const Offset end = packed.offsets[at] + problem_.packing.buffers[packed.ids[at]].size;
    kept.height = std::max(kept.height, Bytes(end.position()));
  }
  packed = std::move(kept);
  std::stable_sort(leaving.begin(), leaving.end(),
                   [&](std::size_t a, std::size_t b) { return model_.weighted(a) > model_.weighted(b); });
  for (std::size_t item : leaving) choice.take(item);
  for (std::size_t item :
       packer_.fill(region, packed, items_in(region, choice.regions()), promotable(model_, choice, region), limit)) {
    if (choice.region_of(item) != RegionChoice::kNowhere) choice.take(item);
    choice.put(item, region);
  }
  std::erase_if(leaving, [&](std::size_t item) { return choice.region_of(item) == region; });
  for (std::size_t item : leaving) {
    std::size_t target = region + 1;
    while (target < model_.regions() && !choice.fits(item, target)) ++target;
    if (target < model_.regions()) choice.put(item, target);
  }
}

// Offsets for the regions with capacities, in order of preference. True: it fits, and is the best so far.
bool RegionAllocation::commit(const RegionCandidate& candidate, std::int64_t limit) {
  RegionChoice choice = candidate.choice;
  std::vector<PackedRegion> packed(model_.regions());
  for (std::size_t region = 0; region < model_.regions(); ++region) {
    if (!model_.is_bounded(region)) continue;
    const std::vector<std::size_t> items = items_in(region, choice.regions());
    packed[region] = packer_.pack(region, items, limit);
    if (packed[region].outcome != PackingOutcome::found) move_above(choice, packed[region], region, items, limit);
  }
  if (choice.unassigned() == 0) return offer({choice.regions(), std::move(packed), choice.cost(), candidate.strategy});
  if (!best_) keep_attempt(candidate, std::move(choice), std::move(packed));
  return false;
}

// Unassigned items go to the last region that is not forbidden to them, which then ends above its capacity.
void RegionAllocation::keep_attempt(const RegionCandidate& candidate, RegionChoice choice,
                                    std::vector<PackedRegion> packed) {
  Flags<std::size_t> is_over(model_.regions());
  for (std::size_t item = 0; item < model_.items(); ++item) {
    if (choice.region_of(item) != RegionChoice::kNowhere) continue;
    std::size_t target = 0;
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (((model_.not_forbidden(item) >> region) & 1U) == 0) continue;
      target = region;
      if (model_.is_fixed(item)) break;
    }
    choice.put(item, target);
    is_over.set(target);
  }
  Bytes excess;
  for (std::size_t region = 0; region < model_.regions(); ++region) {
    if (!is_over.test(region)) continue;
    packed[region] = packer_.pack_low(region, items_in(region, choice.regions()), first_limit());
    const std::optional<Bytes> capacity = problem_.regions[RegionId(static_cast<std::uint32_t>(region))].capacity;
    if (capacity && packed[region].height > *capacity) excess += packed[region].height - *capacity;
  }
  if (attempt_ && attempt_excess_ <= excess) return;
  attempt_ = Answer{choice.regions(), std::move(packed), choice.cost(), candidate.strategy};
  attempt_excess_ = excess;
}

// Moves from the best answer, each with new offsets for the regions that it concerns.
void RegionAllocation::move_with_offsets(std::int64_t limit) {
  if (!best_) return;
  RegionChoice choice(model_);
  for (std::size_t item = 0; item < model_.items(); ++item) choice.put(item, best_->region[item]);
  Answer now = *best_;
  now.strategy = "moves";
  Effort effort = effort_.share(tuning::kRegionLimitsPerPass * limit);
  const std::int64_t spent_before = effort_.spent;
  std::int64_t spent_on_packing = 0;
  const bool has_improved = improve_by_moves(model_, choice, effort, [&](std::span<const std::size_t> moved) {
    std::vector<PackedRegion> packed(model_.regions());
    Flags<std::size_t> is_concerned(model_.regions());
    for (std::size_t item : moved) {
      is_concerned.set(choice.region_of(item));
      is_concerned.set(now.region[item]);
    }
    bool fits = true;
    for (std::size_t region = 0; region < model_.regions() && fits; ++region) {
      if (!is_concerned.test(region) || !model_.is_bounded(region)) continue;
      packed[region] = packer_.pack(region, items_in(region, choice.regions()), limit);
      fits = packed[region].outcome == PackingOutcome::found;
    }
    effort.spend(effort_.spent - spent_before - spent_on_packing);
    spent_on_packing = effort_.spent - spent_before;
    if (!fits) return false;
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (is_concerned.test(region)) now.packed[region] = std::move(packed[region]);
    }
    now.region = choice.regions();
    return true;
  });
  effort_.spend(effort.spent - spent_on_packing);
  now.cost = choice.cost();
  if (has_improved) offer(std::move(now));
}

// Runs until it has completed once; then loads have nothing more to tell.
void RegionAllocation::sweep(std::int64_t limit) {
  if (swept_) return;
  RegionSweep sweep(model_, bounds_);
  const std::optional<LevelCost> below = best_ ? std::optional(best_->cost) : std::nullopt;
  if (!sweep.run(below, tuning::kRegionLimitsPerPass * limit, effort_)) return;
  if (sweep.best().empty()) {
    swept_ = below;
    is_searched_ = !below;  // no choice at all
    return;
  }
  RegionChoice choice(model_);
  for (std::size_t item = 0; item < model_.items(); ++item) choice.put(item, sweep.best()[item]);
  swept_ = choice.cost();
  commit({choice, "sweep"}, limit);
  add_candidate(candidates_, std::move(choice), "sweep");
}

void RegionAllocation::search(std::int64_t limit) {
  if (model_.items() * model_.regions() * std::max<std::size_t>(model_.levels(), 1) > tuning::kRegionSearchMostSize)
    return;
  if (!search_) search_.emplace(model_, bounds_, packer_, effort_, RegionRules{});
  if (best_) search_->set_best(best_->cost);
  const bool is_complete = search_->run(tuning::kRegionLimitsPerPass * limit, limit);
  decisions_ = search_->decisions();
  if (!search_->best().empty()) {
    RegionCandidate found{RegionChoice(model_), "search"};
    for (std::size_t item = 0; item < model_.items(); ++item) found.choice.put(item, search_->best()[item]);
    const LevelCost cost = found.choice.cost();
    commit(found, limit);
    if (!best_ || best_->cost > cost) return;  // a packing that was found once and is not any more: nothing is proven
  }
  is_searched_ = is_complete;
}

// Those that could still be better than the best. In the first phase all of them are tried, whatever the effort.
void RegionAllocation::commit_candidates(std::int64_t limit) {
  for (const RegionCandidate& candidate : candidates_) {
    if (limit > first_limit() && is_over()) return;
    if (best_ && (candidate.choice.unassigned() > 0 || best_->cost <= candidate.choice.cost())) continue;
    commit(candidate, limit);
    if (is_optimal()) return;
  }
}

const RegionAllocation::StrategyRow RegionAllocation::kStrategies[4] = {
    {"all_preferred, greedy_by_...", "finds offsets for choices that were made by looking at loads",
     &RegionAllocation::commit_candidates},
    {"sweep", "finds the cheapest choice whose loads fit, exactly, and then its offsets", &RegionAllocation::sweep},
    {"moves", "moves and exchanges single buffers, with new offsets for the regions concerned",
     &RegionAllocation::move_with_offsets},
    {"search", "tries all choices, and cuts off those that cannot be cheaper or cannot have offsets",
     &RegionAllocation::search},
};

void RegionAllocation::run_strategies() {
  run_phases({.first = first_limit(), .most_phases = tuning::kRegionMostPhases}, [&](std::int64_t limit) {
    for (const StrategyRow& strategy : kStrategies) {
      (this->*strategy.run)(limit);
      if (is_over()) return false;
    }
    return true;
  });
}

// Heights do not count in the cost, so they come last; regions without capacity get their offsets here.
void RegionAllocation::lower_heights(Answer& answer) {
  for (std::size_t region = 0; region < model_.regions(); ++region) {
    PackedRegion low = packer_.pack_low(region, items_in(region, answer.region), options_.effort);
    if (!model_.is_bounded(region) || low.height < answer.packed[region].height) answer.packed[region] = std::move(low);
  }
}

RegionPacking RegionAllocation::finish() {
  const bool fits = best_.has_value();
  Answer& answer = fits ? *best_ : *attempt_;
  lower_heights(answer);
  RegionPacking out;
  out.outcome = fits                       ? PackingOutcome::found
                : witness_ || is_searched_ ? PackingOutcome::infeasible
                                           : PackingOutcome::not_found;
  out.placements = IdVector<PackingId, Placement>(problem_.packing.buffers.size());
  for (RegionId region : all_ids<RegionId>(model_.regions())) {
    const PackedRegion& packed = answer.packed[region.index()];
    for (std::size_t at = 0; at < packed.ids.size(); ++at)
      out.placements[packed.ids[at]] = {region, packed.offsets[at]};
    out.fills.push_back({packed.height, packed.strategy});
  }
  out.cost = model_.as_region_cost(answer.cost);
  out.bound = fits && is_searched_ ? out.cost : bound();
  LOWTIDE_CHECK(!fits || out.bound <= out.cost, "no packing that fits costs less than the bound");
  out.proven_optimal = fits && out.bound == out.cost;
  out.strategy = answer.strategy;
  out.witness = witness_;
  out.is_bound_searched = is_searched_;
  out.decisions = decisions_;
  return out;
}

}  // namespace
}  // namespace lowtide::allocate_internal

namespace lowtide {

Result<RegionPacking> allocate_regions(const RegionProblem& problem, const RegionOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(allocate_internal::validate_region_problem(problem));
  const Result<allocate_internal::RegionModel> model = allocate_internal::RegionModel::build(problem);
  if (!model) return model.error();
  return allocate_internal::RegionAllocation(problem, *model, options).run();
}

}  // namespace lowtide
