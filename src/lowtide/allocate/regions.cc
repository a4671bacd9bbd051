// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/allocate/effort.h"
#include "lowtide/allocate/region_bound.h"
#include "lowtide/allocate/region_choice.h"
#include "lowtide/allocate/region_model.h"
#include "lowtide/allocate/region_packer.h"
#include "lowtide/allocate/region_search.h"
#include "lowtide/allocate/region_sweep.h"
#include "lowtide/allocate/validate_regions.h"
#include "lowtide/base/check.h"

namespace lowtide {
namespace {

constexpr std::int64_t kFirstLimit = 200'000;     // of the effort of one packing; doubles with each phase
constexpr std::int64_t kLimitPerBuffer = 32;      // so that large problems get through their first strategies
constexpr std::int64_t kLimitsPerPass = 8;        // a pass of moves, or a search, may ask for so many packings in full
constexpr std::int64_t kBoundWork = 30'000'000;   // parts and rows looked at, a level
constexpr std::int64_t kLoadMoves = 10'000'000;   // effort of moves that only look at loads
constexpr std::size_t kMostRegionsSearched = 2'000'000;  // items x regions x levels that the exact search takes on
constexpr int kMostPhases = 16;

// A choice with offsets for the regions that have capacities.
struct Answer {
  std::vector<std::uint8_t> region;  // of each item
  std::vector<PackedRegion> packed;  // by region; empty without capacity
  LevelCost cost;
  std::string strategy;
};

struct Candidate {
  RegionChoice choice;
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
    collect_candidates();
    if (witness_) {
      for (const Candidate& candidate : candidates_) settle(candidate, first_limit());
    } else {
      run_phases();
    }
    RegionPacking out = finish();
    if (packer_.error()) return *packer_.error();
    return out;
  }

 private:
  [[nodiscard]] std::int64_t first_limit() const {
    return std::max(kFirstLimit, kLimitPerBuffer * static_cast<std::int64_t>(problem_.packing.buffers.size()));
  }
  [[nodiscard]] RegionCost bound() const {
    RegionCost bound;
    for (const RegionBound& level : bounds_) bound.push_back(level.bound());
    return swept_ ? std::max(bound, model_.as_row(*swept_)) : bound;
  }
  [[nodiscard]] bool is_optimal() const { return best_ && (is_searched_ || model_.as_row(best_->cost) <= bound()); }
  [[nodiscard]] bool is_over() const { return is_optimal() || is_searched_ || effort_.exhausted() || packer_.error(); }
  [[nodiscard]] std::vector<std::size_t> items_in(std::size_t region, const std::vector<std::uint8_t>& of) const {
    std::vector<std::size_t> items;
    for (std::size_t item = 0; item < of.size(); ++item) {
      if (of[item] == region) items.push_back(item);
    }
    return items;
  }

  void collect_candidates();
  void add_candidate(RegionChoice choice, std::string_view strategy);
  void raise_bounds();
  void run_phases();
  bool settle(const Candidate& candidate, std::int64_t limit);
  void move_above(RegionChoice& choice, PackedRegion& packed, std::size_t region, std::span<const std::size_t> items,
                  std::int64_t limit);
  void keep_attempt(const Candidate& candidate, RegionChoice choice, std::vector<PackedRegion> packed);
  bool offer(Answer answer);
  bool move_with_offsets(std::int64_t limit);
  void sweep(std::int64_t limit);
  void search(std::int64_t limit, std::optional<RegionSearch>& search);
  void lower_heights(Answer& answer);
  [[nodiscard]] RegionPacking finish();

