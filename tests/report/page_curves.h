// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/pipeline/plan_curve.h"

namespace lowtide {

// Budgets of 20, 18, 16, 14 and 12 MiB. Plans take 100, 100, 104 and 130 ms. The first three are proven to be the
// fastest, the third is the knee, and no plan fits the last budget.
[[nodiscard]] PlanCurve small_curve();

}  // namespace lowtide
