// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/swap_budget.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// The summary of `order --budget --link`: whether the budget is kept, the time with its bound, what runs again and what
// is moved, and for each moved output what a rerun would cost beside it. If nothing fits, the reason. `fixed`: bytes
// that are live beside outputs.
[[nodiscard]] StyledText swap_summary(const std::string& path, const Graph& graph, const SwappedBudget& swapped,
                                      Bytes fixed);

}  // namespace lowtide
