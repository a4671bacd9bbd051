// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/recompute.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/budget/rematerialize.h"
#include "lowtide/pipeline/budgets/apply_hints.h"
#include "lowtide/pipeline/budgets/confirm_answer.h"
#include "lowtide/pipeline/budgets/swap_search.h"
#include "lowtide/pipeline/place/other_sharing.h"
#include "lowtide/pipeline/recompute/graph_model.h"
#include "lowtide/pipeline/recompute/kept_tensors.h"
#include "lowtide/pipeline/recompute/plan_clock.h"
#include "lowtide/pipeline/recompute/run_plan.h"
#include "lowtide/pipeline/recompute/swap_route.h"
#include "lowtide/pipeline/sequence/complete_plan.h"
#include "lowtide/pipeline/sequence/exchange.h"
#include "lowtide/pipeline/sequence/outcome.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {
namespace {

// Requires: the costs of the model are counted in nanoseconds (count_in_nanoseconds).
std::int64_t nanoseconds_per_cost(const RunModel& model) { return model.unit / kPicosecondsPerNanosecond; }

// Whether the clock of a link can count one run of each node: it takes at most 13 days.
bool is_countable(const RunModel& model) {
  return has_countable_time(model.problem, {.nanoseconds_per_cost = nanoseconds_per_cost(model)});
}

// The search for the limit of the live bytes, with the kernels of one sequence.
class LimitSearch {
 public:
  // With a route, costs are counted in nanoseconds, and the clock of the link can count them (has_countable_time).
  LimitSearch(const Task& task, const Sequence& sequence, const std::optional<SwapRoute>& route, RunModel model)
      : task_(task),
        sequence_(sequence),
        route_(route),
        model_(std::move(model)),
        capacity_(*total_capacity(task.machine)),
        step_(std::max<std::int64_t>(task.aliases.alignment.count(), capacity_.count() / 256)) {}

  // `least`: no plan takes less time, so the search ends once one takes as long. `to_beat`: the search ends at a plan
  // that is not faster, whether it fits or not.
  Result<void> run(std::int64_t least, std::optional<std::int64_t> to_beat, int most_tries) {
    std::int64_t limit = capacity_.count();
    const std::int64_t effort = task_.options.recompute_effort / kMostTries;
    for (int round = 0; round < most_tries; ++round) {
      if (task_.options.stop != nullptr && task_.options.stop->load()) break;
      model_.problem.budget = Bytes(limit);
      const FoundRuns found = find_runs(effort);
      LOWTIDE_TRY(const Tried tried, try_runs(found.sequence));
      if (best_ && best_->picoseconds <= least) break;
      if (to_beat && tried.picoseconds >= *to_beat) break;
      const std::optional<std::int64_t> next = next_limit(limit, tried.arena, found.keeps_limit);
      if (!next) break;
      limit = *next;
    }
    return {};
  }

  [[nodiscard]] const std::optional<RunPlan>& best() const { return best_; }
  [[nodiscard]] std::optional<Bytes> smallest_arena() const { return smallest_; }
  [[nodiscard]] std::int64_t tries() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  struct FoundRuns {
    RunSequence sequence;  // of nodes of the model
    bool keeps_limit = false;
  };
  struct Tried {
    Bytes arena;
    std::int64_t picoseconds = 0;
  };

  // With a link, runs and transfers, otherwise only runs.
  FoundRuns find_runs(std::int64_t effort) {
    if (!route_) {
      BudgetAnswer answer = rematerialize(model_.problem, model_.order, {.effort = effort});
      return {{std::move(answer.runs)}, answer.outcome == BudgetOutcome::found};
    }
    const TransferLink link = slower_link(task_.machine, *route_, nanoseconds_per_cost(model_));
    // A model has no groups, so a sequence is known.
    SwapAnswer answer =
        search_swaps(model_.problem, link, {.order = model_.order, .load = sequence_.placed.schedule.load},
                     {.effort = effort, .stop = task_.options.stop})
            .value();
    return {{std::move(answer.runs), std::move(answer.transfers)}, answer.outcome == BudgetOutcome::found};
  }

