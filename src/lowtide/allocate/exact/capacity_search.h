// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {

// Asks whether the buffers fit a capacity, with several searches that take turns. Which section is decided first
// and which buffer is tried first makes one search end after a thousand decisions and another after a million, and no
// rule is best on all problems: so each lane has its own rules, gets the same share, and begins anew with its orders
// shaken when the share is used up (Gomes, Selman and Kautz, "Boosting combinatorial search through randomization",
// AAAI 1998; shares grow by Luby's sequence, so that in the end one of them is long enough to be complete).
//
// With several threads the lanes of a round run at once, and the answer is that of one thread: the first lane that
// decides wins, what lanes behind it did does not count, and they begin anew, since one thread would not have run them.
class CapacitySearch {
 public:
  // `task` must outlive the search.
  explicit CapacitySearch(const SearchTask& task, int threads = 1);

  // Begins a question. Any capacity, in any order; lanes keep what they learned where it still holds.
  void set_capacity(std::int64_t capacity);

  // One share for each lane, until one of them decides or the effort ends.
  SearchOutcome run_round(Effort& effort);

  // Require: the last round ended with `fits`. By the index of SearchTask::buffers.
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const { return lanes_[winner_].search->offset(buffer); }

  // Decisions so far.
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  struct Lane {
    std::unique_ptr<FitSearch> search;
    Random random{0};
    bool is_shaken = false;
  };
  struct Round;

  void begin_anew(std::size_t lane);
  void run_turn(std::size_t lane, std::int64_t share, const Effort& effort, Round& round);
  [[nodiscard]] std::vector<std::uint32_t> ranks(BufferRule rule, bool is_shaken, Random& random) const;

  const SearchTask& task_;
  std::vector<Lane> lanes_;
  int threads_ = 1;
  std::int64_t capacity_ = 0;
  std::size_t winner_ = 0;
  std::int64_t round_ = 0;
  std::int64_t nodes_ = 0;
  std::uint64_t anew_ = 0;  // lanes begun so far
};

}  // namespace lowtide::allocate_internal
