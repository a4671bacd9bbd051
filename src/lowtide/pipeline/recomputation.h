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

namespace lowtide {

// A node whose kernel runs more than once.
struct Rerun {
  NodeId node;
  std::int64_t times = 0;        // after the first run
  Bytes bytes;                   // of its outputs, which are not kept from one run to the next
  std::int64_t picoseconds = 0;  // of these runs together, by the costs of the target
};

// Why no plan on one stream fits, even if nodes run again, with any kernels of the target and any sharing of bytes.
// Copies to other memory are not considered, because the target has one region for the arena.
struct Obstruction {
  std::optional<NodeId> node;  // what must be live while it runs; nullopt: at the end of the run
  // Of tensors that a backward search looked at. 0: the tensors of the node alone do not fit. Without a node, 0 means
  // the bound that the plan claims for all plans.
  std::size_t sets = 0;
};

// What the search for a plan with recomputation found. Times are estimates by the costs of the target.
struct Recomputation {
  BudgetOutcome outcome = BudgetOutcome::not_found;
  std::vector<Rerun> reruns;          // by node; empty unless a plan was found
  std::int64_t base_picoseconds = 0;  // of the plan in which each node runs once, with its fastest kernel
  std::int64_t picoseconds = 0;       // of this plan; 0 unless one was found
  // No plan that fits takes less time, also with other kernels or sharing.
  std::int64_t bound_picoseconds = 0;
  CostBoundKind bound_kind = CostBoundKind::run_once;
  Bytes arena;                             // of the smallest plan with recomputation that was made; 0 if none was made
  std::int64_t tries = 0;                  // sequences of runs that were planned
  std::optional<Obstruction> obstruction;  // present if the outcome is infeasible
};

}  // namespace lowtide
