// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "lowtide/schedule/order_problem.h"
#include "lowtide/schedule/order_state.h"

namespace lowtide {

// Looks for the order with the lowest peak among all, by the sets of nodes that have run (downsets; Ahn et al.,
// "Ordering chaos", MLSys 2020, walk over the same sets, level by level). A step is taken only while its load stays
// within a level; steps above it wait, and when everything within is known the level rises to the lowest of them. So
// the level is a lower bound of all orders at any time, and the first order that is complete is the best.
//
// Safe steps are taken at once, without a choice: a node that can run within the level and leaves no more bytes than it
// found. Whoever runs it later may as well run it now: what it frees only grows with what has run, and so nothing after
// it costs more.
//
// Memory: a bit a node for each set, and 16 bytes for each step that waits.
class DownsetSearch {
 public:
  using Index = OrderProblem::Index;

  // `problem` must outlive the search. `level`: a lower bound that is known; the better it is, the fewer sets are
  // looked at.
  DownsetSearch(const OrderProblem& problem, std::int64_t level);

  // Until an order is found, or nothing below `limit` is left, or so many nodes and values have been looked at. May be
  // called again, with a lower limit.
  void run(std::int64_t work, std::int64_t limit);

  // No order has a lower peak.
  [[nodiscard]] std::int64_t bound() const { return level_; }
  [[nodiscard]] bool is_solved() const { return goal_ != kNone; }
  // Require: solved. Its peak is the bound.
  [[nodiscard]] std::vector<Index> order() const;
  // Sets that were looked at.
  [[nodiscard]] std::int64_t sets() const { return static_cast<std::int64_t>(parents_.size()); }
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr Index kNone = ~Index{0};
  using Waiting = std::tuple<std::int64_t, Index, Index>;  // load, set, node

  void expand(Index set);
  void take(Index set, Index node);
  [[nodiscard]] bool is_safe(detail::OrderState& state, Index node) const;
  void take_safe_steps(detail::OrderState& state) const;
  void add(const detail::OrderState& state, Index parent, Index chosen);
  [[nodiscard]] const std::uint64_t* words(Index set) const { return words_.data() + set * words_a_set_; }

  const OrderProblem& problem_;
  std::size_t words_a_set_;
  std::int64_t level_;
  std::int64_t limit_ = 0;
  std::int64_t work_a_set_ = 0;
  std::int64_t work_ = 0;
  detail::OrderState state_;
  std::vector<std::uint64_t> words_;  // of all sets
  std::vector<Index> parents_;
  std::vector<Index> chosen_;              // the step that led from the parent; safe ones followed
  std::unordered_set<std::size_t> known_;  // hashes of sets
  std::vector<Index> open_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  Index goal_ = kNone;
};

}  // namespace lowtide
