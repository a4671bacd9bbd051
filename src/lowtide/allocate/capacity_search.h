// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/allocate/effort.h"
#include "lowtide/allocate/sections.h"
#include "lowtide/allocate/valley_search.h"
#include "lowtide/base/random.h"

namespace lowtide {

// Asks whether the buffers fit a capacity, with several valley searches that take turns. Which section is decided first
// and which buffer is tried first makes one search end after a thousand decisions and another after a million, and no
// rule is best on all problems: so each lane has its own rules, gets the same share, and begins anew with its orders
// shaken when the share is used up (Gomes, Selman and Kautz, "Boosting combinatorial search through randomization",
// AAAI 1998; shares grow by Luby's sequence, so that in the end one of them is long enough to be complete).
class CapacitySearch {
 public:
  // `problem` must outlive the search.
  CapacitySearch(const SectionedProblem& problem, const ValleyRules& rules);

  // Begins a question. Any capacity, in any order; lanes keep what they learned where it still holds.
  void set_capacity(std::int64_t capacity);

  // One share for each lane, until one of them decides or the effort ends.
  SearchOutcome run_round(Effort& effort);

  // Require: the last round ended with `fits`. By the index of SectionedProblem::buffers.
  [[nodiscard]] std::int64_t offset(std::uint32_t buffer) const { return winner_->search.offset(buffer); }

  [[nodiscard]] std::int64_t nodes() const;

 private:
  enum class BufferRule : std::uint8_t { longest, largest, most_area, most_crowded };
  struct Lane {
    ValleySearch search;
    BufferRule buffer_rule;
    Random random;
    bool is_shaken = false;
  };

  [[nodiscard]] std::vector<std::uint32_t> ranks(BufferRule rule, bool is_shaken, Random& random) const;

  const SectionedProblem& problem_;
  std::vector<std::int64_t> crowd_;  // by buffer: largest load of its sections
  std::vector<Lane> lanes_;
  const Lane* winner_ = nullptr;
  std::int64_t round_ = 0;
};

}  // namespace lowtide
