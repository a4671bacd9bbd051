// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/verify.h"

namespace lowtide {

// Compares the machine of a plan with that of a target. Both have the same regions, except for capacities (misplaced),
// the same workers and links (unreachable), the same region for constants (misplaced), and the same read-only regions
// (read_only). If the plan claims to fit, each region of the target has space for the arena, and that of the constants
// for them beside it (out_of_region).
// Requires: verify() finds no violation. O(constants log constants + regions). Recursion only over bodies.
[[nodiscard]] std::vector<Violation> verify_constants(const Graph& graph, const Plan& plan, const Machine& machine,
                                                      const VerifyOptions& options = {});

}  // namespace lowtide
