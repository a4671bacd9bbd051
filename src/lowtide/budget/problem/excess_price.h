// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

namespace lowtide::budget_internal {

// What an annealing pays for live bytes above the budget. The price adapts, so that about a third of all sequences on
// its way exceed the budget.
class ExcessPrice {
 public:
  static constexpr int kRound = 256;  // moves between two changes of the price, and of the temperature

  // `usual`: the price at the begin, about the cost of a run divided by the bytes of an output. `step`: the factor of
  // one change; > 1.
  ExcessPrice(double usual, double step) : usual_(usual), step_(step), price_(usual) {}

  void reset() { price_ = usual_; }

  // `over`: how many sequences of a round exceeded the budget.
  void adapt(int over) {
    if (over > kRound / 2) price_ = std::min(price_ * step_, usual_ * 1e3);
    if (over < kRound / 4) price_ = std::max(price_ / step_, usual_ * 1e-3);
  }

  // `over`: bytes of the run that has the most. `sum`: of all runs.
  [[nodiscard]] double of(double over, double sum) const { return price_ * (over + kSumShare * sum); }

 private:
  static constexpr double kSumShare = 0.005;  // of the price of the largest excess; with 0.03, some problems get stuck

  double usual_;
  double step_;
  double price_;
};

}  // namespace lowtide::budget_internal
