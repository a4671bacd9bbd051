// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/target/target.h"

namespace lowtide {

// Plans a graph and, unless that stage is skipped, verifies the plan. plan_graph.cc runs the stages, in order.
//
// Each node has the fastest kernel of the target, unless the plan then exceeds the capacities or the budget. In this
// case, the plan is the fastest that was found to fit, or the smallest if none fits. Nodes at the peak exchange their
// kernels first (pipeline/sequence/exchange.h). For streams, waves and dataflow, this is decided by the plan for that
// run (pipeline/parallel/choose_parallel.h). If no choice of kernels keeps a budget on one stream, nodes run again, and
// tensors leave the arena over a link of the target (pipeline/recompute/recompute.h).
//
// For several streams or waves, the choice is among all tried plans, including the sequence, whose arena is within
// `arena_slack_percent`. It is the smallest plan of those that take at most kTimeTolerancePercent longer than the
// fastest. It never takes longer than the sequence. For dataflow it is the smallest of the dataflow plans, because a
// dataflow runtime cannot run other plans. The bodies of nodes run on one stream each. The bounds of sequences hold
// for all of these plans, because one of their runs is the list of steps one by one.
//
// Errors (invalid): an unknown order, a target without workers, without a region that the first of them can write, or
// with constants that it cannot address, a number of streams or a budget out of
// range, a required stage in `skip`. Errors (over_limit): sizes that a plan file cannot hold (plan/plan_limits.h),
// graphs that are too large or too wide for dataflow (schedule/dataflow.h), too many barriers. A budget that is not met
// is an answer, not an error. Near linear except for dataflow and for the efforts of the options.
[[nodiscard]] Result<PlannedGraph> plan_graph(const Graph& graph, const Target& target,
                                              const PlanOptions& options = {});

}  // namespace lowtide
