// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/pipeline/budgets/run_model.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide::pipeline_internal {

// The live bytes of a plan with the kernels and the sharing of `sequence`, in its order. Scratch and results in place
// are counted by BudgetNode::extra. This is an estimate: another sequence of runs shares bytes in other ways. Nodes
// that may run again are pure, have no bodies, and write only into the arena. Returns nullopt if the graph has more
// than kMostModelNodes nodes, or the problem more than kMostModelReads reads. O(nodes + edges + reads).
[[nodiscard]] std::optional<RunModel> estimated_model(const Task& task, const Sequence& sequence);

// A problem that every plan on one stream solves, with or without recomputation, with any kernels and any sharing. So
// its live bytes are at most those of the plan, and its costs too:
//   - a node needs what all of its kernels need at least, and writes over every input that one of them may write over;
//   - a view takes no time and no bytes. It stands for its roots, and a part of a tensor for nothing;
//   - of several outputs, only the smallest stays;
//   - what may be in memory of the caller counts nothing;
//   - every node may run again.
// `sequence`: one with the order that the search begins from.
[[nodiscard]] std::optional<RunModel> relaxed_model(const Task& task, const Sequence& sequence);

inline constexpr std::size_t kMostModelNodes = 20'000;
inline constexpr std::size_t kMostModelReads = 2'000'000;

}  // namespace lowtide::pipeline_internal
