// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/allocate/problem/solve_options.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Solves a problem with groups. The groups become blocks (group_forms.h), and all strategies pack these. A block may be
// larger than its members need. Then an exact search over the members (pair_order_search.h) takes turns with the
// packing of the blocks. It may lower the height and raise the bound. The bound is that of the pieces, so it counts no
// byte that a block wastes. Requires: the problem is valid.
[[nodiscard]] Packing allocate_groups(const PackingProblem& problem, const SolveOptions& options);

}  // namespace lowtide::allocate_internal
