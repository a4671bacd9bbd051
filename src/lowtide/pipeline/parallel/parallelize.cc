// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/parallel/parallelize.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/pipeline/parallel/plan_dataflow.h"
#include "lowtide/pipeline/place/assign_offsets.h"
#include "lowtide/pipeline/place/other_sharing.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/schedule/parallel_runs.h"
#include "lowtide/synchronize/barriers.h"
#include "lowtide/synchronize/waits.h"

namespace lowtide::pipeline_internal {
namespace {

// The share of the allocation effort that each plan gets.
constexpr std::int64_t kEffortShares = 4;

using Costs = IdVector<NodeId, std::int64_t>;

ParallelRun simulated(const ParallelizeInput& input, const Costs& costs, const ParallelRequest& request) {
  return simulate({input.graph, input.kernels, input.sequential, input.aliases, costs}, request,
                  input.task.options.streams);
}

// A draft with the steps of the run on their streams. Scratch lives until every step that may run at the same time has
// started.
Plan assembled(const ParallelizeInput& input, const StreamSchedule& run) {
  Plan draft = assemble(input, with_lifespans(input.sequential, run), input.aliases);
  set_streams(draft.program, input.task.options.streams);
  const std::vector<StepId> first = first_steps(run.order, input.sequential.aliases);
  for (std::size_t at = 0; at < run.order.size(); ++at) {
    for (StepId id = first[at]; id < first[at + 1]; id = StepId(id.value() + 1)) {
      draft.program.steps[id].stream = StreamId(run.stream[at]);
      const std::optional<BufferId>& scratch = draft.layout.steps[id].scratch;
      if (scratch) draft.layout.buffers[*scratch].lifespan.end = first[run.started_by_end[at]];
    }
  }
  return draft;
}

// The wave of each step. A node with copies is alone in its wave, and each of its steps becomes a wave.
std::vector<std::uint32_t> waves_of_steps(const WaveSchedule& waves, const std::vector<StepId>& first) {
  std::vector<std::uint32_t> by_step;
  for (std::size_t at = 0; at < waves.wave.size(); ++at) {
    for (StepId id = first[at]; id < first[at + 1]; id = StepId(id.value() + 1)) {
      const bool shares_wave = id == first[at] && at > 0 && waves.wave[at] == waves.wave[at - 1];
      by_step.push_back(by_step.empty() ? 0 : by_step.back() + (shares_wave ? 0 : 1));
    }
  }
  return by_step;
}

Result<Program> synchronized(const ParallelizeInput& input, const ParallelRun& found, Plan& draft) {
  if (found.request.run == ExecutionModel::waves) {
    const std::vector<StepId> first = first_steps(found.waves.run.order, input.sequential.aliases);
    return with_barriers(std::move(draft.program), waves_of_steps(found.waves, first));
  }
  return with_waits(input.graph, std::move(draft.program), draft.layout);
}

TradeOff trade_off_of(const ParallelRun& found, const Plan& plan) {
  TradeOff made{.run = found.request.run,
                .streams = static_cast<std::uint32_t>(plan.program.streams.size()),
                .cap = found.request.cap,
                .priority = std::string(to_string(found.request.priority)),
                .load = found.waves.run.load,
                .arena = arena_bytes(plan),
                .picoseconds = found.waves.run.picoseconds,
                .waits = count_waits(plan.program),
                .waves = found.waves.computing};
  if (found.request.run == ExecutionModel::waves) made.fill = to_string(found.request.fill);
  return made;
}

Result<ParallelPlan> plan_run(const ParallelizeInput& input, const ParallelRun& found, const Claims& claims) {
  const PlanOptions& options = input.task.options;
  Plan draft = assembled(input, found.waves.run);
  LOWTIDE_TRY(std::string allocate,
              assign_offsets(draft, input.sequential.aliases, input.aliases,
                             {.effort = options.allocate_effort / kEffortShares, .stop = options.stop}));
  LOWTIDE_TRY(Program program, synchronized(input, found, draft));
  draft.program = std::move(program);
  draft.execution = found.request.run;
  const Bytes excess = overflow(draft);
  Plan plan = complete_parallel_plan(input.task, claims, std::move(draft), found.waves.run.load, std::move(allocate));
  TradeOff trade_off = trade_off_of(found, plan);
  return ParallelPlan{std::move(plan), std::move(trade_off), excess};
}

// The same sequence with other ways to share buffers (other_sharing.h), for runs whose arena is above the peak.
class OtherSharing {
 public:
  explicit OtherSharing(const ParallelizeInput& input) : input_(input) {
    for (AliasOptions& aliases : other_ways(input.graph, input.sequential, input.aliases)) {
      Schedule sequential = share_again(input.graph, input.kernels, input.sequential, aliases);
      ways_.push_back({std::move(aliases), std::move(sequential)});
    }
  }

