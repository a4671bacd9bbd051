// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/budget/runs/timeline.h"

namespace lowtide::budget_internal {

// Random moves of the annealing. Each changes a sequence to another one in which every run finds its inputs. It looks
// at the rules of the problem where it can, but only Timeline::is_allowed() says whether all of them are kept.
//
//   insert    a live output is dropped at some run, and made again before its next reader, with inputs that are gone
//   remove    a rerun disappears
//   exchange  a rerun disappears, and another output is dropped where the bytes of the first one stay now
//   shift     a run moves past others that do not depend on it
//   advance   a run moves far ahead, and takes with it all that it needs and that has not run there
class Moves {
 public:
  Moves(const RunProblem& problem, std::uint64_t seed, Timeline& timeline);

  // Makes one move. Returns false if it is impossible, or its reruns alone cost more than `affordable`. Then the caller
  // must take back what has changed. `is_over`: the sequence exceeds the budget, so the move should begin there.
  bool change(double affordable, bool is_over);
  // For the decisions of the annealing, so that one generator gives all numbers.
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  using Index = RunProblem::Index;

  [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_.below(count)); }
  bool insert(double affordable, bool is_over);
  // Drops some output that is live at a place, and makes it again.
  bool drop(std::size_t at, double affordable);
  bool remove();
  bool exchange(double affordable);
  bool shift();
  bool shift_later(std::size_t from);
  bool shift_earlier(std::size_t from);
  bool advance(double affordable);

  [[nodiscard]] std::size_t place_to_drop(bool is_over);
  [[nodiscard]] std::size_t step(std::size_t most);
  // The output of a node, or one of its parts.
  [[nodiscard]] Index some_entry(Index node);
  // How likely an input that is gone runs again, in percent. Otherwise it lives longer.
  [[nodiscard]] unsigned some_chance(unsigned never);
  // Collects a node and what runs again with it at a place, readers first. Returns false if that costs too much.
  bool collect(Index node, std::size_t at, unsigned percent, double affordable);
  // Whether what makes an input of a collected node runs again with it.
  [[nodiscard]] bool runs_too(Index node, Index input, std::size_t at, unsigned percent);
  // Does what collect() does, but what has not run there comes along in any case, and costs nothing.
  bool collect_ahead(Index node, std::size_t at, unsigned percent, double affordable);
  void push(Index node);
  [[nodiscard]] Index pop();
  void clear_open();
  // Whether all readers of the last output of a node before a place are collected and lose their own use.
  [[nodiscard]] bool loses_use(Index node, std::size_t at) const;

  const RunProblem& problem_;
  Random random_;
  Timeline& timeline_;
  std::vector<std::uint32_t> rank_;  // by node: its place in one order of all nodes
  std::vector<Index> open_;          // a heap by rank
  std::vector<char> is_open_;        // by node; all 0 between moves
  std::vector<char> is_replaced_;    // by node: its run before the place loses its use; all 0 between moves
  std::vector<Index> collected_;     // readers first
  std::vector<char> is_ahead_;       // by place in collected_: it has not run before
  std::int64_t work_ = 0;
};

}  // namespace lowtide::budget_internal
