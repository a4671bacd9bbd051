// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/spread.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/pipeline/place.h"
#include "lowtide/schedule/waits.h"
#include "lowtide/target/cost.h"

namespace lowtide::detail {
namespace {

// Caps in percent of the load on one stream; beyond the last one, none.
constexpr std::array<int, 7> kCaps = {100, 105, 110, 115, 125, 150, 200};

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
  Plan plan = assemble(input.graph, schedule, input.kernels, input.bodies, input.aliases);
  plan.streams = input.options.streams;
  for (StepId id : all_ids<StepId>(plan.program.size())) {
    Step& step = plan.program[id];
    step.stream = streams.stream[id.index()];
    if (step.scratch) plan.buffers[*step.scratch].lifespan.end = StepId(streams.started_by_end[id.index()]);
  }
  return plan;
}

Result<SpreadPlan> spread_plan(const SpreadInput& input, const StreamSchedule& streams, Bytes cap,
                               StreamPriority priority) {
  SpreadPlan made{.plan = assemble_spread(input, streams), .point = {}};
  Plan& plan = made.plan;
  Result<Placed> placed =
      place(plan, input.sequential.aliases, input.regions, input.aliases, input.options.allocate_effort / 4);
  if (!placed) return placed.error();
  add_waits(input.graph, plan);
  plan.provenance = input.plan.provenance;
  plan.claims = input.plan.claims;
  plan.claims.load = streams.load;
  plan.claims.schedule_optimal = streams.load == plan.claims.bound;
  plan.claims.allocate = placed->strategy;
  plan.claims.allocate_optimal = arena_bytes(plan) == streams.load;
  std::int64_t waits = 0;
  for (const Step& step : plan.program) waits += static_cast<std::int64_t>(step.after.size());
  made.point = {.streams = plan.streams,
                .cap = cap == Bytes(limits::kMaxTotalBytes) ? std::nullopt : std::optional(cap),
                .priority = std::string(to_string(priority)),
                .load = streams.load,
                .arena = arena_bytes(plan),
                .picoseconds = streams.picoseconds,
                .waits = waits};
  return made;
}

bool fits(const Plan& plan) {
  const std::optional<Bytes>& capacity = plan.regions.back().capacity;
  return !capacity || plan.arena.back() <= *capacity;
}

}  // namespace

Result<std::vector<SpreadPlan>> spread_plans(const SpreadInput& input) {
  const IdVector<NodeId, std::int64_t> costs = costs_of(input);
  std::vector<SpreadPlan> plans;
  plans.push_back({input.plan,
                   {.streams = 1,
                    .cap = std::nullopt,
                    .priority = "",
                    .load = input.sequential.load,
                    .arena = arena_bytes(input.plan),
                    .picoseconds = time_on_one_stream(input, costs)}});
  std::vector<StreamSchedule> seen;
  for (StreamPriority priority : {StreamPriority::longest_path, StreamPriority::given_order}) {
    for (Bytes cap : caps_of(input)) {
      StreamSchedule streams = schedule_streams(
          input.graph, input.sequential, input.kernels, costs,
          {.streams = input.options.streams, .priority = priority, .cap = cap, .aliases = input.aliases});
      const bool is_known = std::any_of(seen.begin(), seen.end(), [&](const StreamSchedule& one) {
        return one.order == streams.order && one.stream == streams.stream &&
               one.started_by_end == streams.started_by_end;
      });
      if (is_known) continue;
      Result<SpreadPlan> made = spread_plan(input, streams, cap, priority);
      if (!made) return made.error();
      plans.push_back(*std::move(made));
      seen.push_back(std::move(streams));
    }
  }
  return plans;
}

std::size_t chosen_spread(const std::vector<SpreadPlan>& plans, int room) {
  const std::int64_t arena = plans[0].point.arena.count();
  const Bytes most(arena / 100 * (100 + room) + arena % 100 * (100 + room) / 100);
  const bool has_fitting =
      std::any_of(plans.begin(), plans.end(), [](const SpreadPlan& one) { return fits(one.plan); });
  const auto rank = [&](std::size_t at) {
    const StreamPoint& point = plans[at].point;
    const bool is_out = (has_fitting && !fits(plans[at].plan)) || point.arena > most;
    return std::tuple(is_out, point.picoseconds, point.arena, at);
  };
  std::size_t best = 0;
  for (std::size_t at = 1; at < plans.size(); ++at) {
    if (rank(at) < rank(best)) best = at;
  }
  return best;
}

void mark_frontier(std::vector<StreamPoint>& points) {
  const auto beats = [&](const StreamPoint& a, const StreamPoint& b) {
    if (a.picoseconds > b.picoseconds || a.arena > b.arena) return false;
    return a.picoseconds < b.picoseconds || a.arena < b.arena || &a < &b;  // of equal ones the first is shown
  };
  for (StreamPoint& point : points) {
    point.is_on_frontier =
        std::none_of(points.begin(), points.end(), [&](const StreamPoint& other) { return beats(other, point); });
  }
}

}  // namespace lowtide::detail
