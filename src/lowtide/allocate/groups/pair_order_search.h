// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {

// The constraints between groups. A group has one unknown, its base. Two members in conflict, of different groups,
// forbid a range of differences of their bases. Ranges of the same two groups that overlap are joined.
struct PairOrderProblem {
  struct Block {
    std::int64_t size = 0;
    std::int64_t alignment = 1;  // base = residue, modulo alignment
    std::int64_t residue = 0;
    std::optional<std::int64_t> fixed_base;
  };
  // Either base[upper] >= base[lower] + above, or base[lower] >= base[upper] + below: one group lies on the other one.
  struct Pair {
    GroupId lower;
    GroupId upper;
    std::int64_t above = 0;
    std::int64_t below = 0;
  };
  using PairId = Id<struct GroupPairTag>;
  struct Member {
    GroupId group;
    std::int64_t shift = 0;  // from the base of the group
    PackingId id;
  };
  IdVector<GroupId, Block> blocks;
  IdVector<PairId, Pair> pairs;
  IdVector<SearchBuffer, Member> members;  // all buffers of the problem, by id
};

// Requires: `graph` has all conflicts. Conflicts within a group are left out.
[[nodiscard]] PairOrderProblem pair_order_problem(const PackingProblem& problem, const BufferGroups& groups,
                                                  const ConflictGraph& graph);

// Rules that tests switch off, to show that no rule changes an answer and that each rule saves decisions.
struct PairOrderRules {
  bool forced = true;      // a pair with only one possible order gets it at once
  bool components = true;  // sets of groups that no pair joins are ordered one after another
};

// Depth-first search for an order of each pair of groups. It is for groups of different shapes, which no search that
// builds a packing upwards can handle: if two groups interlock, neither lies below the other.
//
// Every base has a least and a greatest value. An order raises one of them and lowers the other, and the change is
// propagated until nothing changes any more. If no pair overlaps when all bases have their least values, these are a
// packing. Otherwise a pair that overlaps gets one order and then the other. (This is the disjunctive graph of job-shop
// scheduling: Carlier and Pinson, "An algorithm for solving the job-shop problem", 1989.) The search is complete: a
// packing orders every pair one way, and the least values under its orders are at or below its bases.
//
// Solves dozens of groups, not hundreds, because it does not reason about sums of sizes. It does not recurse.
// Memory: O(pairs + depth).
class PairOrderSearch final : public FitSearch {
 public:
  // `problem` must outlive the search.
  PairOrderSearch(const PairOrderProblem& problem, const PairOrderRules& rules);

  void set_capacity(std::int64_t capacity) override { capacity_ = capacity; }
  // A group has the lowest rank of its members. The group with the lower rank is tried below the other one first.
  void set_ranks(IdVector<SearchBuffer, std::uint32_t> ranks) override;
  void set_rule(CliqueRule rule) override { rule_ = rule; }
  SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                    const std::function<bool()>& is_stopped = {}) override;
  [[nodiscard]] std::int64_t offset(SearchBuffer member) const override {
    return least_[problem_.members[member].group] + problem_.members[member].shift;
  }
  [[nodiscard]] std::int64_t work() const override { return work_; }
  [[nodiscard]] std::int64_t nodes() const override { return nodes_; }

 private:
  using PairId = PairOrderProblem::PairId;
  enum class Order : std::uint8_t { open, upper_on_lower, lower_on_upper };
  // A change that can be undone: a pair has got an order, or the least or greatest value of a base has changed.
  struct Change {
    enum class Kind : std::uint8_t { least, greatest, order } kind;
    GroupId group;            // of a value
    std::int64_t before = 0;  // the value
    PairId pair;              // of an order
  };
  struct Frame {
    PairId pair;
    std::optional<Order> second;  // what is tried next, if it was not tried yet
    std::size_t mark;
  };

  bool begin();
  bool backtrack();
  void find_components();
  [[nodiscard]] std::optional<PairId> choose(std::size_t component);
  [[nodiscard]] Order preferred(PairId pair) const;
  bool decide(PairId pair, Order order);
  void set_order(PairId pair, Order order);
  bool propagate();
  bool propagate(PairId pair);
  bool impose(const PairOrderProblem::Pair& pair, Order order);
  bool raise(GroupId group, std::int64_t least);
  bool lower(GroupId group, std::int64_t greatest);
  void enqueue(GroupId group);
  void clear_queue();
  void undo(std::size_t mark);
  [[nodiscard]] bool overlaps(const PairOrderProblem::Pair& pair) const {
    return least_[pair.upper] < least_[pair.lower] + pair.above && least_[pair.lower] < least_[pair.upper] + pair.below;
  }

  const PairOrderProblem& problem_;
  PairOrderRules rules_;
  CliqueRule rule_ = CliqueRule::fewest_options;
  std::int64_t capacity_ = 0;
  IdVector<GroupId, std::vector<PairId>> pairs_of_;
  std::vector<std::vector<PairId>> components_;
  IdVector<GroupId, std::uint32_t> ranks_;
  IdVector<GroupId, std::int64_t> least_;
  IdVector<GroupId, std::int64_t> greatest_;
  IdVector<PairId, Order> order_;
  IdVector<PairId, std::int64_t> failures_;  // 1 + the dead ends met at the pair
  std::vector<Change> trail_;
  std::vector<GroupId> queue_;  // groups whose least or greatest value has changed
  Flags<GroupId> is_queued_;
  std::vector<Frame> frames_;
  std::int64_t nodes_ = 0;
  std::int64_t work_ = 0;
  std::int64_t last_work_ = 0;
};

// Requires: `blocks` was made from `problem`. It must outlive the task.
[[nodiscard]] SearchTask search_task(const PackingProblem& problem, const PairOrderProblem& blocks);

}  // namespace lowtide::allocate_internal
