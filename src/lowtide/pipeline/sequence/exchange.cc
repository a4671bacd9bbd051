// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/exchange.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/pipeline/place/other_sharing.h"
#include "lowtide/pipeline/sequence/confirm_bound.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/shortfall.h"
#include "lowtide/share/load.h"

namespace lowtide::pipeline_internal {
namespace {

// Chooses kernels for the order of one plan.
class Exchange {
 public:
  // `given`: its order is used.
  Exchange(const Task& task, const Alternatives& plans, const Sequence& given, Bytes limit)
      : task_(task), plans_(plans), given_(given), limit_(limit), indices_(fastest_of(plans.options)) {}

  // Without a limit for the arena.
  Result<std::optional<Sequence>> lower_load_only() && {
    if (!lower_load()) return std::optional<Sequence>();
    const PlanParts parts = parts_of(task_, choice_);
    LOWTIDE_TRY(PlacedSchedule placed, place_schedule(place_input(task_, parts), schedule_));
    return std::optional(complete(std::move(placed)));
  }

  Result<std::optional<Sequence>> run() && {
    for (int round = 0; round <= kMostReductions; ++round) {
      if (!lower_load()) return std::optional<Sequence>();
      const PlanParts parts = parts_of(task_, choice_);
      const PlaceInput input = place_input(task_, parts);
      Result<PlacedSchedule> placed = place_schedule(input, schedule_);
      if (placed) placed = refine_placement(input, *std::move(placed), {});
      if (!placed) return placed.error();
      if (!exceeds(task_, placed->plan.layout)) return std::optional(complete(*std::move(placed)));
      const Bytes above = overflow(task_.machine, placed->plan.layout);
      limit_ = std::min(limit_, placed->schedule.load);
      if (above >= limit_) break;
      limit_ -= above;
    }
    return std::optional<Sequence>();
  }

 private:
  // Exchanges kernels until no step is above the limit. Returns false if none is left to exchange.
  bool lower_load() {
    for (;;) {
      choice_ = choose_kernels(task_, plans_.options, plans_.bodies, indices_);
      schedule_ = share_again(task_.graph, choice_.kernels.planned, given_.placed.schedule, task_.aliases);
      if (schedule_.load <= limit_) return true;
      const std::vector<Bytes> profile =
          load_profile(schedule_.aliases, choice_.kernels.planned, schedule_.order, task_.aliases);
      bool is_changed = false;
      for (std::size_t at = 0; at < profile.size() && !schedule_.order.empty(); ++at) {
        if (profile[at] > limit_) is_changed = lower(schedule_.order[at], profile[at] - limit_) || is_changed;
      }
      if (!is_changed) return false;
    }
  }

  // Gives the node the fastest kernel that needs `missing` bytes less, otherwise the one that needs least.
  bool lower(NodeId id, Bytes missing) {
    const std::vector<KernelOption>& options = plans_.options.of_node[id];
    std::size_t& index = indices_[id];
    if (index + 1 == options.size()) return false;
    const Bytes need = options[index].need;
    do {
      ++index;
    } while (index + 1 < options.size() && options[index].need + missing > need);
    return true;
  }

  [[nodiscard]] Sequence complete(PlacedSchedule placed) const {
    const ChosenKernels& least = choice_.kernels.least(BoundScope::chosen_kernels);
    const BoundOptions options = bound_options(task_.aliases);
    const std::vector<Bytes> profile =
        load_profile(placed.schedule.aliases, choice_.kernels.planned, placed.schedule.order, task_.aliases);
    Sequence made{.choice = choice_,
                  .order = given_.order,
                  .bound_scope = BoundScope::chosen_kernels,
                  .placed = std::move(placed),
                  .check = {}};
    // The other strategies were tried with other kernels.
    made.order.choice.tried = {{made.placed.schedule.strategy, made.placed.schedule.load}};
    made.order.bound = live_set_bound(task_.graph, least, made.placed.schedule.order, profile, options);
    made.check = confirm_bound(task_, least, made.order.bound, choice_.bodies);
    return made;
  }

  const Task& task_;
  const Alternatives& plans_;
  const Sequence& given_;
  Bytes limit_;
  OptionIndices indices_;
  KernelChoice choice_;
  Schedule schedule_;
};

}  // namespace

bool exceeds(const Task& task, const Layout& layout) { return shortfall_of(task, layout) > Bytes(0); }

LoadBound bound_for_all_kernels(const Task& task, const Alternatives& plans) {
  const Sequence& known = plans.lightest ? *plans.lightest : plans.fastest;
  if (known.bound_scope == BoundScope::run_once) return known.order.bound;
  const Schedule& schedule = known.placed.schedule;
  return live_set_bound(task.graph, known.choice.kernels.least(BoundScope::run_once), schedule.order,
                        load_profile(schedule.aliases, known.choice.kernels.planned, schedule.order, task.aliases),
                        bound_options(task.aliases));
}

Result<std::optional<Sequence>> exchange_kernels(const Task& task, const Alternatives& plans) {
  const auto time_lost = [&](const Sequence& one) {
    return exchange_cost(task.graph, plans.options, one.choice.indices, one.placed.schedule.aliases);
  };
  const auto rank = [&](const Sequence& one) {
    const ExchangeCost cost = time_lost(one);
    return std::pair(cost.picoseconds.value_or(std::numeric_limits<std::int64_t>::max()), cost.nodes);
  };
  const std::optional<Bytes> limit = total_capacity(task.machine);
  if (!limit) return std::optional<Sequence>();
  std::optional<Sequence> best;
  for (const Sequence* given : {&plans.fastest, &*plans.lightest}) {
    LOWTIDE_TRY(std::optional<Sequence> made, Exchange(task, plans, *given, *limit).run());
    if (made && rank(*made) < rank(best ? *best : *plans.lightest)) best = *std::move(made);
  }
  return best;
}

Result<std::optional<Sequence>> exchange_down_to(const Task& task, const Alternatives& plans, const Sequence& given,
                                                 Bytes limit) {
  return Exchange(task, plans, given, limit).lower_load_only();
}

const Sequence& Alternatives::chosen(const Task& task) const {
  if (!lightest || !exceeds(task, fastest.placed.plan.layout)) return fastest;
  if (exchanged) return *exchanged;
  const auto rank = [&](const Sequence& one) {
    const Layout& layout = one.placed.plan.layout;
    return std::pair(shortfall_of(task, layout), arena_bytes(task.machine, layout));
  };
  return rank(*lightest) < rank(fastest) ? *lightest : fastest;
}

PlanParts parts_of(const Task& task, const KernelChoice& choice) {
  return {task.graph, choice.kernels.planned, choice.bodies, task.machine};
}

}  // namespace lowtide::pipeline_internal
