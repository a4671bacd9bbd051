// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// Returns the graph as its file gives it, in the form of a plan, so that peaks_of can show it like any other plan. The
// nodes run in the order of the graph. Every temporary and output has its own buffer at its dense size. There are no
// aliases, no alignment and no scratch, except that a node with bodies has scratch for the largest load of a body. The
// inputs of a Loop or Scan body are placed and live throughout. The peak is PlainFigures::load_as_given. The result
// cannot be executed: all buffers have offset 0, and the arena is the largest load. O(nodes + edges).
[[nodiscard]] Plan plan_as_given(const Graph& graph);

}  // namespace lowtide
