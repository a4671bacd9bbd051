// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "lowtide/schedule/orders/downset_table.h"
#include "lowtide/schedule/orders/order_problem.h"
#include "lowtide/schedule/orders/order_state.h"

namespace lowtide::schedule_internal {

// Looks for the order with the lowest peak among all, by the sets of nodes that have run (downsets; Ahn et al.,
// "Ordering chaos", MLSys 2020, walk over the same sets, level by level). A step is taken only while its load stays
// within a level; steps above it wait, and when everything within is known the lowest of them is a lower bound of all
// orders, and the level rises to it. The first order that is complete is the best.
//
// With a stride the level rises by that much at least. Many fewer sets are looked at again, and the first order that is
// complete has a peak between the bound and the level.
//
// Safe steps are taken at once, without a choice: a node that can run within the level and leaves no more bytes than it
// found. An order that runs it later may as well run it now: what it frees only grows with what has run, so nothing
// after it costs more.
//
// Memory: a bit per node and kBytesPerSet bytes for each set; each set has one step that waits.
class DownsetSearch {
 public:
  using Index = OrderProblem::Index;

  static constexpr std::int64_t kBytesPerSet = 96;

  struct Options {
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();  // that the sets may take
    std::int64_t stride = 0;
  };

  // `problem` must outlive the search. `level`: a lower bound that is known; the better it is, the fewer sets are
  // looked at.
  DownsetSearch(const OrderProblem& problem, std::int64_t level, const Options& options);
  DownsetSearch(const OrderProblem& problem, std::int64_t level) : DownsetSearch(problem, level, Options{}) {}

  // Until an order is found, or nothing below `limit` is left, or the search is full, or `work` nodes, values and
  // words have been looked at. May be called again, with a lower limit.
  void run(std::int64_t work, std::int64_t limit);

  // No order has a lower peak.
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] bool is_solved() const { return goal_ != kNone; }
  // The sets take all bytes that they may: more work changes nothing.
  [[nodiscard]] bool is_full() const { return !is_solved() && sets() >= most_sets_; }
  // Requires: solved. Without a stride its peak is the bound.
  [[nodiscard]] std::vector<Index> order() const;
  // Sets that were looked at.
  [[nodiscard]] std::int64_t sets() const { return table_.size(); }
  [[nodiscard]] std::int64_t work() const { return state_.work() + work_; }

 private:
  static constexpr Index kNone = ~Index{0};
  using Waiting = std::pair<std::int64_t, Index>;  // load, set

  // A set whose steps within the level are taken one after another, what leaves the fewest bytes first.
  struct Open {
    Index set;
    std::int64_t lowest;                  // steps below were taken before
    std::pair<std::int64_t, Index> last;  // change and node of the step that was taken last
  };

  void open(Index set, std::int64_t lowest);
  void go_on();
  void rise();
  void take(Index set, Index node);
  [[nodiscard]] bool is_safe(OrderState& state, Index node) const;
  void take_safe_steps();
  void add(Index parent, Index chosen);

  const OrderProblem& problem_;
  std::int64_t bound_;
  std::int64_t level_;
  std::int64_t stride_;
  std::int64_t limit_ = 0;
  std::int64_t most_sets_;
  std::int64_t work_ = 0;  // beside that of the state
  OrderState state_;
  DownsetTable table_;
  std::vector<Index> parents_;
  std::vector<Index> chosen_;  // the step that led from the parent; safe ones followed
  std::vector<Open> open_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;  // of each set the lowest step above
  Index goal_ = kNone;
};

}  // namespace lowtide::schedule_internal
