// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/analysis/weights.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_estimate.h"
#include "lowtide/pipeline/plan_stages.h"
#include "lowtide/pipeline/recomputation.h"
#include "lowtide/plan/hints.h"
#include "lowtide/plan/plan.h"
#include "lowtide/target/target.h"
#include "lowtide/verify/check_bound.h"
#include "lowtide/verify/verify.h"

namespace lowtide {

// A plan on several streams gets more memory only if a smaller plan would take longer by more than this.
inline constexpr int kTimeTolerancePercent = 2;

// The efforts of a plan that is only compared with others: about 0.1 s for its searches.
inline constexpr std::int64_t kQuickOrderEffort = 50'000'000;
inline constexpr std::int64_t kQuickAllocateEffort = 10'000'000;

struct PlanOptions {
  std::string order = "auto";  // a name of schedule_strategies(), or auto
  // The most RAM that a run may use, at most limits::kMaxArenaBytes: all arenas together, and the inputs and states of
  // the caller. Constants do not count, wherever they are. The capacities of the target's regions limit the arenas in
  // addition.
  std::optional<Bytes> budget;
  bool views = true;                          // off: every Reshape, Slice, Split and Concat copies
  bool parts = true;                          // off: every buffer is live as a whole (Buffer::parts)
  bool in_place = true;                       // off: no kernel writes over its input
  std::int64_t order_effort = 5'000'000'000;  // work units of ScheduleOptions; 0: no search over orders
  // Effort of the independent search that confirms the bound (check_order_bound). 0 means no search. Then only a bound
  // that a sum of live bytes proves is confirmed.
  std::int64_t bound_check_effort = 0;
  std::int64_t allocate_effort = 200'000'000;  // work units of AllocateOptions; 0: no search over offsets
  // Work units of RematerializeOptions, for each choice of kernels, to keep a budget with recomputation.
  std::int64_t recompute_effort = 4'000'000'000;
  // Which nodes run again, or do not, if they must to keep the budget (pipeline/resolve_hints.h). Proofs hold without
  // hints as well.
  std::vector<NodeHint> hints = {};
  std::uint32_t streams = 1;  // that run at the same time; 1 to limits::kMaxStreams; dataflow ignores it
  ExecutionModel run = ExecutionModel::streams;  // with one stream, the plan is a sequence, except for dataflow
  int arena_slack_percent = 15;  // how far the arena may exceed that of the plan on one stream; dataflow ignores it
  bool pareto_front = false;     // also plans for other memory limits, in streams and in waves; costs one plan each
  std::string tool = "lowtide";  // Provenance::tool
  std::string model;             // Provenance::model
  std::string model_sha256;      // Provenance::model_sha256
  std::vector<std::string> lowering;  // Provenance::lowering
  std::vector<std::string> dims;      // Provenance::dims

  std::vector<PlanStage> skip;        // optional stages that do not run
  std::vector<PlanStage> dump_after;  // stages whose decisions go to on_dump
  bool verify_each = false;           // also verifies the plan after each stage that makes or changes one
  // Called when a stage begins, and with the text of a dump. A dump is deterministic; its form is for developers.
  std::function<void(PlanStage stage)> on_stage = {};
  std::function<void(const std::string& text)> on_dump = {};
  // Once it is true, no optional stage begins except verify, and allocation ends with the best answer so far. Another
  // thread or a signal handler may set it. nullptr: planning never stops early.
  const std::atomic<bool>* stop = nullptr;
};

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
  Bytes counted;  // what counts against `capacity`: the arenas, with `caller` or the weights
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
  // Of the plan; nullopt if no node has a slower kernel that needs less.
  std::optional<KernelExchange> exchange;
  // Of the plan in which each node has the kernel that needs least; nullopt if that is this plan, or was not made.
  std::optional<KernelExchange> lightest;
  PlanEstimate estimate;  // on one stream
  // For several streams, waves or dataflow: the estimated time of each node in picoseconds (target/cost.h); otherwise
  // empty.
  IdVector<NodeId, std::int64_t> costs;
  // For several streams or dataflow: the plan on one stream, then the others that were tried; the plan is one of them.
  std::vector<TradeOff> trade_offs;
  bool is_verified = false;           // the stage `verify` was not skipped
  std::vector<Violation> violations;  // found by verify in any of these plans; empty if a verified plan is correct
  std::vector<StageTime> times;

  [[nodiscard]] bool fits() const { return shortfall == Bytes(0); }
};

// Plans a graph and, unless that stage is skipped, verifies the plan. plan_graph.cc runs the stages, in order.
//
// Each node has the fastest kernel of the target, unless the plan then exceeds the capacities or the budget. In this
// case, the plan is the fastest that was found to fit, or the smallest if none fits. Nodes at the peak exchange their
// kernels first (pipeline/exchange.h). For streams, waves and dataflow, this is decided by the plan for that run
// (pipeline/choose_parallel.h). If no choice of kernels keeps a budget on one stream, nodes run again,
// and tensors leave the arena over a link of the target (pipeline/recompute.h).
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
