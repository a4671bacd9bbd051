// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "lowtide/schedule/orders/downset_table.h"
#include "lowtide/schedule/orders/order_problem.h"
#include "lowtide/schedule/orders/order_state.h"

namespace lowtide::schedule_internal {

// Finds the order with the lowest peak. Searches over the downsets, which are the sets of nodes that may have run. Ahn
// et al., "Ordering chaos", MLSys 2020, visit the same sets by their number of nodes.
//
// The search has a threshold for loads, the level. It takes a step only if the load of the step does not exceed the
// level. All other steps wait. When no step within the level is left, no order has a peak below the lowest load of a
// waiting step. That load is the new bound, and the level rises to it. The first complete order has the lowest peak.
//
// With a stride, the level rises by at least that much. Then far fewer sets are visited again. The first complete order
// has a peak between the bound and the level.
//
// A step is safe if its load does not exceed the level, and if it leaves no more bytes than it found. The search takes
// every safe step at once, without alternatives. Suppose that an order runs the node of a safe step later. Running it
// now raises no later load, because a node never frees fewer bytes if more nodes have run before it.
//
// Memory: one bit per node and kBytesPerSet bytes for each set. Each set has at most one waiting step in the queue.
class DownsetSearch {
 public:
  using Index = OrderProblem::Index;

  static constexpr std::int64_t kBytesPerSet = 96;

  struct Options {
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();  // limit on the memory of the sets
    std::int64_t stride = 0;
  };

  // `problem` must outlive the search. `level`: a known lower bound. The higher it is, the fewer sets are visited.
  DownsetSearch(const OrderProblem& problem, std::int64_t level, const Options& options);
  DownsetSearch(const OrderProblem& problem, std::int64_t level) : DownsetSearch(problem, level, Options{}) {}

  // Runs until an order is found, no order can have a peak below `limit`, the search is full, or `work` nodes, values
  // and words have been visited. May be called again with a lower limit.
  void run(std::int64_t work, std::int64_t limit);

  // The proven lower bound: no order has a lower peak.
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] bool is_solved() const { return goal_ != kNone; }
  // Whether the memory of the sets is used up. Then more calls of run() change nothing.
  [[nodiscard]] bool is_full() const { return !is_solved() && sets() >= most_sets_; }
  // Requires: is_solved(). Without a stride its peak is the bound.
  [[nodiscard]] std::vector<Index> order() const;
  // The number of sets that were visited.
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
  std::int64_t work_ = 0;  // in addition to that of the state
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
