// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/plan/budget_problem.h"

namespace lowtide::pipeline_internal {

// Lets the verifier check the sequence, the proof of the bound, and the proof that nothing fits. Throws
// InvariantViolation if it refuses one of them.
void confirm_answer(const BudgetProblem& problem, const BudgetAnswer& answer);

}  // namespace lowtide::pipeline_internal
