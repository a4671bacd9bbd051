// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_estimate.h"

#include <algorithm>
#include <variant>

#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {

PlanEstimate estimate_of(const Graph& graph, const Program& program, const ChosenKernels& kernels) {
  PlanEstimate estimate;
  for (const Step& step : program.steps) {
    const auto* compute = std::get_if<Compute>(&step.work);
    if (compute == nullptr) continue;
    const Kernel& kernel = kernels[compute->node];
    const std::int64_t cost = estimated_picoseconds(graph, compute->node, kernel);
    estimate.picoseconds = std::min(estimate.picoseconds + cost, cost_model::kMostPicoseconds);
    ++estimate.kernels;
    if (kernel.cost_source == CostSource::measured) ++estimate.measured;
    if (kernel.cost_source == CostSource::target) ++estimate.of_target;
  }
  return estimate;
}

}  // namespace lowtide::pipeline_internal