  // Replaces the plan if the same request gives a smaller arena and takes at most 1 % longer.
  Result<void> lower(const Costs& costs, const Claims& claims, const ParallelRequest& request,
                     ParallelPlan& plan) const {
    const std::int64_t longest = plan.trade_off.picoseconds + plan.trade_off.picoseconds / 100;
    for (const Way& way : ways_) {
      if (plan.trade_off.arena == plan.trade_off.load) break;
      const PlanParts& parts = input_;
      const ParallelizeInput input{parts, input_.task, way.sequential, way.aliases};
      const ParallelRun found = simulated(input, costs, request);
      if (found.waves.run.picoseconds > longest || found.waves.run.load >= plan.trade_off.arena) continue;
      LOWTIDE_TRY(ParallelPlan made, plan_run(input, found, claims));
      if (made.trade_off.arena < plan.trade_off.arena) plan = std::move(made);
    }
    return {};
  }

 private:
  struct Way {
    AliasOptions aliases;
    Schedule sequential;
  };
  const ParallelizeInput& input_;
  std::vector<Way> ways_;
};

Result<void> add_runs(const ParallelizeInput& input, const Costs& costs, const Claims& claims,
                      std::vector<ParallelPlan>& plans) {
  const PlanOptions& options = input.task.options;
  std::vector<ParallelRun> known;
  std::optional<OtherSharing> other;  // made when it is needed
  const std::vector<ParallelRequest> requests =
      parallel_requests(input.sequential.load, {.run = options.run,
                                                .streams = options.streams,
                                                .slack_percent = options.arena_slack_percent,
                                                .pareto_front = options.pareto_front});
  for (const ParallelRequest& request : requests) {
    ParallelRun found = simulated(input, costs, request);
    if (std::any_of(known.begin(), known.end(), [&](const ParallelRun& one) { return are_same(one, found); })) continue;
    LOWTIDE_TRY(ParallelPlan made, plan_run(input, found, claims));
    if (made.trade_off.arena > made.trade_off.load && writable_regions(input.machine, kWorker).size() == 1) {
      if (!other) other.emplace(input);
      LOWTIDE_RETURN_IF_ERROR(other->lower(costs, claims, request, made));
    }
    plans.push_back(std::move(made));
    known.push_back(std::move(found));
  }
  return {};
}

// The plan on one stream, then the others.
Result<std::vector<ParallelPlan>> all_plans(const ParallelizeInput& input, const Costs& costs, const Plan& sequence) {
  std::vector<ParallelPlan> plans;
  plans.push_back({sequence,
                   {.load = input.sequential.load,
                    .arena = arena_bytes(sequence),
                    .picoseconds = time_on_one_stream(input.sequential, costs)},
                   overflow(input.machine, sequence.layout)});
  if (input.task.options.run == ExecutionModel::dataflow) {
    LOWTIDE_TRY(ParallelPlan made, plan_dataflow(input, costs, sequence.claims));
    plans.push_back(std::move(made));
    return plans;
  }
  LOWTIDE_RETURN_IF_ERROR(add_runs(input, costs, sequence.claims, plans));
  return plans;
}

std::size_t chosen_of(const std::vector<ParallelPlan>& plans, const PlanOptions& options) {
  if (options.run == ExecutionModel::dataflow) return plans.size() - 1;
  const std::int64_t arena = plans[0].trade_off.arena.count();
  const int percent = 100 + options.arena_slack_percent;
  const Bytes most(arena / 100 * percent + arena % 100 * percent / 100);
  const auto is_requested = [&](const ParallelPlan& one) {
    return one.trade_off.run == options.run || one.trade_off.run == ExecutionModel::sequence;
  };
  const auto fits = [](const ParallelPlan& one) { return one.overflow == Bytes(0); };
  const bool has_fitting =
      std::any_of(plans.begin(), plans.end(), [&](const ParallelPlan& one) { return is_requested(one) && fits(one); });
  const auto grade = [&](std::size_t at) {
    const bool is_too_large = (has_fitting && !fits(plans[at])) || plans[at].trade_off.arena > most;
    return std::tuple(!is_requested(plans[at]), is_too_large);
  };
  const auto speed_rank = [&](std::size_t at) {
    return std::tuple(grade(at), plans[at].trade_off.picoseconds, plans[at].trade_off.arena, at);
  };
  const auto size_rank = [&](std::size_t at) {
    return std::tuple(plans[at].trade_off.arena, plans[at].trade_off.picoseconds, at);
  };
  std::size_t fastest = 0;
  for (std::size_t at = 1; at < plans.size(); ++at) {
    if (speed_rank(at) < speed_rank(fastest)) fastest = at;
  }
  // More memory must be worth it. But no plan may be slower than the one on one stream.
  const std::int64_t least_time = plans[fastest].trade_off.picoseconds;
  const std::int64_t most_time =
      std::min(least_time + least_time / 100 * kTimeTolerancePercent, plans[0].trade_off.picoseconds);
  std::size_t best = fastest;
  for (std::size_t at = 0; at < plans.size(); ++at) {
    if (grade(at) != grade(fastest) || plans[at].trade_off.picoseconds > most_time) continue;
    if (size_rank(at) < size_rank(best)) best = at;
  }
  return best;
}

}  // namespace

Result<PlannedGraph> parallelize(const ParallelizeInput& input, PlannedGraph sequence) {
  sequence.costs = node_costs(input.graph, input.kernels);
  LOWTIDE_TRY(std::vector<ParallelPlan> plans, all_plans(input, sequence.costs, sequence.plan));
  const std::vector<PlanStage>& skip = input.task.options.skip;
  const bool verifies = std::find(skip.begin(), skip.end(), PlanStage::verify) == skip.end();
  const std::size_t chosen = chosen_of(plans, input.task.options);
  for (std::size_t at = 0; at < plans.size(); ++at) {
    ParallelPlan& one = plans[at];
    one.trade_off.is_chosen = at == chosen;
    sequence.trade_offs.push_back(std::move(one.trade_off));
    if (at == chosen || !verifies) continue;
    for (Violation& violation : verify(input.graph, one.plan)) sequence.violations.push_back(std::move(violation));
  }
  mark_pareto_front(sequence.trade_offs);
  sequence.plan = std::move(plans[chosen].plan);
  return sequence;
}

void mark_pareto_front(std::vector<TradeOff>& trade_offs) {
  const auto beats = [&](const TradeOff& a, const TradeOff& b) {
    if (a.run != b.run && a.run != ExecutionModel::sequence) return false;
    if (a.picoseconds > b.picoseconds || a.arena > b.arena) return false;
    return a.picoseconds < b.picoseconds || a.arena < b.arena || &a < &b;
  };
  for (TradeOff& one : trade_offs) {
    one.is_pareto_optimal =
        std::none_of(trade_offs.begin(), trade_offs.end(), [&](const TradeOff& other) { return beats(other, one); });
  }
}

}  // namespace lowtide::pipeline_internal
