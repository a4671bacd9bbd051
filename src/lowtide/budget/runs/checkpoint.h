// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// Sequences of checkpointing (Chen et al., "Training deep nets with sublinear memory cost", 2016). The order turns at
// some run, as training turns from forward to backward. The part before is cut into segments. What a later segment
// reads stays live, and so does the last segment. The rest of a segment runs again as a whole, right before the first
// run after the turn that reads something of it, except what must not run again there:
//
//   order      f0 f1 f2 f3 | b3 b2 b1 b0          segments  f0 f1, f2 f3
//   sequence   f0 f1 f2 f3 | b3 b2 f0 b1 b0       f1 stays live, because f2 reads it
//
// Segments have equal numbers of runs or equal bytes, and end there or at the narrowest place near by. There are 2 to
// 32 of them, and about the root of all. So no answer costs more than checkpointing with such segments where that fits.
class CheckpointSequences {
 public:
  // Requires: the order has each run once, and outlives this.
  CheckpointSequences(const RunProblem& problem, const Runs& order);
  ~CheckpointSequences();
  CheckpointSequences(const CheckpointSequences&) = delete;
  CheckpointSequences& operator=(const CheckpointSequences&) = delete;

  // The next sequence, or nullopt if all were given. Some may be equal, and with rules some may be invalid. Subtracts
  // what it does from `work`. O(nodes + reads).
  [[nodiscard]] std::optional<Runs> next(std::int64_t& work);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::budget_internal
