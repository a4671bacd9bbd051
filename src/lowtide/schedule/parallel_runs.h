// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/schedule/waves.h"

namespace lowtide {

// A request for a run on several streams.
struct ParallelRequest {
  ExecutionModel run = ExecutionModel::streams;  // or waves
  std::optional<Bytes> cap;                      // on the load; nullopt: no cap
  StreamPriority priority = StreamPriority::longest_path;
  WaveFill fill = WaveFill::by_priority;  // of waves
};

struct ParallelOptions {
  ExecutionModel run = ExecutionModel::streams;  // or waves
  std::uint32_t streams = 2;
  int slack_percent = 15;     // how far the cap may exceed the load on one stream, unless `pareto_front` is set
  bool pareto_front = false;  // requests runs at all caps, and streams as well as waves
};

// A simulated run on several streams.
struct ParallelRun {
  ParallelRequest request;
  WaveSchedule waves;  // if streams are requested, only `waves.run` is set
};

// The runs to simulate, for a sequential schedule with this load. They differ in cap and priority, and waves also in
// their fill.
[[nodiscard]] std::vector<ParallelRequest> parallel_requests(Bytes load, const ParallelOptions& options);

// Estimated time of each node in picoseconds (target/cost.h), capped so that their sum cannot overflow.
[[nodiscard]] IdVector<NodeId, std::int64_t> node_costs(const Graph& graph, const ChosenKernels& kernels);

// The sum of the costs of all nodes except aliases, in the unit of `costs`.
[[nodiscard]] std::int64_t time_on_one_stream(const Schedule& sequential, const IdVector<NodeId, std::int64_t>& costs);

struct ParallelInput {
  const Graph& graph;
  const ChosenKernels& kernels;
  const Schedule& sequential;
  const AliasOptions& aliases;  // that `sequential` was measured with
  const IdVector<NodeId, std::int64_t>& costs;
};

// Simulates the run on `streams` streams, at the cost of schedule_streams or schedule_waves.
[[nodiscard]] ParallelRun simulate(const ParallelInput& input, const ParallelRequest& request, std::uint32_t streams);

// Whether two runs give the same plan.
[[nodiscard]] bool are_same(const ParallelRun& a, const ParallelRun& b);

// The sequential schedule with the order and the lifespans of a run. Its load is still that of the sequence.
[[nodiscard]] Schedule with_lifespans(Schedule sequential, const StreamSchedule& run);

}  // namespace lowtide
