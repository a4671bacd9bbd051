// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/swap_anneal.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/annealing.h"

namespace lowtide::budget_internal {
namespace {

constexpr double kSwapPriceStep = 1.1;
constexpr std::int64_t kSwapMoveWork = 40;

// The mean of runs and of copies of fetched entries.
double mean_time_of(const SwapProblem& problem) {
  const auto time = static_cast<double>(problem.base_time + problem.fetch_time);
  return time / static_cast<double>(problem.run_count()) + 1e-3;
}

double mean_bytes_of(const SwapProblem& problem) {
  std::int64_t bytes = 0;
  for (std::int64_t size : problem.size) bytes += size;
  return static_cast<double>(bytes) / static_cast<double>(problem.run_count()) + 1;
}

}  // namespace

SwapAnnealing::SwapAnnealing(const SwapProblem& problem, std::uint64_t seed, const std::atomic<bool>* stop)
    : problem_(problem),
      stop_(stop),
      scan_(problem),
      clock_(problem),
      moves_(problem, seed),
      mean_time_(mean_time_of(problem)),
      price_(mean_time_ / mean_bytes_of(problem), kSwapPriceStep) {}

double SwapAnnealing::energy_of(const ScannedSwaps& swaps, std::int64_t time) const {
  const auto over = static_cast<double>(std::max<std::int64_t>(swaps.peak - problem_.budget, 0));
  return static_cast<double>(time) + price_.of(over, swaps.excess);
}

// Requires: the clock has just counted the time of the sequence.
void SwapAnnealing::keep(const ScannedSwaps& swaps, std::int64_t time) {
  if (swaps.peak > problem_.budget || time >= found_.time) return;
  found_ = {.items = swaps.items,
            .runs = swaps.runs,
            .transfers = clock_.transfers(swaps),
            .fetches = clock_.fetches(),
            .peak = clock_.peak(swaps),
            .time = time};
}

void SwapAnnealing::note(const Items& items) {
  if (scan_.scan(items, next_)) keep(next_, clock_.time(next_));
}

void SwapAnnealing::step(double temperature) {
  if (!moves_.change(now_, candidate_) || !scan_.scan(candidate_, next_)) return;
  const std::int64_t time = clock_.time(next_);
  const double energy = energy_of(next_, time);
  if (energy > energy_ && energy - energy_ >= temperature * exponential(moves_.random())) return;
  keep(next_, time);
  std::swap(now_, next_);
  energy_ = energy;
  time_ = time;
}

void SwapAnnealing::cool(const Items& start, const Cooling& cooling, std::int64_t& work) {
  if (!scan_.scan(start, now_)) return;
  time_ = clock_.time(now_);
  keep(now_, time_);
  price_.reset();
  energy_ = energy_of(now_, time_);
  const std::int64_t limit = std::min(work, cooling.length);
  const std::int64_t begin = spent();
  const double hottest = cooling.heat * mean_time_;
  const double coldest = 0.005 * mean_time_;
  std::int64_t moves = 0;
  std::int64_t done = 0;
  while (done < limit && found_.time > cooling.goal && !(stop_ != nullptr && stop_->load(std::memory_order_relaxed))) {
    const double temperature =
        cooled(hottest, coldest, static_cast<double>(done) / static_cast<double>(cooling.length));
    int over = 0;
    for (int move = 0; move < ExcessPrice::kRound; ++move) {
      step(temperature);
      over += now_.peak > problem_.budget ? 1 : 0;
    }
    moves += ExcessPrice::kRound;
    done = spent() - begin + kSwapMoveWork * moves;
    price_.adapt(over);
    energy_ = energy_of(now_, time_);
  }
  work -= done;
}

}  // namespace lowtide::budget_internal
