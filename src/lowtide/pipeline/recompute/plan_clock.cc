// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/plan_clock.h"

#include <algorithm>

#include "lowtide/plan/transfers.h"
#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {
namespace {

std::int64_t later(std::int64_t time, std::int64_t by) { return std::min(time + by, cost_model::kMostPicoseconds); }

std::int64_t copy_picoseconds(const Link& link, std::int64_t bytes) {
  const Int128 whole =
      nanoseconds_to_move(bytes, link.bytes_per_second) * kPicosecondsPerNanosecond + link.latency_picoseconds;
  return whole > cost_model::kMostPicoseconds ? cost_model::kMostPicoseconds : static_cast<std::int64_t>(whole);
}

}  // namespace

PlanClock clock_of(const Graph& graph, const Plan& plan, const ChosenKernels& kernels) {
  const Program& program = plan.program;
  PlanClock clock;
  IdVector<StreamId, std::int64_t> free(program.streams.size(), 0);
  for (const Step& step : program.steps) {
    std::int64_t begin = free[step.stream];
    for (StepId before : step.after) begin = std::max(begin, clock.ends[before]);
    std::int64_t takes = 0;
    if (const auto* compute = std::get_if<Compute>(&step.work)) {
      takes = estimated_picoseconds(graph, compute->node, kernels[compute->node]);
      clock.kernels = later(clock.kernels, takes);
    } else if (const auto* copy = std::get_if<Copy>(&step.work); copy != nullptr && program.streams[step.stream].link) {
      takes =
          copy_picoseconds(plan.machine.links[*program.streams[step.stream].link], copy->bytes.end - copy->bytes.begin);
    }
    clock.begins.push_back(begin);
    clock.ends.push_back(later(begin, takes));
    free[step.stream] = later(begin, takes);
    clock.end = std::max(clock.end, free[step.stream]);
  }
  return clock;
}

}  // namespace lowtide::pipeline_internal
