// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/pipeline/apply_hints.h"
#include "lowtide/pipeline/capacity.h"
#include "lowtide/pipeline/complete_plan.h"
#include "lowtide/pipeline/confirm_answer.h"
#include "lowtide/pipeline/exchange.h"
#include "lowtide/pipeline/expand_runs.h"
#include "lowtide/pipeline/other_sharing.h"
#include "lowtide/pipeline/outcome.h"
#include "lowtide/pipeline/parallelize.h"
#include "lowtide/pipeline/run_model.h"
#include "lowtide/rematerialize/rematerialize.h"
#include "lowtide/share/load.h"
#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {
namespace {

// The estimated time of all kernels that a plan of the graph runs.
std::int64_t picoseconds_of(const Graph& graph, const Program& program, const ChosenKernels& kernels) {
  std::int64_t sum = 0;
  for (const Step& step : program.steps) {
    if (const Compute* compute = std::get_if<Compute>(&step.work)) {
      const std::int64_t each = estimated_picoseconds(graph, compute->node, kernels[compute->node]);
      sum = std::min(sum + each, cost_model::kMostPicoseconds);
    }
  }
  return sum;
}

// A plan with recomputation, on one stream.
struct RunPlan {
  Plan plan;  // of the original graph; without provenance and claims
  Bytes load;
  std::string allocate;  // strategy
  std::int64_t picoseconds = 0;
};

// Plans the graph in which every run is a node, and returns the plan of the original graph.
Result<RunPlan> plan_runs(const Task& task, const Sequence& sequence, const std::vector<NodeId>& runs) {
  Result<ExpandedGraph> expanded = expand_runs(task.graph, sequence.placed.schedule.aliases, runs);
  if (!expanded) return expanded.error();
  const ExpandedKernels own = expand_kernels(*expanded, sequence.choice);
  const PlanParts parts{expanded->graph, own.kernels, own.bodies, task.machine};
  std::vector<NodeId> order;
  for (NodeId id : all_ids<NodeId>(expanded->graph.nodes().size())) order.push_back(id);
  Schedule schedule{.order = std::move(order), .strategy = "rematerialize", .load = {}, .aliases = {}};
  schedule = share_again(expanded->graph, own.kernels, std::move(schedule), task.aliases);

  // Other orders and other sharing only help if the live bytes fit and the offsets do not.
  const PlaceInput input = place_input(task, parts);
  Result<PlacedSchedule> placed = place_schedule(input, schedule);
  const auto is_close = [&] {
    return schedule.load <= *total_capacity(task.machine) && exceeds(task, placed->plan.layout);
  };
  if (placed && is_close()) placed = refine_placement(input, *std::move(placed), {});
  if (!placed) return placed.error();
  RunPlan made{.plan = contract_plan(task.graph, *expanded, std::move(placed->plan)),
               .load = placed->schedule.load,
               .allocate = std::move(placed->strategy)};
  made.picoseconds = picoseconds_of(task.graph, made.plan.program, sequence.choice.kernels.planned);
  return made;
}

// The search for the limit of the live bytes, with the kernels of one sequence.
class LimitSearch {
 public:
  LimitSearch(const Task& task, const Sequence& sequence, RunModel model)
      : task_(task),
        sequence_(sequence),
        model_(std::move(model)),
        capacity_(*total_capacity(task.machine)),
        step_(std::max<std::int64_t>(task.aliases.alignment.count(), capacity_.count() / 256)) {}

  // `least`: no plan takes less time, so the search ends once one takes as long.
  Result<void> run(std::int64_t least) {
    std::int64_t limit = capacity_.count();
    const std::int64_t effort = task_.options.recompute_effort / kMostTries;
    for (int round = 0; round < kMostTries; ++round) {
      if (task_.options.stop != nullptr && task_.options.stop->load()) break;
      model_.problem.budget = Bytes(limit);
      const BudgetAnswer answer = rematerialize(model_.problem, model_.order, {.effort = effort});
      const bool is_found = answer.outcome == BudgetOutcome::found;
      Result<Bytes> arena = try_runs(answer.runs);
      if (!arena) return arena.error();
      if (best_ && best_->picoseconds <= least) break;
      const std::optional<std::int64_t> next = next_limit(limit, *arena, is_found);
      if (!next) break;
      limit = *next;
    }
    return {};
  }

