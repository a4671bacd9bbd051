// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lowtide/allocate/exact/fit_search.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {

// Decides whether the buffers fit a capacity, with several configurations of one search. A configuration says which
// clique is decided first and which buffer is tried first. For the same capacity, one configuration may need a thousand
// decisions and another one a million, and none is best on all problems. So the configurations take slices of the
// same length in turn. After its slice, each of them restarts with a randomized order of the buffers (Gomes, Selman and
// Kautz, "Boosting combinatorial search through randomization", AAAI 1998). Slices grow by Luby's sequence, so in the
// end one of them is long enough for a complete search.
//
// With several threads, the configurations of a round run at the same time. The answer is the same as with one thread:
// the first configuration that decides wins. The results of the configurations after it are discarded, and these
// configurations restart, because one thread would not have run them.
class CapacitySearch {
 public:
  // `task` must outlive the search.
  explicit CapacitySearch(const SearchTask& task, int threads = 1);

  // Capacities may come in any order. Configurations keep the nogoods that still hold.
  void set_capacity(std::int64_t capacity);

  // Runs one slice of each configuration, until one of them decides or the effort ends.
  SearchOutcome run_round(Effort& effort);

  // Requires: the last round ended with `fits`.
  [[nodiscard]] std::int64_t offset(SearchBuffer buffer) const {
    return configurations_[winner_].search->offset(buffer);
  }

  // Decisions so far.
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  struct Configuration {
    std::unique_ptr<FitSearch> search;
    Random random{0};
    bool is_randomized = false;
  };
  struct Round;

  void restart(std::size_t configuration);
  void run_slice(std::size_t configuration, std::int64_t slice, const Effort& effort, Round& round);
  [[nodiscard]] IdVector<SearchBuffer, std::uint32_t> ranks(BufferRule rule, bool is_randomized, Random& random) const;

  const SearchTask& task_;
  std::vector<Configuration> configurations_;
  int threads_ = 1;
  std::int64_t capacity_ = 0;
  std::size_t winner_ = 0;
  std::int64_t round_ = 0;
  std::int64_t nodes_ = 0;
  std::uint64_t restarts_ = 0;  // of all configurations so far
};

}  // namespace lowtide::allocate_internal
