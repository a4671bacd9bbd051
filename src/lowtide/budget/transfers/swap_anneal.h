// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "lowtide/budget/problem/excess_price.h"
#include "lowtide/budget/transfers/swap_moves.h"
#include "lowtide/budget/transfers/swap_scan.h"
#include "lowtide/budget/transfers/transfer_clock.h"

namespace lowtide::budget_internal {

// A sequence with transfers that keeps the budget.
struct FoundSwaps {
  Items items;
  std::vector<SwapProblem::Index> runs;  // with the end
  std::vector<Transfer> transfers;
  std::vector<Fetch> fetches;
  std::int64_t peak = 0;         // without the bytes of states
  std::int64_t time = kForever;  // kForever: nothing was found
};

// Simulated annealing on sequences of runs and fetches (SwapMoves). The energy is the time by TransferClock, and a
// price for bytes above the budget, which adapts.
class SwapAnnealing {
 public:
  // `stop`: when set, ends a cooling early; nullptr: never.
  SwapAnnealing(const SwapProblem& problem, std::uint64_t seed, const std::atomic<bool>* stop);

  // Takes a sequence if it is valid, keeps the budget and is faster than the best one.
  void note(const Items& items);
  struct Cooling {
    double heat = 0.2;        // the first temperature, in units of the mean time of a run
    std::int64_t goal = 0;    // a time: it stops if the best sequence has it
    std::int64_t length = 1;  // > 0: the work over which the temperature falls
  };
  // One cooling from a sequence. Subtracts what it does from `work`. Less work makes the first of the same moves.
  void cool(const Items& start, const Cooling& cooling, std::int64_t& work);
  [[nodiscard]] const FoundSwaps& found() const { return found_; }

 private:
  [[nodiscard]] double energy_of(const ScannedSwaps& swaps, std::int64_t time) const;
  void step(double temperature);
  void keep(const ScannedSwaps& swaps, std::int64_t time);
  [[nodiscard]] std::int64_t spent() const { return 2 * (scan_.work() + clock_.work()); }

  const SwapProblem& problem_;
  const std::atomic<bool>* stop_;
  SwapScan scan_;
  TransferClock clock_;
  SwapMoves moves_;
  ScannedSwaps now_;
  ScannedSwaps next_;
  Items candidate_;
  double mean_time_;
  ExcessPrice price_;
  double energy_ = 0;
  std::int64_t time_ = 0;  // of `now_`
  FoundSwaps found_;
};

}  // namespace lowtide::budget_internal
