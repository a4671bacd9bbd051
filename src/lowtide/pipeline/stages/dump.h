// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/place/assemble.h"
#include "lowtide/pipeline/place/place_schedule.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/schedule/choose_order.h"
#include "lowtide/verify/check_bound.h"
#include "lowtide/verify/verify.h"

namespace lowtide::pipeline_internal {

// What a stage decided, as text for developers: one line per node, buffer, step or plan. Deterministic.
[[nodiscard]] std::string text_of(const Graph& graph, const BodyPlans& bodies);
[[nodiscard]] std::string text_of(const Graph& graph, const KernelOptions& options);
[[nodiscard]] std::string text_of(const Graph& graph, const Alternatives& plans);
[[nodiscard]] std::string text_of(const Graph& graph, const ChosenOrder& order);
[[nodiscard]] std::string text_of(const Graph& graph, const PlacedSchedule& placed);
[[nodiscard]] std::string text_of(const Graph& graph, const OrderBoundCheck& check);
[[nodiscard]] std::string text_of(const Graph& graph, const PlannedGraph& planned);
[[nodiscard]] std::string text_of(const Graph& graph, const std::vector<Violation>& violations);

template <typename T>
[[nodiscard]] std::string text_of(const Graph& graph, const Result<T>& result) {
  return result ? text_of(graph, *result) : "failed: " + result.error().describe() + "\n";
}

}  // namespace lowtide::pipeline_internal
