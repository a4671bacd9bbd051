// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/target/target.h"
#include "lowtide/verify/check_bound.h"
#include "lowtide/verify/verify.h"

namespace lowtide {

struct PlanOptions {
  std::string order = "auto";  // a name of schedule_strategies(), or auto
  // Capacity of all arenas together, where the target's regions do not say less; at most limits::kMaxArenaBytes.
  std::optional<Bytes> budget;
  bool views = true;              // off: every Reshape and Concat copies
  bool parts = true;              // off: all bytes of a buffer live as long as one of them (Buffer::parts)
  bool in_place = true;           // off: no kernel writes over its input
  bool verify = true;             // off only where the caller verifies
  std::int64_t order_effort = 0;  // of ScheduleOptions; 0: its default
  // For a second look at the bound by a search of verify's own (check_order_bound); 0: only what one sum shows.
  std::int64_t bound_check_effort = 0;
  std::int64_t allocate_effort = 200'000'000;    // work units of AllocateOptions
  std::uint32_t streams = 1;                     // that run at once; 1 to limits::kMaxStreams; dataflow ignores it
  ExecutionModel run = ExecutionModel::streams;  // with one stream, and not dataflow: sequence
  int stream_room = 15;           // percent: how much larger the arena may be than on one stream; not for dataflow
  bool curve = false;             // also plans with less and more room, streams beside waves: costs a plan each
  std::string tool = "lowtide";   // Provenance::tool
  std::string model_sha256;       // Provenance::model_sha256
  std::vector<std::string> dims;  // Provenance::dims
};

// How long a pass took; wall clock, for people only: nothing is decided by it.
struct PassTime {
  std::string pass;
  double seconds = 0;
};

// One way to run the plan: what it takes and how long it would run, by the costs of target/cost.h.
struct StreamPoint {
  ExecutionModel run = ExecutionModel::sequence;
  std::uint32_t streams = 1;  // dataflow: chains that cover the graph
  std::optional<Bytes> cap;   // of the load, while steps were spread; nothing: none
  std::string priority;       // of StreamPriority; empty in a sequence and in dataflow
  std::string fill;           // of WaveFill; empty but for waves
  Bytes load;
  Bytes arena;
  std::int64_t picoseconds = 0;  // estimated
  std::int64_t waits = 0;        // for steps of other streams
  std::uint32_t waves = 0;       // in which something runs; 0 but for waves
  // No other point of its form, nor the sequence, has less of one and no more of the other, nor an earlier one the same.
  bool is_on_frontier = false;
  bool is_chosen = false;  // it is the plan
};

struct PlannedGraph {
  Plan plan;
  PlainFigures plain;
  Bytes largest_step;                // the plainest bound, beside those of Claims
  std::optional<NodeId> bound_node;  // while it runs the bound must live; nothing: at the end, or shown by search
  // Whether the bound of scope run_once holds for all orders, found out by code that shares none with what chose the order. With
  // bodies: the bounds that they add are confirmed too.
  OrderBoundCheck bound_check;
  std::vector<std::pair<std::string, Bytes>> orders_tried;
  std::int64_t searched_sets = 0;         // of nodes that can have run: what the search of orders looked at
  // Capacity of all regions that the worker can address (nothing: one has none), and by how much the arena of the last of
  // them exceeds its own.
  // A plan that does not fit is a valid plan for a machine with more memory: that region then has no capacity.
  std::optional<Bytes> capacity;
  Bytes shortfall;                 // 0: it fits
  bool proven_infeasible = false;  // the bound alone exceeds the capacity: no plan without recomputation or swap fits
  // For several streams or dataflow: the plan on one stream, then those that were tried; the plan is one of them.
  std::vector<StreamPoint> points;
  std::vector<Violation> violations;  // of verify, all points included; empty: the plan is right
  std::vector<PassTime> times;

  [[nodiscard]] bool fits() const { return shortfall == Bytes(0); }
};

// For several streams or waves the plan is the fastest of those tried within `stream_room`, the sequence among them. For
// dataflow it is the smallest of those tried, since no other may be run in that way. The bodies of nodes run on one
// stream each. No bound is lost: a plan for several streams is also one for its list of steps, one by one, since that is
// a run which its waits allow; so it needs no less than the best of these, and bounds over all orders hold for it.
//
// From a graph to a verified plan: the whole story, in order (plan_graph.cc). Errors (invalid): an unknown order, a
// target without regions or workers, a number of streams or a budget out of range. Errors (over_limit): sizes that a plan
// file cannot hold (plan/plan_limits.h), graphs that are too large or too wide for dataflow (schedule/dataflow.h,
// pipeline/dataflow_plan.h), too many barriers. A budget that is not met is an answer, not an error. Near linear except
// for dataflow; see the rooms.
[[nodiscard]] Result<PlannedGraph> plan_graph(const Graph& graph, const Target& target,
                                              const PlanOptions& options = {});

}  // namespace lowtide
