// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// The summary of `order --curve`: a row per budget with its cost and bound, and the floor. `fixed`: bytes that are live
// beside outputs.
[[nodiscard]] StyledText curve_summary(const std::string& path, const BudgetCurve& curve, Bytes fixed);

}  // namespace lowtide
