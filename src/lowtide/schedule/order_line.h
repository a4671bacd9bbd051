// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/schedule/order_problem.h"

namespace lowtide::detail {

// A complete order whose neighbours can change places, and the load of every step of it. Which values live from where
// to where is kept by position, so an exchange costs what the two nodes touch, wherever they are. Nodes have one step.
class OrderLine {
 public:
  using Index = OrderProblem::Index;

  // `problem` must outlive it. Require: topological.
  OrderLine(const OrderProblem& problem, std::vector<Index> order);

  [[nodiscard]] const std::vector<Index>& order() const { return order_; }
  [[nodiscard]] std::int64_t load(std::size_t step) const { return load_[step]; }
  [[nodiscard]] std::int64_t peak() const;

  // Whether `node` has an edge from `other`.
  [[nodiscard]] bool comes_after(Index node, Index other) const;
  // Whether the nodes of `step` and the next may change places.
  [[nodiscard]] bool may_exchange(std::size_t step) const;
  // Require: they may.
  void exchange(std::size_t step);
  // Values looked at so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  // The load of a step and what lives after it, from what lives before it.
  void find_load(std::size_t step);
  void move_value(Index value, std::int64_t from, std::int64_t to);

  const OrderProblem& problem_;
  std::vector<Index> order_;
  std::vector<std::int64_t> first_;  // by value: step of the first user; -1 if it is there first
  std::vector<std::int64_t> last_;   // of the last; the number of steps if it is kept
  std::vector<std::int64_t> live_;   // bytes before each step
  std::vector<std::int64_t> load_;
  std::int64_t work_ = 0;
};

}  // namespace lowtide::detail