  const RegionProblem& problem_;
  const RegionModel& model_;
  const RegionOptions& options_;
  Effort effort_;
  RegionPacker packer_;
  std::vector<RegionBound> bounds_;
  std::vector<Candidate> candidates_;  // the cheapest first; those that house everybody before others
  std::optional<RegionWitness> witness_;
  std::optional<Answer> best_;
  std::optional<Answer> attempt_;  // what comes nearest while nothing fits
  Bytes attempt_excess_;
  std::optional<LevelCost> swept_;  // no choice whose loads fit costs less
  bool is_searched_ = false;
  std::int64_t decisions_ = 0;
};

void RegionAllocation::add_candidate(RegionChoice choice, std::string_view strategy) {
  const auto is_same = [&](const Candidate& other) { return other.choice.regions() == choice.regions(); };
  if (std::any_of(candidates_.begin(), candidates_.end(), is_same)) return;
  const auto is_before = [](const Candidate& a, const Candidate& b) {
    return a.choice.homeless() != b.choice.homeless() ? a.choice.homeless() < b.choice.homeless()
                                                      : a.choice.cost() < b.choice.cost();
  };
  Candidate candidate{std::move(choice), std::string(strategy)};
  const auto at = std::upper_bound(candidates_.begin(), candidates_.end(), candidate, is_before);
  candidates_.insert(at, std::move(candidate));
}

void RegionAllocation::collect_candidates() {
  RegionChoice dream(model_);
  for (std::size_t item = 0; item < model_.items(); ++item) {
    for (std::size_t region : model_.preferred()) {
      if (!model_.may(item, region)) continue;
      if (dream.fits(item, region)) dream.put(item, region);
      break;
    }
  }
  const bool is_dream = dream.homeless() == 0;
  add_candidate(std::move(dream), "all_preferred");
  if (is_dream) return raise_bounds();
  const auto add_greedy = [&](KeepRule rule) {
    RegionChoice choice = choose_greedily(model_, bounds_, rule);
    Effort effort{.limit = kLoadMoves, .stop = options_.stop};
    (void)improve_by_moves(model_, choice, effort, [](std::span<const std::size_t>) { return true; });
    effort_.spend(effort.spent);
    add_candidate(std::move(choice), name_of(rule));
  };
  for (KeepRule rule : {KeepRule::use, KeepRule::crowd_use, KeepRule::size}) add_greedy(rule);
  raise_bounds();
  add_greedy(KeepRule::price);
}

// Towards the cheapest choice whose loads fit; where none is known, towards the dearest there is.
void RegionAllocation::raise_bounds() {
  const RegionChoice& cheapest = candidates_.front().choice;
  for (std::size_t level = 0; level < bounds_.size(); ++level) {
    std::int64_t target = cheapest.cost().level[level];
    if (cheapest.homeless() > 0) {
      target = 0;
      for (std::size_t item = 0; item < model_.items(); ++item) {
        target += model_.cost(item, model_.preferred().back()).level[level];
      }
    }
    effort_.spend(bounds_[level].raise(target, kBoundWork));
  }
}

bool RegionAllocation::offer(Answer answer) {
  if (best_ && best_->cost <= answer.cost) return false;
  best_ = std::move(answer);
  return true;
}

// What ends above the capacity goes on to the next region that has room, what weighs most first; or nowhere.
// The gaps that it leaves are for who wants them.
void RegionAllocation::move_above(RegionChoice& choice, PackedRegion& packed, std::size_t region,
                                  std::span<const std::size_t> items, std::int64_t limit) {
  const std::int64_t capacity = problem_.regions[RegionId(static_cast<std::uint32_t>(region))].capacity->count();
  IdVector<PackingId, char> is_above(problem_.packing.buffers.size(), 0);
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    const PackingId id = packed.ids[at];
    is_above[id] = (packed.offsets[at] + problem_.packing.buffers[id].size).position() > capacity ? 1 : 0;
  }
  std::vector<std::size_t> leaving;
  for (std::size_t item : items) {
    const std::span<const PackingId> members = model_.members_of(item);
    if (std::none_of(members.begin(), members.end(), [&](PackingId id) { return is_above[id] != 0; })) continue;
    for (PackingId id : members) is_above[id] = 1;  // a group goes together
    leaving.push_back(item);
  }
  PackedRegion kept{
      .outcome = PackingOutcome::found, .ids = {}, .offsets = {}, .height = Bytes(0), .strategy = packed.strategy};
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    if (is_above[packed.ids[at]] != 0) continue;
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
       packer_.fill(region, packed, items_in(region, choice.regions()), wanting(model_, choice, region), limit)) {
    if (choice.region_of(item) != RegionChoice::kNowhere) choice.take(item);
    choice.put(item, region);
  }
  std::erase_if(leaving, [&](std::size_t item) { return choice.region_of(item) == region; });
  const std::span<const std::size_t> order = model_.preferred();
  const auto here = std::find(order.begin(), order.end(), region);
  for (std::size_t item : leaving) {
    const auto target =
        std::find_if(here + 1, order.end(), [&](std::size_t other) { return choice.fits(item, other); });
    if (target != order.end()) choice.put(item, *target);
  }
}

// Offsets for the regions with capacities, in order of preference. True: it fits, and is the best so far.
bool RegionAllocation::settle(const Candidate& candidate, std::int64_t limit) {
  RegionChoice choice = candidate.choice;
  std::vector<PackedRegion> packed(model_.regions());
  for (std::size_t region : model_.preferred()) {
    if (!model_.is_bounded(region)) continue;
    const std::vector<std::size_t> items = items_in(region, choice.regions());
    packed[region] = packer_.pack(region, items, limit);
    if (packed[region].outcome != PackingOutcome::found) move_above(choice, packed[region], region, items, limit);
  }
  if (choice.homeless() == 0) return offer({choice.regions(), std::move(packed), choice.cost(), candidate.strategy});
  if (!best_) keep_attempt(candidate, std::move(choice), std::move(packed));
  return false;
}

// Who is nowhere goes to the last region that is not forbidden, which then ends above its capacity.
void RegionAllocation::keep_attempt(const Candidate& candidate, RegionChoice choice, std::vector<PackedRegion> packed) {
  std::vector<char> is_over(model_.regions(), 0);
  for (std::size_t item = 0; item < model_.items(); ++item) {
    if (choice.region_of(item) != RegionChoice::kNowhere) continue;
    std::size_t target = 0;
    for (std::size_t region : model_.preferred()) {
      if (((model_.not_forbidden(item) >> region) & 1U) == 0) continue;
      target = region;
      if (model_.is_fixed(item)) break;
    }
    choice.put(item, target);
    is_over[target] = 1;
  }
  Bytes excess;
  for (std::size_t region = 0; region < model_.regions(); ++region) {
    if (is_over[region] == 0) continue;
    packed[region] = packer_.pack_low(region, items_in(region, choice.regions()), first_limit());
    const std::optional<Bytes> capacity = problem_.regions[RegionId(static_cast<std::uint32_t>(region))].capacity;
    if (capacity && packed[region].height > *capacity) excess += packed[region].height - *capacity;
  }
  if (attempt_ && attempt_excess_ <= excess) return;
  attempt_ = Answer{choice.regions(), std::move(packed), choice.cost(), candidate.strategy};
  attempt_excess_ = excess;
}

