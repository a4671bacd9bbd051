// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/base/result.h"
#include "lowtide/pipeline/assemble.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/schedule/streams.h"

namespace lowtide::detail {

// Everything that a plan on one stream was made from, and that plan, complete.
struct SpreadInput {
  const Graph& graph;
  const Schedule& sequential;
  const ChosenKernels& kernels;
  const std::vector<PlannedBodies>& bodies;
  const AliasOptions& aliases;
  const std::vector<Region>& regions;
  const Plan& plan;
  const PlanOptions& options;
};

// A complete plan and what it comes to.
struct SpreadPlan {
  Plan plan;
  StreamPoint point;
};

// Plans for `options.streams` streams at several caps on the load, by both priorities (schedule/streams.h), each with
// offsets and waits; the first is the plan on one stream. Without `options.curve` only caps that may lead to a plan
// within `options.stream_room`. O(points) times what a plan costs after its order is known.
[[nodiscard]] Result<std::vector<SpreadPlan>> spread_plans(const SpreadInput& input);

// The fastest whose arena is at most `room` percent above that of the first and that fits, if any does; among equals the
// one with the smallest arena. Never slower than the first. Require: not empty.
[[nodiscard]] std::size_t chosen_spread(const std::vector<SpreadPlan>& plans, int room);

// Marks the points that no other beats: less time for no more bytes, or fewer bytes for no more time.
void mark_frontier(std::vector<StreamPoint>& points);

}  // namespace lowtide::detail
