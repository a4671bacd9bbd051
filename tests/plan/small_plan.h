// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/plan/plan_json.h"

namespace lowtide::testing {

// A right plan of a graph with every kind of thing that a plan file holds: a view, scratch, bodies,
// two regions, and a name that is not UTF-8. tests/files/plans/small.json holds it.
[[nodiscard]] PlanFile small_plan_file();

// A right plan with every feature: two regions with links, streams, copies in pieces and buffer parts, a node that runs
// again, a state that is updated.
[[nodiscard]] PlanFile transfer_plan_file();

}  // namespace lowtide::testing
