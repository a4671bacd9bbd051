// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/analysis/bounds.h"
#include "lowtide/analysis/peak.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/explain_peak.h"

namespace lowtide::pipeline_internal {

// Explains each of peak.buffers, in the same order. `must` is the live set of the node at the peak; empty for a copy.
// O(nodes + edges), and O(steps) for each of the 64 largest buffers that are kept.
[[nodiscard]] std::vector<PeakBuffer> peak_buffers(const Graph& graph, const Peak& peak, const LiveSet& must);

}  // namespace lowtide::pipeline_internal
