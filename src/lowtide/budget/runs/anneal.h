// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

struct Annealed {
  std::optional<Runs> best;      // the cheapest sequence that keeps the budget
  std::int64_t best_cost = 0;    // of `best`
  Runs lowest;                   // the sequence with the lowest peak
  std::int64_t lowest_peak = 0;  // of `lowest`
};

// How one cooling runs. Temperatures are in units of the mean cost of a run.
struct Cooling {
  double hottest = 1;
  double coldest = 0.01;
  std::int64_t goal = 0;    // a cost: it stops if the best sequence has it
  std::int64_t length = 1;  // > 0: the work over which the temperature falls. It ends then, or earlier without work
  bool weighs = false;      // bytes above the budget also have a weight by node, which stays for later coolings
};

// Simulated annealing on the sequence of runs (Kirkpatrick et al. 1983; on sequences with repetitions: Imanishi and Xu,
// NeurIPS 2023), with the moves of `Moves`. Runs that nothing needs any more disappear with a move. Bytes above the
// budget have a price that adapts, and may have weights (ExcessWeights). A move costs about 1 us for 500 nodes.
class Annealing {
 public:
  // `stop`: when set, ends a cooling early; nullptr: never.
  Annealing(const RunProblem& problem, std::uint64_t seed, const std::atomic<bool>* stop = nullptr);
  ~Annealing();
  Annealing(const Annealing&) = delete;
  Annealing& operator=(const Annealing&) = delete;

  // One cooling from a valid sequence. Subtracts what it does from `work`. Less work makes the first of the same moves.
  void cool(const Runs& start, const Cooling& cooling, std::int64_t& work);
  [[nodiscard]] const Annealed& found() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::budget_internal
