// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/offload/swaps/swap_moves.h"
#include "lowtide/offload/swaps/swap_scan.h"
#include "lowtide/offload/swaps/transfer_clock.h"

namespace lowtide::offload_internal {

// A sequence with transfers that keeps the budget.
struct FoundSwaps {
  Items items;
  std::vector<SwapProblem::Index> runs;  // with the end
  std::vector<Transfer> transfers;
  std::int64_t peak = 0;
  std::int64_t time = kForever;  // kForever: nothing was found
};

// Simulated annealing on sequences of runs and fetches (SwapMoves). The energy is the time by TransferClock, and a
// price for bytes above the budget, which adapts.
class SwapAnnealing {
 public:
  SwapAnnealing(const SwapProblem& problem, std::uint64_t seed);

  // Takes a sequence if it is valid, keeps the budget and is faster than the best one.
  void note(const Items& items);
  // One cooling from a sequence, from `heat` times the mean time of a run. Subtracts what it does from `work`, and
  // stops if the time of the best sequence reaches `goal`.
  void cool(const Items& start, double heat, std::int64_t goal, std::int64_t& work);
  [[nodiscard]] const FoundSwaps& found() const { return found_; }

 private:
  [[nodiscard]] double energy_of(const ScannedSwaps& swaps, std::int64_t time) const;
  void step(double temperature);
  void keep(const ScannedSwaps& swaps, std::int64_t time);
  void adapt_price(int over);
  [[nodiscard]] std::int64_t spent() const { return 2 * (scan_.work() + clock_.work()); }

  const SwapProblem& problem_;
  SwapScan scan_;
  TransferClock clock_;
  SwapMoves moves_;
  ScannedSwaps now_;
  ScannedSwaps next_;
  Items candidate_;
  double mean_time_ = 1;
  double usual_price_ = 1;
  double price_ = 1;
  double energy_ = 0;
  std::int64_t time_ = 0;  // of `now_`
  FoundSwaps found_;
};

}  // namespace lowtide::offload_internal
