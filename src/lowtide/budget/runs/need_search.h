// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide::budget_internal {

// Looks for a node that no sequence can run within the budget (plan/cost_proof.h, InfeasibleProof), and then for
// outputs whose makers cannot all run (last_maker.h). It goes through the sets of outputs that must exist before the
// run of a node, from the smallest on. If the empty set is among them, the node can run. A problem without such a node
// has a sequence, because all outputs can be dropped between two nodes.
// Subtracts what it does from `work`. Returns nullopt if there is no such node or the work is spent.
[[nodiscard]] std::optional<InfeasibleProof> find_obstruction(const RunProblem& problem, std::int64_t& work);

}  // namespace lowtide::budget_internal
