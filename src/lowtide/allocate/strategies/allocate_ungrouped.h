// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/allocate/problem/solve_options.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Solves a problem without groups with the strategies of the table (table.h), as `allocate` says.
// Requires: `problem` is valid and `together` is empty.
[[nodiscard]] Packing allocate_ungrouped(const PackingProblem& problem, const SolveOptions& options);

}  // namespace lowtide::allocate_internal
