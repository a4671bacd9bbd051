// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// The graph as its file gives it, in the form of a plan, so that peaks_of shows it as it shows a plan. The nodes run in
// the order of the graph. Every temporary and output has a buffer of its own at its dense size; nothing is aliased,
// aligned or scratch, except that a node with bodies has scratch for the largest load of a body. The inputs of a Loop
// or Scan body are placed and live throughout. The peak is PlainFigures::load_as_given. Only a sketch: all buffers have
// offset 0, and the arena is the largest load. O(nodes + edges).
[[nodiscard]] Plan plan_as_given(const Graph& graph);

}  // namespace lowtide
