// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lowtide::budget_internal {

// What an annealing pays for a byte above the budget while a node runs, by node. A weight grows while some run of its
// node exceeds the budget, and falls otherwise. So the weights approach the multipliers of a memory limit for each run.
//
// The price of the largest excess alone (ExcessPrice) does not change when one of several runs with about the same
// excess gets below the budget. On the training step of a ResNet-18 at 66 % of its peak, nine runs exceeded the budget
// by half a percent at a low cost, and no price made the annealing repair them one after another.
class ExcessWeights {
 public:
  // `usual`: about the cost of a run divided by the bytes of an output; > 0.
  ExcessWeights(std::size_t nodes, double usual)
      : least_(usual * kLeast), most_(usual * kMost), weights_(nodes, usual * kFirst) {}

  // `is_over`: by node, whether one of its runs exceeds the budget.
  void adapt(const std::vector<char>& is_over) {
    for (std::size_t node = 0; node < weights_.size(); ++node) {
      weights_[node] = std::clamp(weights_[node] * (is_over[node] != 0 ? kUp : kDown), least_, most_);
    }
  }

  [[nodiscard]] const std::vector<double>& by_node() const { return weights_; }

 private:
  static constexpr double kFirst = 0.02;
  static constexpr double kLeast = 0.002;
  static constexpr double kMost = 2000;
  static constexpr double kUp = 1.1;
  static constexpr double kDown = 0.98;

  double least_;
  double most_;
  std::vector<double> weights_;
};

}  // namespace lowtide::budget_internal
