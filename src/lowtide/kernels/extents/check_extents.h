// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/kernel.h"

namespace lowtide::kernels_internal {

// Why the extents and types that the graph declares for a node contradict its operator, or an empty text: "result 'y'
// is declared as f32[2,4], and the operator gives [2,3]". Extents that the data decide contradict nothing, except in
// their number. A node without a rule (rules.h) has no contradiction. O(extents of the node + listed integers).
[[nodiscard]] std::string contradiction_of_extents(const Graph& graph, NodeId node, const ConstantBytes& constant);

}  // namespace lowtide::kernels_internal
