// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/lowest_peak.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "lowtide/budget/runs/anneal.h"
#include "lowtide/budget/runs/checkpoint.h"
#include "lowtide/budget/runs/evict.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/retain.h"

namespace lowtide::budget_internal {

namespace {

constexpr std::int64_t kFirstCooling = 25'000;  // of work per node
constexpr std::int64_t kTargets = 32;           // a target is tried if it lowers the peak by this part of what is open
constexpr std::uint64_t kLowestSeed = 1;

// The lowest sequence so far, and the limits of its peak.
class LowestPeak {
 public:
  LowestPeak(const RunProblem& problem, const Runs& order, const FloorSearch& floor, const Runs& runs)
      : order_(order), floor_(floor), best_(runs), larger_(problem), scan_(problem), high_(scan_.scan(runs).peak) {
    low_ = std::min(std::max(floor.bound(), problem.budget + 1), high_);
  }

  // Bisection, as if eviction kept all budgets above some number.
  void evict(std::int64_t& work) {
    std::int64_t low = low_;
    for (larger_.budget = low; low < high_ && work > 0; larger_.budget = low + (high_ - low) / 2) {
      for (bool keeps_once : {true, false}) {
        for (int chain_quarters : {4, 0}) {
          const EvictionRule rule{.chain_quarters = chain_quarters, .uses_distance = true, .keeps_once = keeps_once};
          if (const auto evicted = evict_along(larger_, order_, rule, floor_, work)) take(*evicted);
        }
        if (larger_.is_free()) break;
      }
      if (high_ > larger_.budget) low = larger_.budget + 1;
    }
  }

  // The lowest sequence of checkpointing. It is far below the peak of an order where nothing else is known yet.
  void checkpoint(std::int64_t& work) {
    CheckpointSequences sequences(larger_, order_);
    while (low_ < high_ && work > 0) {
      const std::optional<Runs> runs = sequences.next(work);
      if (!runs) return;
      take(*runs);
    }
  }

  // Coolings towards the lower limit, and then towards targets between it and the peak, by bisection. They are twice as
  // long once the targets of one length were tried. A cooling that is cut could find something else, so each needs the
  // work for all of it.
  void anneal(std::int64_t& work, const std::atomic<bool>* stop) {
    std::int64_t length = kFirstCooling * static_cast<std::int64_t>(larger_.count());
    for (; low_ < high_; length *= 2) {
      std::int64_t failed = low_;
      larger_.budget = low_;
      do {
        if (work < length || (stop != nullptr && stop->load())) return;
        Annealing annealing(larger_, kLowestSeed, stop);
        annealing.cool(best_, {.goal = kMaxTotalCost, .length = length, .weighs = true}, work);
        if (!annealing.found().lowest.empty()) take(annealing.found().lowest);
        if (annealing.found().best) take(*annealing.found().best);
        if (high_ > larger_.budget) failed = larger_.budget;
        larger_.budget = failed + (high_ - failed) / 2;
      } while (high_ - larger_.budget > (high_ - low_) / kTargets);
    }
  }

  // Without reruns for which there is space below the peak.
  [[nodiscard]] Runs with_fewer_reruns(std::int64_t& work) {
    larger_.budget = high_;
    Runs fewer = retain_outputs(larger_, best_, work);
    return scan_.scan(fewer).peak <= high_ ? fewer : best_;
  }

 private:
  void take(const Runs& runs) {
    const Loads loads = scan_.scan(runs);
    if (!loads.is_valid || loads.peak >= high_) return;
    best_ = runs;
    high_ = loads.peak;
  }

  const Runs& order_;
  const FloorSearch& floor_;
  Runs best_;
  RunProblem larger_;  // the problem with other budgets
  LoadScan scan_;
  std::int64_t high_;
  std::int64_t low_ = 0;
};

}  // namespace

Runs find_lowest_peak(const RunProblem& problem, const FloorSearch& floor, const LowestPeakStart& start,
                      std::int64_t& work, const std::atomic<bool>* stop) {
  LowestPeak lowest(problem, start.order, floor, start.runs);
  lowest.checkpoint(work);
  lowest.evict(work);
  lowest.anneal(work, stop);
  return lowest.with_fewer_reruns(work);
}

}  // namespace lowtide::budget_internal
