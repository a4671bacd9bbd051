// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// Runs a small plan for several streams in every way that its streams and waits allow, on a memory of tags, one a byte.
// A step begins and ends: in between it reads, and what it writes and its scratch are of no use to anybody else.
// Whatever is between the two of one step may be between those of another, unless one happens before the other. The
// first fault of some run, or nothing: then every run reads what it should. Knows no happens-before relation, no clocks,
// and no line of the verifier.
//
// Require: the plan is right with all of its steps on one stream; at most 20 steps, arenas of at most 2^16 bytes.
[[nodiscard]] std::string fault_of_some_run(const Graph& graph, const Plan& plan);

}  // namespace lowtide::testing
