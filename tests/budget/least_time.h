// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "lowtide/plan/transfers.h"

namespace lowtide {

// The least time of all sequences, transfers and fetches that keep the budget, by a search over moments of a machine
// that knows no positions: a worker, two copy engines, one more for each link that brings values from outside, and for
// each entry whether it is in memory, outside, or both, and whether it is on its way. At a moment, entries and seeds
// may be dropped, runs and copies may begin, or time may pass to the next event. A copy out holds its bytes up to its
// end. Those of a copy in are reserved before it, between two runs. So every sequence with transfers is one of these
// histories. It follows plan/budget_problem.h by its words, for at most 32 entries, two links and two groups.
class LeastTime {
 public:
  LeastTime(const BudgetProblem& problem, const TransferLink& link);
  ~LeastTime();
  LeastTime(const LeastTime&) = delete;
  LeastTime& operator=(const LeastTime&) = delete;

  // nullopt if there are more than `most_states` states, or nothing keeps the budget.
  std::optional<std::int64_t> search(std::size_t most_states);
  // Whether the search has found that nothing keeps the budget.
  [[nodiscard]] bool is_impossible() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace lowtide
