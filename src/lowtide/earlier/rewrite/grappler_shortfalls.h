// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/rewrite/planner_runs.h"
#include "lowtide/earlier/rewrite/timed_run.h"

namespace lowtide::rewrite_internal {

// The weaknesses that show in one graph. `nodes` are those that were given; `beside` has all but its shortfalls;
// `clock` is what its runs were timed with. Errors: those of cost_nodes. O(nodes + inputs, log).
[[nodiscard]] Result<std::vector<GrapplerShortfall>> find_shortfalls(const std::vector<DefNode>& nodes,
                                                                     const BesideGrappler& beside,
                                                                     const TimedRunOptions& clock);

}  // namespace lowtide::rewrite_internal
