// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/spread.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/pipeline/dataflow_plan.h"
#include "lowtide/pipeline/other_sharing.h"
#include "lowtide/pipeline/place.h"
#include "lowtide/schedule/streams.h"
#include "lowtide/synchronize/waits.h"
#include "lowtide/schedule/waves.h"
#include "lowtide/synchronize/barriers.h"
#include "lowtide/target/cost.h"

namespace lowtide::detail {
namespace {

// Caps in percent of the load on one stream; beyond the last one, none.
constexpr std::array<int, 7> kCaps = {100, 105, 110, 115, 125, 150, 200};

constexpr std::array kPriorities = {StreamPriority::longest_path, StreamPriority::given_order};

IdVector<NodeId, std::int64_t> costs_of(const SpreadInput& input) {
  const std::size_t nodes = input.graph.nodes().size();
  const std::int64_t most = (std::int64_t{1} << 61) / static_cast<std::int64_t>(std::max<std::size_t>(nodes, 1));
  IdVector<NodeId, std::int64_t> costs;
  costs.reserve(nodes);
  for (NodeId id : all_ids<NodeId>(nodes)) {
    costs.push_back(std::min(estimated_picoseconds(input.graph, id, input.kernels[id]), most));
  }
  return costs;
}

std::int64_t time_on_one_stream(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs) {
  std::int64_t sum = 0;
  for (NodeId id : all_ids<NodeId>(costs.size())) {
    if (input.sequential.aliases.step_kinds[id] == StepKind::compute) sum += costs[id];
  }
  return sum;
}

std::vector<Bytes> caps_of(const SpreadInput& input) {
  std::vector<int> percents(kCaps.begin(), kCaps.end());
  if (!input.options.curve) {
    std::erase_if(percents, [&](int percent) { return percent > 100 + input.options.stream_room; });
    percents.push_back(100 + input.options.stream_room);
    std::sort(percents.begin(), percents.end());
    percents.erase(std::unique(percents.begin(), percents.end()), percents.end());
  }
  std::vector<Bytes> caps;
  const std::int64_t load = input.sequential.load.count();
  for (int percent : percents) caps.emplace_back(load / 100 * percent + load % 100 * percent / 100);
  if (input.options.curve) caps.emplace_back(limits::kMaxTotalBytes);
  return caps;
}

// Of the class, or of its parts.
void set_lifespans(AliasClass& alias, const std::vector<Lifespan>& lifespans) {
  alias.lifespan = lifespans.front();
  for (const Lifespan& one : lifespans) {
    alias.lifespan = {std::min(alias.lifespan.begin, one.begin), std::max(alias.lifespan.end, one.end)};
  }
  for (std::size_t at = 0; at < alias.parts.size(); ++at) alias.parts[at].lifespan = lifespans[at];
}

// The sequential plan, its steps listed and timed anew.
Plan assemble_spread(const SpreadInput& input, const StreamSchedule& streams) {
  Schedule schedule = input.sequential;
  schedule.order = streams.order;
  for (AliasClassId id : all_ids<AliasClassId>(streams.lifespans.size())) {
    set_lifespans(schedule.aliases.classes[id], streams.lifespans[id]);
  }
  Plan plan = assemble(input, schedule, input.aliases);
  set_streams(plan.program, input.options.streams);
  for (StepId id : all_ids<StepId>(streams.order.size())) {
    plan.program.steps[id].stream = StreamId(streams.stream[id.index()]);
    const std::optional<BufferId>& scratch = plan.layout.steps[id].scratch;
    if (scratch) plan.layout.buffers[*scratch].lifespan.end = StepId(streams.started_by_end[id.index()]);
  }
  return plan;
}

// What a run is to be like.
struct Wish {
  ExecutionModel run = ExecutionModel::streams;  // or waves
  Bytes cap;
  StreamPriority priority = StreamPriority::longest_path;
  WaveFill fill = WaveFill::by_priority;  // of waves
};

// One run that was found, before it is a plan.
struct Found {
  Wish wish;
  WaveSchedule waves;  // of streams `run` alone
};

bool is_same(const Found& a, const Found& b) {
  return a.wish.run == b.wish.run && a.waves.run.order == b.waves.run.order &&
         a.waves.run.stream == b.waves.run.stream && a.waves.run.started_by_end == b.waves.run.started_by_end;
}

Result<SpreadPlan> spread_plan(const SpreadInput& input, const Found& found) {
  const StreamSchedule& run = found.waves.run;
  const Wish& wish = found.wish;
  SpreadPlan made{.plan = assemble_spread(input, run), .point = {}};
  Plan& plan = made.plan;
  Result<Placed> placed = place(plan, input.sequential.aliases, input.aliases, input.options.allocate_effort / 4);
  if (!placed) return placed.error();
  if (wish.run == ExecutionModel::waves) {
    Result<Program> program = with_barriers(std::move(plan.program), found.waves.wave);
    if (!program) return program.error();
    plan.program = *std::move(program);
  } else {
    plan.program = with_waits(input.graph, std::move(plan.program), plan.layout);
  }
  plan.execution = wish.run;
  set_claims(plan, input.plan, run.load, placed->strategy);
  made.point = {.run = wish.run,
                .streams = static_cast<std::uint32_t>(plan.program.streams.size()),
                .cap = wish.cap == Bytes(limits::kMaxTotalBytes) ? std::nullopt : std::optional(wish.cap),
                .priority = std::string(to_string(wish.priority)),
                .load = run.load,
                .arena = arena_bytes(plan),
                .picoseconds = run.picoseconds,
                .waits = waits_of(plan)};
  if (wish.run == ExecutionModel::waves) made.point.fill = to_string(wish.fill);
  made.point.waves = found.waves.computing;
  return made;
}

std::vector<Wish> wishes_of(const SpreadInput& input) {
  std::vector<Wish> wishes;
  const std::vector<Bytes> caps = caps_of(input);
  const bool is_curve = input.options.curve;
  for (StreamPriority priority : kPriorities) {
    if (input.options.run != ExecutionModel::streams && !is_curve) break;
    for (Bytes cap : caps) wishes.push_back({.run = ExecutionModel::streams, .cap = cap, .priority = priority});
  }
  for (StreamPriority priority : kPriorities) {
    if (input.options.run != ExecutionModel::waves && !is_curve) break;
    for (WaveFill fill : {WaveFill::by_priority, WaveFill::by_cost}) {
      for (Bytes cap : caps)
        wishes.push_back({.run = ExecutionModel::waves, .cap = cap, .priority = priority, .fill = fill});
    }
  }
  return wishes;
}

Found find(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs, const Wish& wish) {
  Found found{.wish = wish, .waves = {}};
  if (wish.run == ExecutionModel::streams) {
    found.waves.run = schedule_streams(
        input.graph, input.sequential, input.kernels, costs,
        {.streams = input.options.streams, .priority = wish.priority, .cap = wish.cap, .aliases = input.aliases});
  } else {
    found.waves = schedule_waves(input.graph, input.sequential, input.kernels, costs,
                                 {.most = input.options.streams,
                                  .priority = wish.priority,
                                  .fill = wish.fill,
                                  .cap = wish.cap,
                                  .aliases = input.aliases});
  }
  return found;
}

// The same sequence with other ways to share (other_sharing.h), for runs whose offsets leave a gap.
class OtherSharing {
 public:
  explicit OtherSharing(const SpreadInput& input) : input_(input) {
    for (AliasOptions& aliases : other_ways(input.graph, input.sequential, input.aliases)) {
      Schedule sequential = shared_anew(input.graph, input.kernels, input.sequential, aliases);
      ways_.push_back({std::move(aliases), std::move(sequential)});
    }
  }

