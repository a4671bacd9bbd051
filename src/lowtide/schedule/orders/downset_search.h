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

// Finds the order with the lowest peak, by a search over the sets of nodes that may have run (downsets; Ahn et al.,
// "Ordering chaos", MLSys 2020, walk over the same sets, level by level). A step is taken only if its load is within a
// level. Steps above it wait. When everything within the level is known, the lowest waiting step is a lower bound for
// all orders, and the level rises to it. The first complete order is the best.
//
// With a stride, the level rises by at least that much. Far fewer sets are looked at again, and the first complete
// order has a peak between the bound and the level.
//
// Safe steps are taken without a choice: nodes that fit within the level and leave no more bytes than they found. An
// order that runs such a node later may as well run it now, because what a node frees only grows with what has run. So
// nothing after it costs more.
//
// Memory: one bit per node and kBytesPerSet bytes for each set. Each set has at most one waiting step in the queue.
class DownsetSearch {
 public:
  using Index = OrderProblem::Index;

  static constexpr std::int64_t kBytesPerSet = 96;

  struct Options {
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();  // that the sets may take
    std::int64_t stride = 0;
  };

  // `problem` must outlive the search. `level`: a known lower bound. The higher it is, the fewer sets are looked at.
  DownsetSearch(const OrderProblem& problem, std::int64_t level, const Options& options);
  DownsetSearch(const OrderProblem& problem, std::int64_t level) : DownsetSearch(problem, level, Options{}) {}

  // Runs until an order is found, or nothing below `limit` is left, or the search is full, or `work` nodes, values and
  // words have been looked at. May be called again with a lower limit.
  void run(std::int64_t work, std::int64_t limit);

  // No order has a lower peak.
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] bool is_solved() const { return goal_ != kNone; }
  // Whether the sets use all of their memory. Then more work changes nothing.
  [[nodiscard]] bool is_full() const { return !is_solved() && sets() >= most_sets_; }
  // Requires: is_solved(). Without a stride its peak is the bound.
  [[nodiscard]] std::vector<Index> order() const;
  // Sets that were looked at.
  [[nodiscard]] std::int64_t sets() const { return table_.size(); }
  [[nodiscard]] std::int64_t work() const { return state_.work() + work_; }

 private:
  static constexpr Index kNone = ~Index{0};
  using Waiting = std::pair<std::int64_t, Index>;  // load, set

  // A set whose steps within the level are taken one after another, those that leave the fewest bytes first.
  struct Open {
    Index set;
    std::int64_t lowest;                  // steps with a lower load were taken before
    std::pair<std::int64_t, Index> last;  // change and node of the last step that was taken
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
  std::vector<Index> chosen_;  // the step that led from the parent; safe steps followed it
  std::vector<Open> open_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>
      waiting_;  // the lowest step of each set above the level
  Index goal_ = kNone;
};

}  // namespace lowtide::schedule_internal
