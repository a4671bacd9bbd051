// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/recomputation.h"
#include "lowtide/plan/hints.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// What stays in the arena of a plan at its peak although no kernel touches it there: at most 16 tensors, the largest
// first. O(values + reads + parts), and O(values) for each operand of their nodes.
[[nodiscard]] std::vector<KeptTensor> kept_tensors(const Graph& graph, const Plan& plan, const ChosenKernels& kernels,
                                                   const std::vector<NodeHint>& hints);

}  // namespace lowtide::pipeline_internal
