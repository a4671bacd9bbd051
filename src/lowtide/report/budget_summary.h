// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// The summary of `order --budget`: whether the budget is kept, what reruns cost, the bound of this cost, and the nodes
// that run again, the most expensive first. If nothing fits, the reason. `fixed`: bytes that are live beside outputs.
// `origins`: where each node comes from, as its author says; empty if nothing is known.
[[nodiscard]] StyledText budget_summary(const std::string& path, const Graph& graph, const KeptBudget& kept,
                                        Bytes fixed, const IdVector<NodeId, std::string>& origins = {});

}  // namespace lowtide
