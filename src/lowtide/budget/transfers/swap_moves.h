// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/budget/transfers/swap_scan.h"

namespace lowtide::budget_internal {

// Random changes of a sequence: an output is fetched or made again before a later use, a fetch or a rerun is removed or
// replaced by the other one, or a run moves. The result need not be valid; SwapScan decides.
class SwapMoves {
 public:
  SwapMoves(const SwapProblem& problem, std::uint64_t seed)
      : problem_(problem), random_(seed), is_marked_(problem.count()), times_(problem.count(), 0) {}

  // Writes a changed sequence to `candidate`. Returns false if the change is impossible.
  bool change(const ScannedSwaps& now, Items& candidate);
  [[nodiscard]] Random& random() { return random_; }

 private:
  using Index = SwapProblem::Index;

  bool insert(const ScannedSwaps& now, Items& candidate);
  bool remove(const ScannedSwaps& now, Items& candidate);
  bool replace(const ScannedSwaps& now, Items& candidate);
  bool move(const ScannedSwaps& now, Items& candidate);
  void collect(const ScannedSwaps& now, Index node, std::size_t to);
  void sort_by_first_run(const ScannedSwaps& now);
  bool pick_extra(const ScannedSwaps& now, std::size_t& at);
  // Calls act(node) for each node whose runs a run must not move past.
  template <typename Act>
  void for_each_block(Index moved, bool is_later, Act act) const;
  [[nodiscard]] bool blocks(const Item& item, Index moved) const;
  [[nodiscard]] bool reads(Index reader, Index entry) const;
  [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_.below(count)); }

  const SwapProblem& problem_;
  Random random_;
  Items added_;
  std::vector<std::size_t> choices_;  // of one move
  Flags<Index> is_marked_;            // by run; none is set between moves
  std::vector<std::uint32_t> times_;  // by run; all 0 between moves
};

}  // namespace lowtide::budget_internal
