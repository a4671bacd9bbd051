// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/allocate/problem/solve_options.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Solves a problem without groups by the strategies of the table (table.h), as `allocate` promises.
// Requires: the problem is valid and has no colocations.
[[nodiscard]] Packing allocate_ungrouped(const PackingProblem& problem, const SolveOptions& options);

}  // namespace lowtide::allocate_internal
