// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
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

// Why no plan on one stream fits, even if nodes run again, and tensors move over the target's link if it has one, with
// any kernels of the target and any sharing of bytes. Without a link, copies to other memory are not considered.
struct Obstruction {
  std::optional<NodeId> node;  // what must be live while it runs; nullopt: at the end of the run
  // Of tensors that a backward search looked at. 0: the tensors of the node alone do not fit. Without a node, 0 means
  // the bound that the plan claims for all plans.
  std::size_t sets = 0;
};

// What the search for a plan with recomputation found. Times are estimates by the costs of the target.
struct Recomputation {
  BudgetOutcome outcome = BudgetOutcome::not_found;
  bool has_link = false;               // whether tensors may move to memory outside of the arena
  std::vector<Rerun> reruns;           // by node; empty unless a plan was found
  std::vector<Swap> swaps;             // by the first copy; empty unless a plan was found
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
