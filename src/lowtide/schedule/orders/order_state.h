// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/schedule/orders/order_problem.h"

namespace lowtide::schedule_internal {

// The state after some nodes have run: the set of these nodes, which is a downset, and the values that are live. The
// order in which they ran does not matter. The time to run or undo a node depends on its values, their users and the
// nodes after it, not on the size of the problem.
class OrderState {
 public:
  using Index = OrderProblem::Index;

  // `problem` must outlive the state. Nothing has run.
  explicit OrderState(const OrderProblem& problem);

  [[nodiscard]] bool has_run(Index node) const { return waiting_[node] == kHasRun; }
  [[nodiscard]] std::size_t left() const { return left_; }
  // Nodes that may run next, in no order.
  [[nodiscard]] const std::vector<Index>& ready() const { return ready_; }
  // Live bytes after the nodes that have run.
  [[nodiscard]] std::int64_t live() const { return live_; }
  // The effect of running a ready node. It is remembered until a value that the node touches changes.
  struct Effect {
    std::int64_t load = 0;    // largest of its steps
    std::int64_t change = 0;  // of `live`
  };
  [[nodiscard]] Effect effect_of(Index node) {
    if (!is_known_.test(node)) find_effect(node);
    return {.load = live_ + effects_[node].load, .change = effects_[node].change};
  }

  // Requires: the node is ready.
  void run(Index node);
  // Reverses run(node). Requires: the node has run, and no node that must come after it has.
  void undo(Index node);

  // The nodes that have run: one bit per node, 64 per word.
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }
  // A hash of the set of nodes that have run. Two different sets of one problem have the same hash with a probability
  // of 2^-64.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // Runs and undoes nodes until exactly those whose bits are set have run. Requires: they are a downset.
  void go_to(const std::uint64_t* words);
  [[nodiscard]] static std::size_t words_for(const OrderProblem& problem) { return (problem.nodes.size() + 63) / 64; }

  // Nodes, values and words that were looked at so far, about 1 ns each.
  [[nodiscard]] std::int64_t work() const { return work_; }
  // The work of reading the known effect of one ready node.
  [[nodiscard]] std::int64_t look() const { return look_ / 2; }

 private:
  static constexpr std::uint32_t kHasRun = ~std::uint32_t{0};

  // Lists of indices, one after another.
  class Lists {
   public:
    Lists() = default;
    explicit Lists(const std::vector<std::uint32_t>& sizes);
    void add(Index list, Index entry) { entries_[next_[list]++] = entry; }
    [[nodiscard]] std::span<const Index> operator[](Index list) const {
      return {entries_.data() + begin_[list], begin_[list + 1] - begin_[list]};
    }

   private:
    std::vector<std::size_t> begin_;
    std::vector<std::size_t> next_;
    std::vector<Index> entries_;
  };

  [[nodiscard]] bool is_new(Index value) const {
    return unused_[value] == problem_.values[value].users && !problem_.values[value].is_there_first;
  }
  [[nodiscard]] bool is_last_use(Index value) const { return unused_[value] == 1 && !problem_.values[value].is_kept; }
  [[nodiscard]] bool matters(Index value, std::uint32_t unused_before) const;
  [[nodiscard]] std::int64_t saved_by(const OrderProblem::Step& step) const;
  void find_effect(Index id);
  void collect_lists();
  void forget_effects(Index value);
  void add_ready(Index node);
  void remove_ready(Index node);

  const OrderProblem& problem_;
  Lists after_;                           // by node
  Lists uses_;                            // by node: values touched, step by step
  Lists users_;                           // by value: nodes, each once
  std::vector<std::uint32_t> most_uses_;  // by value: the most steps of one node that touch it
  std::vector<std::uint32_t> waiting_;    // by node: how many of the nodes before it have not run
  std::vector<std::uint32_t> unused_;     // by value: users that have not run
  std::vector<Index> ready_;
  std::vector<Index> place_;     // by ready node: its position in `ready_`
  std::vector<Effect> effects_;  // by node: the load minus the live bytes, and the change
  Flags<Index> is_known_;        // by node: whether its effect is known
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> words_;
  std::uint64_t hash_ = 0;
  std::size_t left_ = 0;
  std::int64_t live_ = 0;
  std::int64_t look_ = 2;  // work per value or node that is touched
  std::int64_t work_ = 0;
};

// The largest load of an order. Requires: the order is topological. O(nodes + touched values).
[[nodiscard]] std::int64_t peak_of(const OrderProblem& problem, const std::vector<OrderProblem::Index>& order);

}  // namespace lowtide::schedule_internal