  [[nodiscard]] const std::optional<RunPlan>& best() const { return best_; }
  [[nodiscard]] std::optional<Bytes> smallest_arena() const { return smallest_; }
  [[nodiscard]] std::int64_t tries() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  // Plans a sequence of runs, unless it is known, and returns its arena.
  Result<Bytes> try_runs(const std::vector<NodeId>& runs) {
    const auto found = known_.find(runs);
    if (found != known_.end()) return found->second;
    std::vector<NodeId> nodes;
    for (NodeId run : runs) nodes.push_back(model_.node_of[run]);
    Result<RunPlan> made = plan_runs(task_, sequence_, nodes);
    if (!made) return made.error();
    const Bytes arena = arena_bytes(made->plan);
    smallest_ = std::min(smallest_.value_or(arena), arena);
    known_.emplace(runs, arena);
    const bool is_better = !best_ || made->picoseconds < best_->picoseconds ||
                           (made->picoseconds == best_->picoseconds && arena < arena_bytes(best_->plan));
    if (!exceeds(task_, made->plan.layout) && is_better) best_ = *std::move(made);
    return arena;
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
  RunModel model_;
  const Bytes capacity_;
  const std::int64_t step_;  // limits that are closer are not told apart
  std::optional<std::int64_t> low_;
  std::optional<std::int64_t> too_high_;
  std::map<std::vector<NodeId>, Bytes> known_;  // sequences of runs and their arenas
  std::optional<RunPlan> best_;
  std::optional<Bytes> smallest_;
};

// Then proofs hold for the plans under these options only.
bool is_restricted(const Task& task) { return !task.aliases.views || !task.aliases.in_place; }

// What holds for every plan: whether none can fit, and the least time. If options forbid views or results in place,
// only the time without reruns does, because other plans may need less memory. The end of a run has no step in which
// results are in place, so this may happen there. Throws InvariantViolation if the verifier refuses a proof.
void prove(const Task& task, const RunModel& relaxed, Recomputation& result) {
  const BudgetAnswer answer = rematerialize(relaxed.problem, relaxed.order,
                                            {.effort = is_restricted(task) ? 0 : task.options.recompute_effort / 5});
  confirm_answer(relaxed.problem, answer);
  result.bound_picoseconds = answer.cost_bound * relaxed.unit;
  result.bound_kind = answer.bound_kind;
  if (answer.outcome != BudgetOutcome::infeasible || is_restricted(task)) return;
  result.outcome = BudgetOutcome::infeasible;
  const InfeasibleProof& proof = *answer.obstruction;
  result.obstruction = Obstruction{.node = std::nullopt, .sets = proof.sets.size()};
  if (proof.node) result.obstruction->node = relaxed.node_of[*proof.node];
}

std::vector<Rerun> reruns_of(const Graph& graph, const Program& program, const ChosenKernels& kernels) {
  IdVector<NodeId, std::int64_t> runs(graph.nodes().size(), 0);
  for (const Step& step : program.steps) {
    if (const Compute* compute = std::get_if<Compute>(&step.work)) ++runs[compute->node];
  }
  std::vector<Rerun> reruns;
  for (NodeId id : all_ids<NodeId>(runs.size())) {
    if (runs[id] < 2) continue;
    Rerun rerun{.node = id, .times = runs[id] - 1, .bytes = {}, .picoseconds = 0};
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) rerun.bytes += graph.tensor(*output).size;
    }
    const std::int64_t each = estimated_picoseconds(graph, id, kernels[id]);
    rerun.picoseconds =
        each > cost_model::kMostPicoseconds / rerun.times ? cost_model::kMostPicoseconds : each * rerun.times;
    reruns.push_back(rerun);
  }
  return reruns;
}

// The result for a plan with recomputation, which has the kernels of `sequence`.
PlannedGraph with_plan(const Task& task, const Alternatives& plans, const Sequence& sequence, RunPlan found) {
  PlannedGraph planned = collect(task, plans, sequence);
  std::vector<Bound> bounds = planned.plan.claims.bounds;
  planned.plan = complete_plan(task, std::move(found.plan),
                               {.load_as_given = planned.plan.claims.load_as_given,
                                .bounds = std::move(bounds),
                                .load = found.load,
                                .schedule = "rematerialize",
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
      picoseconds_of(task.graph, plans.fastest.placed.plan.program, plans.fastest.choice.kernels.planned);
  std::optional<RunModel> relaxed = relaxed_model(task, plans.chosen(task));
  if (!relaxed) return planned;  // too large
  relaxed->problem.budget = *total_capacity(task.machine);
  prove(task, *relaxed, result);
  if (!is_restricted(task) && is_capacity_below_bound(task, planned.plan.claims, BoundScope::all_plans)) {
    result.outcome = BudgetOutcome::infeasible;
    if (!result.obstruction) result.obstruction = Obstruction{};
  }
  std::optional<RunPlan> best;
  const Sequence* best_of = nullptr;
  std::vector<const Sequence*> sequences = {&plans.fastest};
  if (plans.lightest) sequences.push_back(&*plans.lightest);
  for (const Sequence* sequence : sequences) {
    std::optional<RunModel> model = estimated_model(task, *sequence);
    if (result.outcome == BudgetOutcome::infeasible || !model) continue;
    apply_hints(*model, task.options.hints);
    LimitSearch search(task, *sequence, *std::move(model));
    LOWTIDE_RETURN_IF_ERROR(search.run(result.bound_picoseconds));
    result.tries += search.tries();
    if (search.smallest_arena() && (result.arena == Bytes(0) || *search.smallest_arena() < result.arena)) {
      result.arena = *search.smallest_arena();
    }
    if (search.best() && (!best || search.best()->picoseconds < best->picoseconds)) {
      best = search.best();
      best_of = sequence;
    }
  }
  if (best) {
    result.outcome = BudgetOutcome::found;
    result.picoseconds = best->picoseconds;
    result.arena = arena_bytes(best->plan);
    result.reruns = reruns_of(task.graph, best->plan.program, best_of->choice.kernels.planned);
    planned = with_plan(task, plans, *best_of, *std::move(best));
  }
  planned.recomputation = std::move(result);
  return planned;
}

}  // namespace lowtide::pipeline_internal
