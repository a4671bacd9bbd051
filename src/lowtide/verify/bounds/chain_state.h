// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/verify/bounds/chains.h"
#include "lowtide/verify/bounds/order_count.h"

namespace lowtide::verify_internal {

// The state of an order after some of its chains have run: which chains these are, and which bytes are live. It depends
// only on the set of these chains, not on their order. Running or undoing a chain costs time in proportion to what the
// chain touches.
class ChainState {
 public:
  using Index = Chain::Index;

  // Initially no chain has run. Both arguments must outlive the state.
  ChainState(const OrderCount& count, const std::vector<Chain>& chains);

  // What running a ready chain would do.
  struct Effect {
    std::int64_t load = 0;    // the largest at one of its nodes, rounded up to the alignment
    std::int64_t change = 0;  // of the live bytes
  };
  // Requires: `chain` is ready.
  [[nodiscard]] Effect effect_of(Index chain);

  // Requires: the chain is ready.
  void run(Index chain);
  // Reverses run(). Requires: the chain has run, and no chain that must come after it has.
  void undo(Index chain);

  [[nodiscard]] bool has_run(Index chain) const { return waiting_[chain] == kHasRun; }
  // Chains that may run next, ascending.
  [[nodiscard]] const std::vector<Index>& ready() const { return ready_; }
  // The live bytes after the chains that have run.
  [[nodiscard]] std::int64_t live() const { return live_; }
  // Nodes and pieces that were looked at so far, about 1 ns each.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr Index kHasRun = ~Index{0};

  [[nodiscard]] bool has_begun(Index piece) const;
  [[nodiscard]] bool is_last_use(Index piece) const;
  [[nodiscard]] std::int64_t saved_by(const OrderCount::Node& node) const;
  [[nodiscard]] std::int64_t use(const OrderCount::Node& node);
  void add_ready(Index chain);
  void remove_ready(Index chain);

  const OrderCount& count_;
  const std::vector<Chain>& chains_;
  std::vector<std::vector<Index>> after_;  // by chain: those that wait for it
  std::vector<Index> waiting_;             // by chain: how many of those before it have not run
  std::vector<Index> unused_;              // by piece: users that have not run
  std::vector<Index> ready_;
  std::int64_t live_ = 0;
  std::int64_t work_ = 0;
};

}  // namespace lowtide::verify_internal
