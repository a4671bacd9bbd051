// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// A sequence of runs that changes by one run at a time, with the live bytes of all its runs.
//
// An output lives from its run to its last use, the last reader before the node runs again:
//
//   position    0  1  2  3  4  5          a lives from 0 to 5
//   runs        a  b  c  d  e  f          b and f read a
//   with a      a  b  c  d  a' e  f       a lives from 0 to 1, and a' from 4 to 6
//
// So an added run takes bytes from the runs between two uses, and gives bytes to those between the inputs' last uses
// and itself. Nothing else changes, except where the bytes of a seed are live: from the first run of its node to the
// last one, if there are two. A change costs O(runs) for the positions that shift, in one pass over an array, and
// O(readers) of the nodes concerned: about 0.3 us for 500 runs.
//
// Live bytes are doubles, so that several are compared at once. They are exact if all sizes together are below 2^53.
class Timeline {
 public:
  using Index = RunProblem::Index;

  explicit Timeline(const RunProblem& problem);

  // Begins with a sequence. Requires: it is valid.
  void begin(const Runs& runs);
  // Sets what height() multiplies the excess of each node's runs with. Without it, that is 0.
  void weigh(const std::vector<double>& by_node);

  [[nodiscard]] std::size_t length() const { return order_.size(); }
  [[nodiscard]] Index node_at(std::size_t at) const { return runs_[order_[at]].node; }
  [[nodiscard]] double load_at(std::size_t at) const { return loads_[at]; }
  // The last run that uses an output of a run: itself if there is none, length() if it is live until the end.
  [[nodiscard]] std::size_t last_use_at(std::size_t at, std::uint32_t slot = 0) const {
    return use_position(order_[at], slot);
  }
  // The first reader of an entry after a position, or length().
  [[nodiscard]] std::size_t next_reader(Index entry, std::size_t after) const;
  // Whether an entry that was made before a position is live there, for the run at it or a later one.
  [[nodiscard]] bool is_live(Index entry, std::size_t at) const;
  // Whether a node must not run again at a position, because what comes after all of its runs is before that.
  [[nodiscard]] bool is_locked(Index node, std::size_t at) const;
  [[nodiscard]] bool has_run(Index node, std::size_t before) const { return run_before(node, before) != kNone; }
  // The latest run of a node before a position, or that position if there is none.
  [[nodiscard]] std::size_t latest_run(Index node, std::size_t before) const;
  // The first run of a node after a position, or length().
  [[nodiscard]] std::size_t next_run(Index node, std::size_t after) const;
  // Whether a node runs between two positions, without them.
  [[nodiscard]] bool runs_within(Index node, std::size_t from, std::size_t until) const {
    const RunId run = run_before(node, until);
    return run != kNone && runs_[run].position > from;
  }
  // All nodes that run more than once.
  [[nodiscard]] const std::vector<Index>& repeated() const { return repeated_; }
  [[nodiscard]] std::size_t position_of(Index node, std::size_t which) const {
    return runs_[runs_of_[node][which]].position;
  }
  [[nodiscard]] std::size_t times(Index node) const { return runs_of_[node].size(); }
  [[nodiscard]] Runs runs() const;

  // Whether each node with `runs_once` runs once, and the changes since the last commit() keep all rules.
  [[nodiscard]] bool is_allowed() const;
  [[nodiscard]] std::int64_t cost() const { return cost_; }
  // The largest number of live bytes, the sum of what is above the budget, and the same sum with weights.
  struct Height {
    double peak = 0;
    double excess = 0;
    double weighed = 0;
  };
  [[nodiscard]] Height height() const;
  [[nodiscard]] std::size_t peak_at() const { return peak_within(0, loads_.size()); }
  // The first position in [from, until) that has the most live bytes.
  [[nodiscard]] std::size_t peak_within(std::size_t from, std::size_t until) const;

