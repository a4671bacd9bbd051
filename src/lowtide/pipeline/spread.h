// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/pipeline/assemble.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::detail {

// Everything that a plan on one stream was made from, and that plan, complete.
struct SpreadInput : PlanParts {
  const Schedule& sequential;
  const AliasOptions& aliases;
  const Plan& plan;
  const PlanOptions& options;
};

// A complete plan and what it comes to.
struct SpreadPlan {
  Plan plan;
  StreamPoint point;
};

// Whether the options ask for more than a sequence.
[[nodiscard]] bool asks_for_spread(const PlanOptions& options);

// The plan on one stream, then those of the form that `options.run` names, each with offsets and waits: for streams
// (schedule/streams.h) or waves (schedule/waves.h) of `options.streams` at several caps on the load, by several
// priorities; for dataflow one (dataflow_plan.h). Without `options.curve` only caps that may lead to a plan within
// `options.stream_room`; with it, streams and waves where one of them is asked for. Where offsets leave a gap, the same
// with whole buffers, or with slices, splits and concats that copy, if that is lower and hardly slower. O(points) times
// what a plan costs after its order is known. Errors: those of with_barriers and dataflow_plan.
[[nodiscard]] Result<std::vector<SpreadPlan>> spread_plans(const SpreadInput& input);

// Of those of the form asked for, and the first, which is one of streams and of waves too: the fastest whose arena is at
// most `stream_room` percent above that of the first and that fits, if any does; among equals the one with the smallest
// arena. Never slower than the first. Of dataflow there is one. Require: not empty.
[[nodiscard]] std::size_t chosen_spread(const std::vector<SpreadPlan>& plans, const PlanOptions& options);

// Whether the claimed load is the best claimed bound for plans such as this one.
[[nodiscard]] bool reaches_bound(const Plan& plan);

// The claims of a plan with offsets whose program was made anew. `load`: of its lifespans. `allocate`: what found them.
void set_claims(Plan& plan, const Plan& sequential, Bytes load, const std::string& allocate);

[[nodiscard]] std::int64_t waits_of(const Plan& plan);

// Marks the points that no other of their form and no sequence beats: less time for no more bytes, or fewer bytes for no
// more time.
void mark_frontier(std::vector<StreamPoint>& points);

}  // namespace lowtide::detail
