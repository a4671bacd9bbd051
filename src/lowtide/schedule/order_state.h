// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/schedule/order_problem.h"

namespace lowtide::detail {

// How far an order has come: which nodes have run (a downset: whatever must come before them has run too), and what
// lives. All of it depends on the set alone, not on the order within.
class OrderState {
 public:
  using Index = OrderProblem::Index;

  // `problem` must outlive the state. Nothing has run.
  explicit OrderState(const OrderProblem& problem);

  [[nodiscard]] bool has_run(Index node) const { return waiting_[node] == kHasRun; }
  [[nodiscard]] bool is_ready(Index node) const { return waiting_[node] == 0; }
  [[nodiscard]] std::size_t left() const { return left_; }
  // Nodes that may run next, in no order.
  [[nodiscard]] const std::vector<Index>& ready() const { return ready_; }
  // Bytes that live between two steps.
  [[nodiscard]] std::int64_t live() const { return live_; }
  // What running a ready node would do.
  struct Effect {
    std::int64_t load = 0;    // largest of its steps
    std::int64_t change = 0;  // of `live`
  };
  [[nodiscard]] Effect effect_of(Index node);

  void run(Index node);

  // Starts again with the nodes whose bits are set; they must be a downset. 64 a word.
  void load(const std::uint64_t* words);
  void store(std::uint64_t* words) const;
  [[nodiscard]] static std::size_t words_for(const OrderProblem& problem) { return (problem.nodes.size() + 63) / 64; }

 private:
  static constexpr std::uint32_t kHasRun = ~std::uint32_t{0};

  [[nodiscard]] bool is_new(Index value) const {
    return unused_[value] == problem_.values[value].users && !problem_.values[value].is_there_first;
  }
  [[nodiscard]] bool is_last_use(Index value) const { return unused_[value] == 1 && !problem_.values[value].is_kept; }
  [[nodiscard]] std::int64_t saved_by(const OrderProblem::Step& step) const;
  [[nodiscard]] std::int64_t load_of(const OrderProblem::Step& step) const;
  void touch(const OrderProblem::Step& step);
  void reset();

  const OrderProblem& problem_;
  std::vector<std::vector<Index>> after_;
  std::vector<std::uint32_t> waiting_;  // by node: of those before it, how many have not run
  std::vector<std::uint32_t> unused_;   // by value: users that have not run
  std::vector<Index> ready_;
  std::size_t left_ = 0;
  std::int64_t live_ = 0;
};

}  // namespace lowtide::detail