  // Equal only for equal sequences.
  static std::vector<std::uint32_t> key_of(const RunSequence& sequence) {
    std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(sequence.runs.size())};
    for (NodeId run : sequence.runs) key.push_back(run.value());
    for (const Transfer& transfer : sequence.transfers) {
      const auto direction = static_cast<std::uint32_t>(transfer.direction);
      key.insert(key.end(), {direction, transfer.run, transfer.issue, transfer.complete});
    }
    return key;
  }

  // Plans a sequence of runs, unless it is known.
  Result<Tried> try_runs(const RunSequence& sequence) {
    const std::vector<std::uint32_t> key = key_of(sequence);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    RunSequence of_graph{.runs = {}, .transfers = sequence.transfers};
    for (NodeId run : sequence.runs) of_graph.runs.push_back(model_.node_of[run]);
    LOWTIDE_TRY(RunPlan made, plan_runs(task_, sequence_, std::move(of_graph)));
    const Bytes arena = arena_bytes(made.plan);
    smallest_ = std::min(smallest_.value_or(arena), arena);
    const Tried tried{arena, made.picoseconds};
    known_.emplace(key, tried);
    const bool is_better = !best_ || made.picoseconds < best_->picoseconds ||
                           (made.picoseconds == best_->picoseconds && arena < arena_bytes(best_->plan));
    if (!exceeds(task_, made.plan.layout) && fits_outside(made.plan) && is_better) best_ = std::move(made);
    return tried;
  }

  [[nodiscard]] static bool fits_outside(const Plan& plan) {
    const std::vector<Region>& regions = plan.machine.regions;
    for (RegionId id : all_ids<RegionId>(regions.size())) {
      const std::optional<Bytes>& capacity = regions[id.index()].capacity;
      if (is_outside(plan.machine, id) && capacity && plan.layout.arena[id.index()] > *capacity) return false;
    }
    return true;
  }

  // Between the largest limit whose plan fits, or for which no runs are known, and the smallest one whose plan does
  // not fit.
  std::optional<std::int64_t> next_limit(std::int64_t limit, Bytes arena, bool is_found) {
    const std::int64_t above = (arena - capacity_).count();
    if (above > 0 && is_found) {
      too_high_ = std::min(too_high_.value_or(limit), limit);
      if (!low_) return limit > above ? std::optional(limit - std::max(above, step_)) : std::nullopt;
    } else {
      low_ = std::max(low_.value_or(limit), limit);
      if (!too_high_) {
        // Without runs, the estimate may be too high, and with a plan that fits, too.
        const std::int64_t more = above > 0 ? above : -above;
        return limit + std::max(more, step_);
      }
    }
    const std::int64_t middle = *low_ + (*too_high_ - *low_) / 2;
    if (*too_high_ - *low_ <= step_) return std::nullopt;
    return middle;
  }

  const Task& task_;
  const Sequence& sequence_;
  const std::optional<SwapRoute>& route_;
  RunModel model_;
  const Bytes capacity_;
  const std::int64_t step_;  // limits that are closer are not told apart
  std::optional<std::int64_t> low_;
  std::optional<std::int64_t> too_high_;
  std::map<std::vector<std::uint32_t>, Tried> known_;  // sequences, by key_of
  std::optional<RunPlan> best_;
  std::optional<Bytes> smallest_;
};

// The sequence with another order, which has its own sharing and no offsets yet.
Sequence with_order(const Sequence& sequence, Schedule schedule) {
  return {.choice = sequence.choice,
          .order = {},
          .bound_scope = sequence.bound_scope,
          .placed = {.schedule = std::move(schedule), .plan = {}, .strategy = {}},
          .check = {}};
}

// The orders that a search for reruns begins from. The one with the lowest peak comes first. A low peak with one run of
// each node does not say that few reruns keep a budget. So the order of the model and the best other one follow, unless
// the options name the order.
std::vector<Sequence> starts_of(const Task& task, const Sequence& sequence) {
  std::vector<Sequence> starts = {sequence};
  if (task.options.order != "auto") return starts;
  const auto add = [&](Schedule schedule) {
    const auto has_its_order = [&](const Sequence& start) { return start.placed.schedule.order == schedule.order; };
    if (std::ranges::none_of(starts, has_its_order)) starts.push_back(with_order(sequence, std::move(schedule)));
  };
  Schedule given{.order = {}, .strategy = "as_given", .load = {}, .aliases = {}};
  for (NodeId id : all_ids<NodeId>(task.graph.nodes().size())) given.order.push_back(id);
  add(share_again(task.graph, sequence.choice.kernels.planned, std::move(given), task.aliases));
  if (!sequence.order.choice.runners_up.empty()) add(sequence.order.choice.runners_up.front());
  return starts;
}

