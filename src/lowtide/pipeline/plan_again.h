// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/sequence/known_sequences.h"
#include "lowtide/target/target.h"

namespace lowtide::pipeline_internal {

// Does what plan_graph does, for one of several budgets. Takes the orders and offsets of earlier plans from `known`,
// and adds those that it makes. nullptr: there are no other plans. Requires: what KnownSequences requires.
[[nodiscard]] Result<PlannedGraph> plan_again(const Graph& graph, const Target& target, const PlanOptions& options,
                                              KnownSequences* known);

}  // namespace lowtide::pipeline_internal
