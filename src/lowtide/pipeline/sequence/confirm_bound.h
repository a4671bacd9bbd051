// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/analysis/bounds.h"
#include "lowtide/pipeline/place/assemble.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::pipeline_internal {

// Checks a bound for all orders against the graph, with the verifier's own code (verify/check_bound.h). The bound
// depends on the bounds of the bodies, so the verdict is no better than theirs.
[[nodiscard]] OrderBoundCheck confirm_bound(const Task& task, const ChosenKernels& least, const LoadBound& bound,
                                            const std::vector<PlannedBodies>& bodies);

}  // namespace lowtide::pipeline_internal
