// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/parallel_runs.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "lowtide/base/limits.h"
#include "lowtide/target/cost.h"

namespace lowtide {
namespace {

// Caps in percent of the load on one stream. A Pareto front has a run without a cap as well.
constexpr std::array<int, 7> kCaps = {100, 105, 110, 115, 125, 150, 200};

constexpr std::array kPriorities = {StreamPriority::longest_path, StreamPriority::given_order};
constexpr std::array kFills = {WaveFill::by_priority, WaveFill::by_cost};

std::vector<std::optional<Bytes>> caps_of(Bytes load, const ParallelOptions& options) {
  std::vector<int> percents(kCaps.begin(), kCaps.end());
  if (!options.pareto_front) {
    const int most = 100 + options.slack_percent;
    std::erase_if(percents, [&](int percent) { return percent > most; });
    if (percents.empty() || percents.back() != most) percents.push_back(most);
  }
  std::vector<std::optional<Bytes>> caps;
  const std::int64_t bytes = load.count();
  for (int percent : percents) caps.emplace_back(Bytes(bytes / 100 * percent + bytes % 100 * percent / 100));
  if (options.pareto_front) caps.emplace_back(std::nullopt);
  return caps;
}

void set_lifespans(AliasClass& alias, const std::vector<Lifespan>& lifespans) {
  alias.lifespan = lifespans.front();
  for (const Lifespan& one : lifespans) {
    alias.lifespan = {std::min(alias.lifespan.begin, one.begin), std::max(alias.lifespan.end, one.end)};
  }
  for (std::size_t at = 0; at < alias.parts.size(); ++at) alias.parts[at].lifespan = lifespans[at];
}

}  // namespace

std::vector<ParallelRequest> parallel_requests(Bytes load, const ParallelOptions& options) {
  std::vector<ParallelRequest> requests;
  const std::vector<std::optional<Bytes>> caps = caps_of(load, options);
  const auto is_wanted = [&](ExecutionModel run) { return options.pareto_front || options.run == run; };
  for (StreamPriority priority : kPriorities) {
    if (!is_wanted(ExecutionModel::streams)) break;
    for (const std::optional<Bytes>& cap : caps) {
      requests.push_back({.run = ExecutionModel::streams, .cap = cap, .priority = priority});
    }
  }
  for (StreamPriority priority : kPriorities) {
    if (!is_wanted(ExecutionModel::waves)) break;
    for (WaveFill fill : kFills) {
      for (const std::optional<Bytes>& cap : caps) {
        requests.push_back({.run = ExecutionModel::waves, .cap = cap, .priority = priority, .fill = fill});
      }
    }
  }
  return requests;
}

IdVector<NodeId, std::int64_t> node_costs(const Graph& graph, const ChosenKernels& kernels) {
  const std::size_t nodes = graph.nodes().size();
  const std::int64_t most = (std::int64_t{1} << 61) / static_cast<std::int64_t>(std::max<std::size_t>(nodes, 1));
  IdVector<NodeId, std::int64_t> costs;
  costs.reserve(nodes);
  for (NodeId id : all_ids<NodeId>(nodes)) {
    costs.push_back(std::min(estimated_picoseconds(graph, id, kernels[id]), most));
  }
  return costs;
}

std::int64_t time_on_one_stream(const Schedule& sequential, const IdVector<NodeId, std::int64_t>& costs) {
  std::int64_t sum = 0;
  for (NodeId id : all_ids<NodeId>(costs.size())) {
    if (sequential.aliases.step_kinds[id] != StepKind::alias) sum += costs[id];
  }
  return sum;
}

ParallelRun simulate(const ParallelInput& input, const ParallelRequest& request, std::uint32_t streams) {
  ParallelRun made{.request = request, .waves = {}};
  const Bytes cap = request.cap.value_or(Bytes(limits::kMaxTotalBytes));
  if (request.run == ExecutionModel::streams) {
    made.waves.run =
        schedule_streams(input.graph, input.sequential, input.kernels, input.costs,
                         {.streams = streams, .priority = request.priority, .cap = cap, .aliases = input.aliases});
  } else {
    made.waves = schedule_waves(
        input.graph, input.sequential, input.kernels, input.costs,
        {.most = streams, .priority = request.priority, .fill = request.fill, .cap = cap, .aliases = input.aliases});
  }
  return made;
}

bool are_same(const ParallelRun& a, const ParallelRun& b) {
  return a.request.run == b.request.run && a.waves.run.order == b.waves.run.order &&
         a.waves.run.stream == b.waves.run.stream && a.waves.run.started_by_end == b.waves.run.started_by_end;
}

Schedule with_lifespans(Schedule sequential, const StreamSchedule& run) {
  sequential.order = run.order;
  for (AliasClassId id : all_ids<AliasClassId>(run.lifespans.size())) {
    set_lifespans(sequential.aliases.classes[id], run.lifespans[id]);
  }
  return sequential;
}

}  // namespace lowtide
