// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/verify/bounds/chain_state.h"

namespace lowtide::verify_internal {

// Walks, depth first, over every set of chains that can have run while no load was above `most`, from one cut to the
// next (cuts_of). If all chains between the cuts have run in one of the sets, some order stays within `most` there. If
// no set is left, no order of the graph does. Sets are compared in full, not by their hashes.
//
// A chain is safe if it fits and leaves no more live bytes than before. It runs at once. Suppose that some order
// continues from here within `most`. Move that chain from its place to the front. What it adds only falls as more has
// run (chains.h), so it adds nothing anywhere on the way. Therefore every step on the way needs at most what it needed
// before.
class DownsetWalk {
 public:
  using Index = Chain::Index;
  enum class End : std::uint8_t { open, complete, exhausted };

  // Where to walk: the chains in [begin, end), where both are cuts. All referents must outlive the walk.
  struct Range {
    const OrderCount& count;
    const std::vector<Chain>& chains;
    Index begin;
    Index end;
  };

  // `bytes_left`: the bytes that all walks together may still use for sets. This walk subtracts those that it uses.
  DownsetWalk(const Range& range, std::int64_t most, std::int64_t& bytes_left);

  // Looks at about `work` nodes and pieces. May be called again while the walk is open.
  End run(std::int64_t work);

  // Bytes that the sets occupy.
  [[nodiscard]] std::int64_t bytes() const { return sets() * bytes_per_set_; }
  // Sets that were found.
  [[nodiscard]] std::int64_t sets() const { return static_cast<std::int64_t>(predecessors_.size()); }
  // Nodes, pieces and chains that were looked at so far.
  [[nodiscard]] std::int64_t work() const { return state_.work() + work_; }
  // Requires: complete. The chains in [begin, end) in an order within `most`.
  [[nodiscard]] std::vector<Index> order();

 private:
  // The chain that led from the parent to a set. Safe chains followed it.
  struct Predecessor {
    Index parent;
    Index chosen;
  };

  void go_to(Index set);
  [[nodiscard]] bool is_safe(Index chain);
  void run_safe_chains(std::vector<Index>* order);
  void expand(Index set);
  void keep(std::optional<Predecessor> predecessor);
  [[nodiscard]] bool insert(const std::vector<std::uint64_t>& words);
  void grow();

  const Range range_;
  const std::int64_t most_;
  std::int64_t& bytes_left_;
  ChainState state_;
  std::size_t words_per_set_;
  std::int64_t bytes_per_set_;
  std::vector<std::uint64_t> words_;                      // of all sets, one bit per chain
  std::vector<std::optional<Predecessor>> predecessors_;  // by set; nullopt: the first
  std::vector<Index> table_;   // open addressing, by the hash of the words: 1 + the set, or 0 if free
  std::vector<Index> open_;    // sets that are not expanded yet
  std::optional<Index> goal_;  // the set of all chains
  std::int64_t work_ = 0;      // in addition to that of the state
};

}  // namespace lowtide::verify_internal
