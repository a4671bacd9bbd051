// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// Runs a small plan for several streams in every way that its streams and waits allow, on a memory of tags, one per
// byte. A step begins and ends. In between it reads, and the bytes that it writes and its scratch are of no use to
// other steps. The times between begin and end of two steps may overlap, unless one step happens before the other.
// A copy is a step that reads and writes only the bytes that it names. Returns the first fault of some run. If there is
// none, every run reads what it should, and outputs and states are intact at the end. Uses no happens-before relation,
// no clocks and no code of the verifier.
//
// Requires: the plan is right with all of its steps one after another; at most 20 steps, arenas of at most 2^16 bytes.
[[nodiscard]] std::string fault_of_some_run(const Graph& graph, const Plan& plan);

}  // namespace lowtide::testing