// The best plan so far, and the sequence whose kernels it has.
struct BestPlan {
  std::optional<RunPlan> plan;
  const Sequence* kernels = nullptr;
};

// Searches with the kernels of one sequence, and notes a faster plan.
Result<void> search_with_kernels(const Task& task, const Sequence& sequence, const std::optional<SwapRoute>& route,
                                 Recomputation& result, BestPlan& best) {
  bool is_first = true;
  for (const Sequence& start : starts_of(task, sequence)) {
    if (best.plan && best.plan->picoseconds <= result.bound_picoseconds) break;
    std::optional<RunModel> model = estimated_model(task, start);
    if (!model) break;
    apply_hints(*model, task.options.hints);
    if (route) count_in_nanoseconds(*model);
    if (route && !is_countable(*model)) break;
    std::optional<std::int64_t> to_beat;
    if (!is_first && best.plan) to_beat = best.plan->picoseconds;
    LimitSearch search(task, start, route, *std::move(model));
    LOWTIDE_RETURN_IF_ERROR(search.run(result.bound_picoseconds, to_beat, is_first ? kMostTries : kMostOtherTries));
    is_first = false;
    result.tries += search.tries();
    if (search.smallest_arena() && (result.arena == Bytes(0) || *search.smallest_arena() < result.arena)) {
      result.arena = *search.smallest_arena();
    }
    if (search.best() && (!best.plan || search.best()->picoseconds < best.plan->picoseconds)) {
      best = {search.best(), &sequence};
    }
  }
  return {};
}

// Whether options take abilities from kernels. A proof then holds only for plans under these options.
bool is_restricted(const Task& task) { return !task.aliases.views || !task.aliases.in_place; }

std::int64_t proof_effort(const Task& task) {
  return is_restricted(task) ? 0 : task.options.proof_effort.value_or(task.options.recompute_effort / 5);
}

// Does what prove does, with transfers over the link. While a node runs, all but its working set can be outside.
void prove_with_link(const Task& task, const Alternatives& plans, const SwapRoute& route, const RunModel& relaxed,
                     Recomputation& result) {
  const TransferLink link = faster_link(task.machine, route, nanoseconds_per_cost(relaxed));
  const SwapAnswer answer =
      search_swaps(relaxed.problem, link, {.order = relaxed.order, .load = plans.chosen(task).placed.schedule.load},
                   {.effort = proof_effort(task), .stop = task.options.stop})
          .value();
  result.bound_picoseconds = answer.time_bound * kPicosecondsPerNanosecond;
  result.bound_kind = answer.proof ? CostBoundKind::milestones : CostBoundKind::run_once;
  if (answer.outcome != BudgetOutcome::infeasible || is_restricted(task)) return;
  result.outcome = BudgetOutcome::infeasible;
  result.obstruction = Obstruction{.kind = ObstructionKind::outputs_at_end};
  if (!answer.obstruction) return;
  result.obstruction->kind = ObstructionKind::working_set;
  result.obstruction->node = relaxed.node_of[*answer.obstruction];
}

// What holds for every plan: whether none can fit, and the least time. If options forbid views or results in place,
// only the time without reruns does, because other plans may need less memory. The end of a run has no step in which
// results are in place, so this may happen there. Throws InvariantViolation if the verifier refuses a proof.
void prove(const Task& task, const RunModel& relaxed, Recomputation& result) {
  const BudgetAnswer answer = rematerialize(relaxed.problem, relaxed.order, {.effort = proof_effort(task)});
  confirm_answer(relaxed.problem, answer);
  // Costs end there as well (plan_clock.h).
  result.bound_picoseconds = std::min(answer.cost_bound * relaxed.unit, cost_model::kMostPicoseconds);
  result.bound_kind = answer.bound_kind;
  if (answer.outcome != BudgetOutcome::infeasible || is_restricted(task)) return;
  result.outcome = BudgetOutcome::infeasible;
  const InfeasibleProof& proof = *answer.obstruction;
  result.obstruction = Obstruction{.kind = ObstructionKind::outputs_at_end, .sets = proof.sets.size()};
  if (!proof.node) return;
  result.obstruction->node = relaxed.node_of[*proof.node];
  result.obstruction->kind = !proof.makers.empty() ? ObstructionKind::last_of_outputs
                             : proof.sets.empty()  ? ObstructionKind::working_set
                                                   : ObstructionKind::inputs_together;
}