// Moves from the best, each with new offsets for the regions that it concerns.
bool RegionAllocation::move_with_offsets(std::int64_t limit) {
  RegionChoice choice(model_);
  for (std::size_t item = 0; item < model_.items(); ++item) choice.put(item, best_->region[item]);
  Answer now = *best_;
  now.strategy = "moves";
  Effort effort = effort_.share(kLimitsPerPass * limit);
  const std::int64_t spent_before = effort_.spent;
  std::int64_t spent_on_packing = 0;
  const bool has_improved = improve_by_moves(model_, choice, effort, [&](std::span<const std::size_t> moved) {
    std::vector<PackedRegion> packed(model_.regions());
    std::vector<char> is_concerned(model_.regions(), 0);
    for (std::size_t item : moved) is_concerned[choice.region_of(item)] = is_concerned[now.region[item]] = 1;
    bool fits = true;
    for (std::size_t region = 0; region < model_.regions() && fits; ++region) {
      if (is_concerned[region] == 0 || !model_.is_bounded(region)) continue;
      packed[region] = packer_.pack(region, items_in(region, choice.regions()), limit);
      fits = packed[region].outcome == PackingOutcome::found;
    }
    effort.spend(effort_.spent - spent_before - spent_on_packing);
    spent_on_packing = effort_.spent - spent_before;
    if (!fits) return false;
    for (std::size_t region = 0; region < model_.regions(); ++region) {
      if (is_concerned[region] != 0) now.packed[region] = std::move(packed[region]);
    }
    now.region = choice.regions();
    return true;
  });
  effort_.spend(effort.spent - spent_on_packing);
  now.cost = choice.cost();
  return has_improved && offer(std::move(now));
}

// Once it came to its end there is nothing more to learn from loads.
void RegionAllocation::sweep(std::int64_t limit) {
  if (swept_) return;
  RegionSweep sweep(model_, bounds_);
  const std::optional<LevelCost> below = best_ ? std::optional(best_->cost) : std::nullopt;
  if (!sweep.run(below, kLimitsPerPass * limit, effort_)) return;
  if (sweep.best().empty()) {
    swept_ = below;
    is_searched_ = !below;  // no choice at all
    return;
  }
  RegionChoice choice(model_);
  for (std::size_t item = 0; item < model_.items(); ++item) choice.put(item, sweep.best()[item]);
  swept_ = choice.cost();
  settle({choice, "sweep"}, limit);
  add_candidate(std::move(choice), "sweep");
}

void RegionAllocation::search(std::int64_t limit, std::optional<RegionSearch>& search) {
  if (model_.items() * model_.regions() * std::max<std::size_t>(model_.levels(), 1) > kMostRegionsSearched) return;
  if (!search) search.emplace(model_, bounds_, packer_, effort_, RegionRules{});
  if (best_) search->set_best(best_->cost);
  const bool is_complete = search->run(kLimitsPerPass * limit, limit);
  decisions_ = search->decisions();
  if (!search->best().empty()) {
    Candidate found{RegionChoice(model_), "search"};
    for (std::size_t item = 0; item < model_.items(); ++item) found.choice.put(item, search->best()[item]);
    const LevelCost cost = found.choice.cost();
    settle(found, limit);
    if (!best_ || best_->cost > cost) return;  // a packing that was found once and is not any more: nothing is proven
  }
  is_searched_ = is_complete;
}

void RegionAllocation::run_phases() {
  std::optional<RegionSearch> exact;
  for (int phase = 0; phase < kMostPhases; ++phase) {
    const std::int64_t limit = first_limit() << phase;
    for (const Candidate& candidate : candidates_) {
      if (phase > 0 && is_over()) return;
      if (best_ && candidate.choice.homeless() == 0 && best_->cost <= candidate.choice.cost()) continue;
      if (best_ && candidate.choice.homeless() > 0) continue;
      settle(candidate, limit);
      if (is_optimal()) return;
    }
    if (is_over()) return;
    sweep(limit);
    if (is_over()) return;
    if (best_) move_with_offsets(limit);
    if (is_over()) return;
    search(limit, exact);
    if (is_over()) return;
  }
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
  out.cost = model_.as_row(answer.cost);
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

Result<RegionPacking> allocate_regions(const RegionProblem& problem, const RegionOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(validate_region_problem(problem));
  const Result<RegionModel> model = RegionModel::build(problem);
  if (!model) return model.error();
  return RegionAllocation(problem, *model, options).run();
}

}  // namespace lowtide
