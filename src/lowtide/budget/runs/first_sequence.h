// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// The sequence that follows an order of all runs as closely as the rules of the problem allow. Each run happens once,
// and as often as its group has it: further runs of a group are as late as others let them be. What such a run writes
// over is made again between it and the run before it of the same node. If the order keeps all rules, and no group has
// an entry twice, the sequence is the order. It breaks a rule if no sequence keeps the further runs of a group, or if
// one writes over what must not be made again. O((runs + reads) log runs).
[[nodiscard]] Runs first_sequence(const RunProblem& problem, const Runs& order);

// The first run of each node in a sequence.
[[nodiscard]] Runs first_runs(const RunProblem& problem, const Runs& runs);

}  // namespace lowtide::budget_internal
