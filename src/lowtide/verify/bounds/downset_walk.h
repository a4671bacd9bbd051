// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/verify/bounds/order_count.h"

namespace lowtide::verify_internal {

// Walks over every set of nodes that can have run while no load was above `most`, depth first. Whether an order stays
// within that is decided when all nodes have run in one of the sets (there is one), or when no set is left (there is
// none). Sets are compared in full. Two facts spare most of them:
//
//   - A node that fits, and leaves no more bytes than it found, runs at once. Let an order go on from here within
//     `most`, and move that node, v, from its place to the front. The change of the live bytes by v only falls as more
//     has run, for a piece is a set of users, and whether a set of nodes cuts it is submodular; so each step before the
//     old place of v bears at most what it bore. What it may write over is no less either: read forwards, more can die;
//     backwards, a piece that v began counted there before v came, and now counts no more than the change of v did.
//   - All orders have run the same nodes before one that is comparable with all others, and after it. When the walk
//     comes to such a set, all sets that wait may be forgotten: each of their orders comes to the same set.
class DownsetWalk {
 public:
  using Index = OrderCount::Index;
  enum class End : std::uint8_t { open, complete, exhausted };

  // `count` must outlive the walk.
  DownsetWalk(const OrderCount& count, std::int64_t most);

  // Looks at about so many nodes and pieces; may be called again while it is open.
  End run(std::int64_t work);

  // No more sets can be kept; it stays open.
  [[nodiscard]] bool is_full() const { return words_.size() + words_a_set_ > kMostWords; }
  [[nodiscard]] std::int64_t sets() const { return static_cast<std::int64_t>(parents_.size()); }
  // Require: complete. All nodes, each after those before it.
  [[nodiscard]] std::vector<Index> order() const;

 private:
  static constexpr Index kNone = ~Index{0};
  static constexpr std::size_t kMostWords = std::size_t{1} << 25;  // 256 MiB

  // Which nodes have run, and what follows from it.
  struct State {
    std::vector<char> has_run;
    std::vector<Index> waiting;  // by node: of those before it, how many have not run
    std::vector<Index> unused;   // by piece: users that have not run
    std::vector<Index> ready;    // ascending
    std::int64_t live = 0;
    std::size_t left = 0;
  };

  [[nodiscard]] bool has_begun(Index piece) const;
  [[nodiscard]] std::int64_t load_of(Index node);
  [[nodiscard]] std::int64_t change_by(Index node) const;
  void step(Index node);
  void load(Index set);
  void run_safe_nodes();
  [[nodiscard]] bool is_safe(Index node);
  void expand(Index set);
  void keep(Index parent, Index chosen);
  [[nodiscard]] bool insert(const std::vector<std::uint64_t>& words);
  void grow();
  void find_joints();

  const OrderCount& count_;
  std::int64_t most_;
  std::size_t words_a_set_;
  std::int64_t work_ = 0;
  std::vector<char> is_joint_;  // by number of nodes: all orders have run the same ones then
  State start_;
  State state_;
  std::vector<std::uint64_t> words_;  // of all sets
  std::vector<Index> parents_;
  std::vector<Index> chosen_;  // the step that led from the parent; safe ones followed
  std::vector<Index> table_;   // open addressing: sets by the hash of their words
  std::vector<Index> open_;
  Index goal_ = kNone;
};

}  // namespace lowtide::verify_internal
