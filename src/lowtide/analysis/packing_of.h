// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/plan/labels.h"
#include "lowtide/plan/packing.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// The placed buffers of a plan as a packing problem, for other packers: sizes, lifespans in steps, and the alignment of
// the region. Offsets, capacities and regions are left out, and a buffer with parts is live as a whole. The name of a
// buffer is its id in the plan and the name of a tensor: "12:conv1/Relu". Characters that CSV cannot hold become '_'.
// Requires: the labels are of the graph of the plan, and the plan is not for dataflow, which has no lifespans.
// O(values + reads + length of the names).
[[nodiscard]] PackingProblem packing_of(const Plan& plan, const Labels& labels);

}  // namespace lowtide
