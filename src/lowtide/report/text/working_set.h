// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/bytes.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide::report_internal {

// What a run needs in memory beside the states: its inputs, its outputs, and what else it takes. O(nodes + reads).
[[nodiscard]] Bytes working_set_of(const BudgetProblem& problem, NodeId run);

}  // namespace lowtide::report_internal
