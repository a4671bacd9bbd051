// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/analysis/weights.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_estimate.h"
#include "lowtide/pipeline/plan_stages.h"
#include "lowtide/pipeline/recomputation.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/check_bound.h"
#include "lowtide/verify/verify.h"

namespace lowtide {

// One way to run the plan: the bytes it needs and the time it would take, by the costs of target/cost.h.
struct TradeOff {
  ExecutionModel run = ExecutionModel::sequence;
  std::uint32_t streams = 1;  // of dataflow: chains that cover the graph
  std::optional<Bytes> cap;   // on the load while it was scheduled; nullopt: none
  std::string priority;       // of StreamPriority; empty for a sequence and for dataflow
  std::string fill;           // of WaveFill; empty except for waves
  Bytes load;
  Bytes arena;
  std::int64_t picoseconds = 0;  // estimated
  std::int64_t waits = 0;        // for steps of other streams
  std::uint32_t waves = 0;       // in which something runs; 0 except for waves
  // On the Pareto front: if a sequence or a plan of the same execution model is better in bytes or time, it is worse in
  // the other. Of equal plans, only the first is on the front.
  bool is_pareto_optimal = false;
  bool is_chosen = false;  // it is the plan
};

// The kernels of a plan, in comparison with the fastest ones.
struct KernelExchange {
  std::int64_t nodes = 0;  // that run, but not with their fastest kernel or not with the fastest plans of their bodies
  // How much longer these nodes take, by the costs of the target; nullopt if it does not give them all.
  std::optional<std::int64_t> added_picoseconds = 0;
  Bytes arena;  // on one stream
};

// Evidence that no plan fits: these are in memory at the same time in every order. Each lies in one region, but the
// regions cannot hold all of them.
struct RegionProof {
  std::optional<NodeId> node;     // while it runs; nullopt: at the end of the run, or whenever the one tensor exists
  std::vector<TensorId> tensors;  // the largest first
  Bytes scratch;                  // of the node
};

struct PlannedGraph {
  Plan plan;
  PlainFigures plain;
  Bytes working_set;  // the working-set bound, which holds in addition to those of Claims
  // Whether independent code confirms that the first bound of the claims holds for all orders, including the bounds of
  // bodies. Undecided if that bound was not checked.
  OrderBoundCheck bound_check;
  std::vector<std::pair<std::string, Bytes>> orders_tried;  // strategies and their peaks
  std::int64_t searched_sets = 0;                           // OrderChoice::searched_sets
  bool is_search_complete = false;                          // OrderChoice::is_search_complete
  Bytes caller;                                             // RAM that the caller holds: inputs and states
  // The budget, or the capacity of all regions that the worker addresses, whichever is the tighter limit. nullopt if
  // there is no budget and one of these regions has no capacity.
  std::optional<Bytes> capacity;
  bool is_budget_the_limit = false;  // `capacity` is the budget
  Bytes counted;                     // what counts against `capacity`: the arenas, with `caller` or the weights
  // Whether `counted` includes the weights, because they share a region with an arena. Against a budget, `caller`
  // counts instead.
  bool counts_weights = false;
  std::optional<Weights> weights;  // nullopt if the target does not state where constants are
  // By how much the plan exceeds the limits, including Weights::excess; 0 if it fits. A plan that does not fit is
  // correct on a machine with more memory: its last region, or that of the weights, then has no capacity.
  Bytes shortfall;
  // No plan without recomputation or swap fits: the bound for all kernels exceeds the capacity, there is a
  // region_proof, or the weights or what the caller holds exceed the capacity by themselves.
  bool proven_infeasible = false;
  // With several regions: a proof that no plan can distribute its bytes over them, so none fits. nullopt: not known.
  std::optional<RegionProof> region_proof;
  // Whether nodes may run again to keep the budget. nullopt if the plan fits without, if there is no budget, for
  // several regions or streams, for graphs that are too large, or if the stage was skipped.
  std::optional<Recomputation> recomputation;
  // The exchange of the plan. nullopt if no node has a slower kernel that needs less.
  std::optional<KernelExchange> exchange;
  // The same of the plan in which each node has the kernel that needs least. nullopt if it is this one, or not made.
  std::optional<KernelExchange> lightest;
  PlanEstimate estimate;  // on one stream
  // The estimated time of each node in picoseconds (target/cost.h). Empty for a plan on one stream.
  IdVector<NodeId, std::int64_t> costs;
  // The plan on one stream, and then the others that were tried, of which the plan is one. Empty if only one stream was
  // asked for.
  std::vector<TradeOff> trade_offs;
  bool is_verified = false;           // the stage `verify` was not skipped
  std::vector<Violation> violations;  // found by verify in any of these plans; empty if a verified plan is correct
  std::vector<StageTime> times;

  [[nodiscard]] bool fits() const { return shortfall == Bytes(0); }
};

}  // namespace lowtide
