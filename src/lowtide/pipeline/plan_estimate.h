// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// How long a run of a plan takes by the costs of its target, and where these costs are from.
struct PlanEstimate {
  std::int64_t picoseconds = 0;  // of all kernels one after another, and of what the run waits for a link
  std::int64_t kernels = 0;      // steps that run one; a node with bodies is one step
  std::int64_t measured = 0;     // the part of them whose cost was measured (CostSource::measured)
  std::int64_t of_target = 0;    // the part of them whose cost a target file states; the others have the plain model
  // Whether it can be compared with measured times of other graphs: nine in ten kernels are measured.
  [[nodiscard]] bool is_mostly_measured() const { return measured * 10 >= kernels * 9; }
  friend bool operator==(const PlanEstimate&, const PlanEstimate&) = default;
};

namespace pipeline_internal {

// The time of a plan whose copies take none. The sum ends at cost_model::kMostPicoseconds. O(steps).
[[nodiscard]] PlanEstimate estimate_of(const Graph& graph, const Program& program, const ChosenKernels& kernels);

}  // namespace pipeline_internal

}  // namespace lowtide