  // Adds a run before the one at a position. Requires: the inputs have run before it.
  void insert(Index node, std::size_t at);
  // Removes a run. Returns false, and changes nothing, if a later one needs it and no earlier one makes the same.
  bool erase(std::size_t at);
  // Removes all reruns whose outputs have lost their last use since the last commit(), and those that only they use.
  void prune();

  // Keeps all changes since the last commit(), or takes them back.
  void commit();
  void undo();
  // What the changes have cost so far, in work units of about 1 ns.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  using RunId = std::uint32_t;
  static constexpr RunId kNone = 0xFFFFFFFF;
  static constexpr RunId kEnd = 0xFFFFFFFE;  // as a last use: the end

  struct Run {
    Index node = 0;
    std::uint32_t position = 0;
    RunId last_use = kNone;  // of its output
  };
  struct Change {
    bool is_insertion;
    Index node;
    std::size_t at;
  };

  [[nodiscard]] RunId last_use(RunId run, std::uint32_t slot) const {
    return slot == 0 ? runs_[run].last_use : part_uses_[run * problem_.most_parts() + slot - 1];
  }
  void set_last_use(RunId run, std::uint32_t slot, RunId use) {
    (slot == 0 ? runs_[run].last_use : part_uses_[run * problem_.most_parts() + slot - 1]) = use;
  }
  [[nodiscard]] std::size_t use_position(RunId run, std::uint32_t slot) const {
    const RunId use = last_use(run, slot);
    return use == kEnd ? order_.size() : runs_[use].position;
  }
  [[nodiscard]] std::size_t first_run(Index node) const { return runs_[runs_of_[node].front()].position; }
  [[nodiscard]] std::size_t last_run(Index node) const { return runs_[runs_of_[node].back()].position; }
  [[nodiscard]] RunId run_before(Index node, std::size_t at) const;
  // The last reader of an entry in (from, until), or kNone.
  [[nodiscard]] RunId last_reader(Index entry, std::size_t from, std::size_t until) const;
  // Whether something uses an output of a run.
  [[nodiscard]] bool is_used(RunId run) const;
  [[nodiscard]] RunId new_run(Index node, std::size_t at);
  // What is live before the run at a position, for that run or a later one, without the seed of a node.
  [[nodiscard]] double live_across(std::size_t at, Index without) const;
  void add_run(Index node, std::size_t at);
  bool remove_run(std::size_t at);
  void shift(std::size_t from);
  void add_bytes(std::size_t from, std::size_t until, double bytes);
  // An entry lives up to the last reader before a position. The later use goes to another run.
  void end_before(RunId run, Index entry, std::size_t at);
  void take_uses(RunId run, std::size_t at);
  void note_unused(RunId run);
  void add_seed(Index node, double sign);
  [[nodiscard]] bool keeps_rules(Index node) const;
  [[nodiscard]] bool is_remade(Index writer) const;
  [[nodiscard]] bool keeps_group(Index node) const;
  [[nodiscard]] bool runs_again(Index node) const { return runs_of_[node].size() > 1; }
  void link(RunId run);
  void unlink(RunId run);

  const RunProblem& problem_;
  std::vector<Run> runs_;                    // by id; removed ones are in free_
  std::vector<RunId> part_uses_;             // by run and part: the last use
  std::vector<RunId> order_;                 // by position
  std::vector<double> loads_;                // by position
  std::vector<double> weights_;              // by position: of what is above the budget
  std::vector<double> weight_of_;            // by node
  std::vector<std::vector<RunId>> runs_of_;  // by node, ascending by position
  std::vector<RunId> free_;
  std::vector<Index> repeated_;
  std::vector<std::size_t> place_;  // by node: its place in repeated_, if it is there
  std::vector<Change> changes_;
  std::vector<RunId> unused_;   // runs that may have lost their last use
  std::int64_t forbidden_ = 0;  // reruns of nodes with `runs_once`
  std::int64_t cost_ = 0;
  std::int64_t work_ = 0;
  double end_bytes_ = 0;  // of outputs that are live at the end
};

}  // namespace lowtide::budget_internal
