// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// Removes reruns from a sequence that keeps the budget, as long as it still does. Without a rerun, the output of the
// run before it stays live. The reruns with the highest cost per byte and run are tried first. A segment tree has the
// live bytes, so a try takes O(log runs). Repeats this until nothing changes or the work ends: what a removed rerun
// read may leave space for others. Subtracts what it does from `work`.
[[nodiscard]] Runs retain_outputs(const RunProblem& problem, const Runs& runs, std::int64_t& work);

}  // namespace lowtide::budget_internal