  // The plan of the same wish with the smallest arena, if it takes no longer but for one part in a hundred.
  Result<void> lower(const IdVector<NodeId, std::int64_t>& costs, const Wish& wish, SpreadPlan& plan) const {
    const std::int64_t longest = plan.point.picoseconds + plan.point.picoseconds / 100;
    for (const Way& way : ways_) {
      if (plan.point.arena == plan.point.load) break;
      const SpreadInput input{input_, way.sequential, way.aliases, input_.plan, input_.options};
      const Found found = find(input, costs, wish);
      if (found.waves.run.picoseconds > longest || found.waves.run.load >= plan.point.arena) continue;
      Result<SpreadPlan> made = spread_plan(input, found);
      if (!made) return made.error();
      if (made->point.arena < plan.point.arena) plan = *std::move(made);
    }
    return {};
  }

 private:
  struct Way {
    AliasOptions aliases;
    Schedule sequential;
  };
  const SpreadInput& input_;
  std::vector<Way> ways_;
};

// Those that are new.
Result<void> add_plans(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs,
                       std::vector<SpreadPlan>& plans) {
  std::vector<Found> all;
  std::optional<OtherSharing> other;  // made where it is needed
  for (const Wish& wish : wishes_of(input)) {
    Found found = find(input, costs, wish);
    if (std::any_of(all.begin(), all.end(), [&](const Found& one) { return is_same(one, found); })) continue;
    Result<SpreadPlan> made = spread_plan(input, found);
    if (!made) return made.error();
    if (made->point.arena > made->point.load && addressable_regions(input.machine, kWorker).size() == 1) {
      if (!other) other.emplace(input);
      LOWTIDE_RETURN_IF_ERROR(other->lower(costs, wish, *made));
    }
    plans.push_back(*std::move(made));
    all.push_back(std::move(found));
  }
  return {};
}

bool fits(const Plan& plan) { return overflow(plan) == Bytes(0); }

}  // namespace

bool asks_for_spread(const PlanOptions& options) {
  return options.run == ExecutionModel::dataflow || (options.run != ExecutionModel::sequence && options.streams > 1);
}

Result<std::vector<SpreadPlan>> spread_plans(const SpreadInput& input) {
  const IdVector<NodeId, std::int64_t> costs = costs_of(input);
  std::vector<SpreadPlan> plans;
  plans.push_back({input.plan,
                   {.load = input.sequential.load,
                    .arena = arena_bytes(input.plan),
                    .picoseconds = time_on_one_stream(input, costs)}});
  if (input.options.run == ExecutionModel::dataflow) {
    Result<SpreadPlan> made = dataflow_plan(input, costs);
    if (!made) return made.error();
    plans.push_back(*std::move(made));
    return plans;
  }
  LOWTIDE_RETURN_IF_ERROR(add_plans(input, costs, plans));
  return plans;
}

std::size_t chosen_spread(const std::vector<SpreadPlan>& plans, const PlanOptions& options) {
  if (options.run == ExecutionModel::dataflow) return plans.size() - 1;
  const std::int64_t arena = plans[0].point.arena.count();
  const int percent = 100 + options.stream_room;
  const Bytes most(arena / 100 * percent + arena % 100 * percent / 100);
  const auto is_asked_for = [&](const SpreadPlan& one) {
    return one.point.run == options.run || one.point.run == ExecutionModel::sequence;
  };
  const bool has_fitting = std::any_of(plans.begin(), plans.end(),
                                       [&](const SpreadPlan& one) { return is_asked_for(one) && fits(one.plan); });
  const auto rank = [&](std::size_t at) {
    const StreamPoint& point = plans[at].point;
    const bool is_out = (has_fitting && !fits(plans[at].plan)) || point.arena > most;
    return std::tuple(!is_asked_for(plans[at]), is_out, point.picoseconds, point.arena, at);
  };
  std::size_t best = 0;
  for (std::size_t at = 1; at < plans.size(); ++at) {
    if (rank(at) < rank(best)) best = at;
  }
  return best;
}

bool reaches_bound(const Plan& plan) { return bound_of(plan).bytes == plan.claims.load; }

void set_claims(Plan& plan, const Plan& sequential, Bytes load, const std::string& allocate) {
  plan.provenance = sequential.provenance;
  plan.claims = sequential.claims;
  plan.claims.load = load;
  plan.claims.schedule_optimal = reaches_bound(plan);
  plan.claims.allocate = allocate;
  plan.claims.allocate_optimal = arena_bytes(plan) == load;
}

std::int64_t waits_of(const Plan& plan) {
  std::int64_t waits = 0;
  for (const Step& step : plan.program.steps) waits += static_cast<std::int64_t>(step.after.size());
  return waits;
}

void mark_frontier(std::vector<StreamPoint>& points) {
  const auto beats = [&](const StreamPoint& a, const StreamPoint& b) {
    if (a.run != b.run && a.run != ExecutionModel::sequence) return false;
    if (a.picoseconds > b.picoseconds || a.arena > b.arena) return false;
    return a.picoseconds < b.picoseconds || a.arena < b.arena || &a < &b;  // of equal ones the first is shown
  };
  for (StreamPoint& point : points) {
    point.is_on_frontier =
        std::none_of(points.begin(), points.end(), [&](const StreamPoint& other) { return beats(other, point); });
  }
}

}  // namespace lowtide::detail
