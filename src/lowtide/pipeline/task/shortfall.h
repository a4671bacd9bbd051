// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// The machine of a task under its budget if the regions before the last one may use `less` bytes less than these
// arenas, and the last region may use what they leave. `arenas`: by region of the machine.
[[nodiscard]] Machine with_smaller_arenas(const Task& task, const std::vector<Bytes>& arenas, Bytes less);

// How many bytes a layout of a task needs beyond the target's own capacities and the budget; 0 if it fits, and for a
// body. This may be 0 despite an overflow: capped_machine assumes that the regions before the last one are full. What
// the weights exceed by themselves (Weights::excess) does not count.
[[nodiscard]] Bytes shortfall_of(const Task& task, const Layout& layout);

// States capacities for which the plan of a task is valid. If it overflows its last region but fits after all, that
// region keeps the target's own capacity, and so does the region of the weights. A region that does not hold what it
// should has no capacity, because the plan is then one for a machine with more memory.
void state_capacities(Plan& plan, const Task& task);

}  // namespace lowtide::pipeline_internal