// The result for a plan with recomputation, which has the kernels of `sequence`.
PlannedGraph with_plan(const Task& task, const Alternatives& plans, const Sequence& sequence, RunPlan found) {
  PlannedGraph planned = collect(task, plans, sequence);
  std::vector<Bound> bounds = planned.plan.claims.bounds;
  const bool moves = found.plan.program.streams.size() > 1;
  planned.plan = complete_plan(task, std::move(found.plan),
                               {.load_as_given = planned.plan.claims.load_as_given,
                                .bounds = std::move(bounds),
                                .load = found.load,
                                .schedule = moves ? "offload" : "rematerialize",
                                .allocate = std::move(found.allocate)});
  planned.bound_check = {};  // was about plans that run each node once
  if (planned.exchange) planned.exchange->arena = arena_bytes(planned.plan);
  return planned;
}

}  // namespace

bool may_recompute(const Task& task, const Plan& plan) {
  return task.options.budget && !asks_for_parallel(task) && !task.is_body() &&
         writable_regions(task.machine, kWorker).size() == 1 && exceeds(task, plan.layout);
}

Result<PlannedGraph> recompute(const Task& task, const Alternatives& plans, PlannedGraph planned) {
  Recomputation result;
  result.base_picoseconds =
      clock_of(task.graph, plans.fastest.placed.plan, plans.fastest.choice.kernels.planned).kernels;
  std::optional<RunModel> relaxed = relaxed_model(task, plans.chosen(task));
  if (!relaxed) return planned;  // too large
  relaxed->problem.budget = *total_capacity(task.machine);
  const std::optional<SwapRoute> route = swap_route(task.machine);
  result.has_link = route.has_value();
  if (route) {
    count_in_nanoseconds(*relaxed);
    if (!is_countable(*relaxed)) return planned;
    prove_with_link(task, plans, *route, *relaxed, result);
  } else {
    prove(task, *relaxed, result);
  }
  if (!is_restricted(task) && is_capacity_below_bound(task, planned.plan.claims, BoundScope::all_plans)) {
    result.outcome = BudgetOutcome::infeasible;
    if (!result.obstruction) result.obstruction = Obstruction{};
  }
  BestPlan best;
  std::vector<const Sequence*> sequences = {&plans.fastest};
  if (plans.lightest) sequences.push_back(&*plans.lightest);
  for (const Sequence* sequence : sequences) {
    if (result.outcome == BudgetOutcome::infeasible) continue;
    LOWTIDE_RETURN_IF_ERROR(search_with_kernels(task, *sequence, route, result, best));
  }
  if (best.plan) {
    result.outcome = BudgetOutcome::found;
    result.picoseconds = best.plan->picoseconds;
    result.arena = arena_bytes(best.plan->plan);
    const ChosenKernels& kernels = best.kernels->choice.kernels.planned;
    result.reruns = reruns_of(task.graph, best.plan->plan, kernels);
    result.swaps = swaps_of(best.plan->plan, task.graph, kernels);
    result.kept = kept_tensors(task.graph, best.plan->plan, kernels, task.options.hints);
    result.outside = outside_bytes(best.plan->plan);
    result.stall_picoseconds = best.plan->picoseconds - clock_of(task.graph, best.plan->plan, kernels).kernels;
    planned = with_plan(task, plans, *best.kernels, *std::move(best.plan));
    planned.estimate = estimate_of(task.graph, planned.plan.program, kernels);
    planned.estimate.picoseconds = result.picoseconds;
  }
  planned.recomputation = std::move(result);
  return planned;
}

}  // namespace lowtide::pipeline_internal
