// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/pipeline/place/place_schedule.h"
#include "lowtide/pipeline/sequence/bodies.h"
#include "lowtide/pipeline/sequence/kernel_choice.h"
#include "lowtide/schedule/choose_order.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::pipeline_internal {

// A graph planned on one stream, for one choice of kernels.
struct Sequence {
  KernelChoice choice;
  ChosenOrder order;                              // the schedule of `placed` replaces its best one
  BoundScope bound_scope = BoundScope::run_once;  // of order.bound
  PlacedSchedule placed;
  OrderBoundCheck check;  // of order.bound
};

// The plans of a graph with different kernels.
struct Alternatives {
  KernelOptions options;
  BodyPlans bodies;
  Sequence fastest;
  std::optional<Sequence> lightest = std::nullopt;   // nullopt: no kernel needs less, or the stage did not run
  std::optional<Sequence> exchanged = std::nullopt;  // fits, unlike `fastest`, and is faster than `lightest`
  LoadBound for_all_kernels = {};                    // a bound of scope run_once

  // The plan to use: the fastest that fits, otherwise the one with the smallest arena.
  [[nodiscard]] const Sequence& chosen(const Task& task) const;
};

[[nodiscard]] PlanParts parts_of(const Task& task, const KernelChoice& choice);

}  // namespace lowtide::pipeline_internal
