// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/random.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// A correct plan, made at random in the simplest way: any topological order, any of the sound aliases and in-place
// results, the lowest free offset or a higher one, buffers and lifespans with slack, one or two regions, scratch,
// bodies, and what random_transfers.h adds: states that get their next content, nodes that run again, copies, links,
// several streams. Uses no planner and no verifier.
[[nodiscard]] Plan random_plan(const Graph& graph, Random& random);

}  // namespace lowtide::testing
