// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {

// What blocks of any shape may not do. A group is a block with one unknown, its base. Two members in conflict, of
// different groups, forbid a range of differences of their bases; ranges of the same two blocks that overlap are
// joined.
struct PairOrderProblem {
  struct Block {
    std::int64_t size = 0;
    std::int64_t alignment = 1;  // base = residue, modulo alignment
    std::int64_t residue = 0;
    std::optional<std::int64_t> fixed_base;
  };
  // Either base[upper] >= base[lower] + above, or base[lower] >= base[upper] + below: one of them lies on the other.
  struct Pair {
    std::uint32_t lower = 0;
    std::uint32_t upper = 0;
    std::int64_t above = 0;
    std::int64_t below = 0;
  };
  struct Member {
    std::uint32_t block = 0;
    std::int64_t shift = 0;
    PackingId id;
  };
  std::vector<Block> blocks;
  std::vector<Pair> pairs;
  std::vector<Member> members;  // of all buffers of the problem, by id
};

// Requires: `graph` has the pairs in conflict. Pairs within a group are left out.
[[nodiscard]] PairOrderProblem order_problem(const PackingProblem& problem, const BufferGroups& groups,
                                             const ConflictGraph& graph);

// Rules that may be switched off, to show that none of them changes an answer.
struct PairOrderRules {
  bool forced = true;      // a pair that can only lie one way is ordered at once
  bool components = true;  // blocks that no pairs join are ordered one set after the other
};

// Depth-first search for an order of each pair of blocks, for groups of different shapes, which no search that grows
// upwards can place: of two that reach around each other, neither is first. Every base has a least and a greatest
// value; an order raises the one and lowers the other, and so on until nothing changes. When no pair overlaps with all
// blocks at their least values, that is a packing; else a pair that does is ordered one way and then the other. (The
// disjunctive graph of scheduling: Carlier and Pinson, "An algorithm for solving the job-shop problem", 1989.)
// Complete: a packing orders every pair one way, and the least values under its orders are at or below its bases.
// Reaches dozens of blocks, not hundreds: it knows nothing of sums of sizes.
// No recursion; memory O(pairs + depth).
class PairOrderSearch final : public FitSearch {
 public:
  // `problem` must outlive the search.
  PairOrderSearch(const PairOrderProblem& problem, const PairOrderRules& rules);

  void set_capacity(std::int64_t capacity) override { capacity_ = capacity; }
  // Of members: the block with the lower rank is tried below first.
  void set_ranks(std::vector<std::uint32_t> ranks) override;
  void set_rule(CliqueRule rule) override { rule_ = rule; }
  SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                    const std::function<bool()>& is_stopped = {}) override;
  // By the index of PairOrderProblem::members.
  [[nodiscard]] std::int64_t offset(std::uint32_t member) const override {
    return least_[problem_.members[member].block] + problem_.members[member].shift;
  }
  [[nodiscard]] std::int64_t work() const override { return work_; }
  [[nodiscard]] std::int64_t nodes() const override { return nodes_; }

 private:
  enum class Order : std::uint8_t { open, upper_on_lower, lower_on_upper };
  struct Change {
    std::uint32_t at;  // of a block, or of a pair
    enum class Kind : std::uint8_t { least, greatest, order } kind;
    std::int64_t before;
  };
  struct Frame {
    std::uint32_t pair;
    Order second;  // what is tried next; open: nothing
    std::size_t mark;
  };

  bool begin();
  void find_components();
  [[nodiscard]] std::optional<std::uint32_t> choose(std::size_t component);
  [[nodiscard]] Order preferred(std::uint32_t pair) const;
  bool decide(std::uint32_t pair, Order order);
  bool propagate();
  bool propagate(std::uint32_t pair);
  bool impose(const PairOrderProblem::Pair& pair, Order order);
  bool raise(std::uint32_t block, std::int64_t least);
  bool lower(std::uint32_t block, std::int64_t greatest);
  void enqueue(std::uint32_t block);
  void undo(std::size_t mark);
  [[nodiscard]] bool overlaps(const PairOrderProblem::Pair& pair) const {
    return least_[pair.upper] < least_[pair.lower] + pair.above && least_[pair.lower] < least_[pair.upper] + pair.below;
  }

  const PairOrderProblem& problem_;
  PairOrderRules rules_;
  CliqueRule rule_ = CliqueRule::fewest_options;
  std::int64_t capacity_ = 0;
  std::vector<std::vector<std::uint32_t>> pairs_of_;    // by block
  std::vector<std::vector<std::uint32_t>> components_;  // pairs
  std::vector<std::uint32_t> ranks_;                    // by block
  std::vector<std::int64_t> least_;                     // by block
  std::vector<std::int64_t> greatest_;
  std::vector<Order> order_;            // by pair
  std::vector<std::int64_t> failures_;  // by pair, from 1
  std::vector<Change> trail_;
  std::vector<std::uint32_t> queue_;  // blocks whose least or greatest value has changed
  Flags<std::uint32_t> is_queued_;
  std::vector<Frame> frames_;
  std::int64_t nodes_ = 0;
  std::int64_t work_ = 0;
  std::int64_t last_work_ = 0;
};

// Require: both outlive the task, and `blocks` are of the problem.
[[nodiscard]] SearchTask search_task(const PackingProblem& problem, const PairOrderProblem& blocks);

}  // namespace lowtide::allocate_internal
