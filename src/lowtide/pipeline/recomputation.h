// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/program.h"

namespace lowtide {

// A node whose kernel runs more than once.
struct Rerun {
  NodeId node;
  std::int64_t times = 0;        // after the first run
  Bytes bytes;                   // of its outputs, which are not kept from one run to the next
  std::int64_t picoseconds = 0;  // of these runs together, by the costs of the target
};

// A tensor that leaves the arena over a link and comes back.
struct Swap {
  TensorId tensor;
  Bytes bytes;
  StepId out;                    // that copies it out
  std::vector<StepId> returns;   // that copy it in
  std::int64_t picoseconds = 0;  // of all these copies together
};

// Why a tensor stays in the arena while no kernel needs it.
enum class KeptReason : std::uint8_t {
  given,       // no node computes it: it is an input or a state
  result,      // no kernel reads it afterwards: the caller gets it, or it is the next content of a state
  runs_once,   // its node may not run again
  hint,        // a hint keeps it
  costs_more,  // the search found nothing cheaper than keeping it
};
template <>
inline constexpr auto kEnumNames<KeptReason> = enum_names<KeptReason>({{KeptReason::given, "given"},
                                                                       {KeptReason::result, "result"},
                                                                       {KeptReason::runs_once, "runs_once"},
                                                                       {KeptReason::hint, "hint"},
                                                                       {KeptReason::costs_more, "costs_more"}});

struct KeptTensor {
  TensorId tensor;
  Bytes bytes;  // that its buffer has there
  StepId step;  // the peak of the plan
  std::optional<StepId> next_read;
  KeptReason reason = KeptReason::costs_more;
  // For costs_more: the time of one more run of its node, by the costs of the target, and the operands of the node that
  // are not in the arena before next_read, so that they would have to be kept or computed again as well.
  std::int64_t picoseconds = 0;
  std::vector<TensorId> absent;
};

// What exceeds the budget in every plan.
enum class ObstructionKind : std::uint8_t {
  working_set,      // the inputs, outputs and scratch of a node
  inputs_together,  // the inputs of a node, in whatever order they are computed
  outputs_at_end,   // the outputs
  last_of_outputs,  // whichever of some nodes that make outputs runs last, beside the outputs of the others
  claimed_bound,    // the bound that the plan claims for all plans
};
template <>
inline constexpr auto kEnumNames<ObstructionKind> =
    enum_names<ObstructionKind>({{ObstructionKind::working_set, "working_set"},
                                 {ObstructionKind::inputs_together, "inputs_together"},
                                 {ObstructionKind::outputs_at_end, "outputs_at_end"},
                                 {ObstructionKind::last_of_outputs, "last_of_outputs"},
                                 {ObstructionKind::claimed_bound, "claimed_bound"}});

// Why no plan on one stream fits, even if nodes run again, and tensors move over the target's link if it has one, with
// any kernels of the target and any sharing of bytes. Without a link, copies to other memory are not considered.
struct Obstruction {
  ObstructionKind kind = ObstructionKind::claimed_bound;
  // The node of working_set and inputs_together; for last_of_outputs, the one that needs least.
  std::optional<NodeId> node = std::nullopt;
  std::size_t sets = 0;  // of tensors that a backward search looked at; 0 if the proof needed no search
};

// What the search for a plan with recomputation found. Times are estimates by the costs of the target.
struct Recomputation {
  BudgetOutcome outcome = BudgetOutcome::not_found;
  bool has_link = false;               // whether tensors may move to memory outside of the arena
  std::vector<Rerun> reruns;           // by node; empty unless a plan was found
  std::vector<Swap> swaps;             // by the first copy; empty unless a plan was found
  std::vector<KeptTensor> kept;        // the largest at the peak, the largest first; empty unless a plan was found
  Bytes outside;                       // that the plan takes outside of the arena
  std::int64_t stall_picoseconds = 0;  // in which no kernel runs, because it waits for copies
  std::int64_t base_picoseconds = 0;   // of the plan in which each node runs once, with its fastest kernel
  std::int64_t picoseconds = 0;        // of this plan; 0 unless one was found
  // No plan that fits takes less time, also with other kernels or sharing.
  std::int64_t bound_picoseconds = 0;
  CostBoundKind bound_kind = CostBoundKind::run_once;
  Bytes arena;                             // of the smallest plan with recomputation that was made; 0 if none was made
  std::int64_t tries = 0;                  // sequences of runs that were planned
  std::optional<Obstruction> obstruction;  // present if the outcome is infeasible
};

}  // namespace lowtide
