// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "lowtide/plan/transfers.h"

namespace lowtide {

struct OffloadOptions {
  // Work units that the search may spend, about 1 ns each. 0: only the given sequences.
  std::int64_t effort = 10'000'000'000;
  // The effort for which the search is laid out. Less effort does the first part of the same search, so more of it is
  // never worse with the same length. 0: `effort`.
  std::int64_t length = 0;
  std::uint64_t seed = 1;                   // of the random moves
  const std::atomic<bool>* stop = nullptr;  // when set, ends the search with the best answer so far; nullptr: never
};

// Finds a fast sequence of runs, transfers and fetches whose live bytes keep the budget (docs/algorithms/offload.md).
// `starts` are valid sequences of runs to begin from, such as an order and answers of `rematerialize` for larger
// budgets. They may exceed the budget. Runs of values that begin outside stand for fetches.
//
// The answer says `infeasible` only if the working set of some node, its inputs, outputs and scratch, exceeds the
// budget beside the states, or all outputs of the problem together do. Otherwise a sequence is found, even without
// effort, if each output can be moved within kMaxTime and no group repeats nodes. The bound is the time of one run of
// each node. The same problem, starts and effort give the same answer on every machine. Requires: at least one start;
// one run of each node takes at most kMaxTime, and so does one fetch of each value; a value that begins outside has no
// parts and is in no group and no edge of `before`.
[[nodiscard]] SwapAnswer offload(const BudgetProblem& problem, const TransferLink& link,
                                 const std::vector<std::vector<NodeId>>& starts, const OffloadOptions& options = {});

// The least time, in nanoseconds, of a sequence in which, during the first run of one of the milestones of a proof, at
// least `away` bytes of outputs are outside that the proof counts as kept there. They must be moved out before the
// milestone and in after it. A proof counts outputs of nodes that must run before the milestone and, if it has rows
// about them, of those that need not run before or after it. kMaxTime if no milestone has that many bytes.
// O(nodes x reads + milestones x nodes x log nodes + rows).
[[nodiscard]] std::int64_t least_time_away(const BudgetProblem& problem, const TransferLink& link,
                                           const CostProof& proof, Bytes away);

}  // namespace lowtide
