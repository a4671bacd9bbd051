// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/plan/transfers.h"
#include "lowtide/verify/violation.h"

// Checks of sequences of runs with transfers over a link. They share data types with `offload` and no code.
namespace lowtide {

// Replays the runs, transfers and fetches of an answer. Reports what check_budget_runs reports about runs, and a copy
// with wrong positions or out of order, a copy in before the copy out is complete, a copy of bytes that are overwritten
// before it is complete, a run that reads an output that is outside or still on its way, a value that is never fetched
// or is among the runs, a time or a peak that is not that of the sequence, a run above the budget if the outcome is
// `found`, and a bound above the time or below that of one run of each node. An empty list means that the answer is
// correct. The proof of a bound is not checked here. Requires: check_budget_problem() accepts the problem, also below.
// O(nodes + reads of runs + copies x log copies).
[[nodiscard]] std::vector<Violation> check_transfers(const BudgetProblem& problem, const TransferLink& link,
                                                     const SwapAnswer& answer, const VerifyOptions& options = {});

// Returns whether the inputs, the output and the parts of a node exceed the budget beside all states or, without one,
// all outputs of the problem together do. Then nothing keeps the budget, whatever is moved. O(nodes).
[[nodiscard]] bool check_too_large(const BudgetProblem& problem, std::optional<NodeId> node);

// What each sequence takes at least, whatever the budget is: one run of each node; and over each link one copy of every
// value that begins outside, and then a run that reads one of these values. At most kMaxTime, in nanoseconds.
// O(nodes + reads).
[[nodiscard]] std::int64_t least_link_time(const BudgetProblem& problem, const TransferLink& link);

struct TimeBoundCheck {
  std::int64_t proven = 0;             // nanoseconds: nothing that keeps the budget takes less; 0 if malformed
  std::optional<std::string> problem;  // what is malformed: one terminal-safe line
};

// Recomputes the bound that a proof gives for the time of all sequences with transfers that keep the budget. The proof
// need not come from Lowtide. As check_cost_bound, and O(nodes x reads +
// milestones x nodes x log nodes).
[[nodiscard]] TimeBoundCheck check_time_bound(const BudgetProblem& problem, const TransferLink& link,
                                              const TimeProof& proof);

}  // namespace lowtide
