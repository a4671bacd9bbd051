// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/allocate/exact/interval_problem.h"

namespace lowtide::allocate_internal {

// The buffers of an IntervalProblem that have no offset yet, as one bit per buffer. Buffers are sorted by their first
// clique, so those that begin in a span of cliques are neighbouring bits. A visit looks at 64 buffers with one
// instruction, and skips those that have offsets.
class RemainingBuffers {
 public:
  // All buffers remain.
  explicit RemainingBuffers(const IntervalProblem& problem) : first_of_(problem.cliques() + 1) {
    std::uint32_t passed = 0;
    for (CliqueId clique : all_ids<CliqueId>(first_of_.size())) {
      while (passed < problem.buffers.size() && problem.buffers[SearchBuffer(passed)].cliques.begin < clique) ++passed;
      first_of_[clique] = passed;
    }
    words_.resize(problem.buffers.size() / kBits + 1, 0);
    for (SearchBuffer buffer : all_ids<SearchBuffer>(problem.buffers.size())) insert(buffer);
  }

  void insert(SearchBuffer buffer) { words_[buffer.index() / kBits] |= bit_of(buffer); }
  void remove(SearchBuffer buffer) { words_[buffer.index() / kBits] &= ~bit_of(buffer); }

  // Calls visit(buffer) for each remaining buffer that begins in the span, in ascending order, and returns their
  // number.
  template <typename Visit>
  std::int64_t for_each_beginning_in(CliqueSpan span, Visit&& visit) const {
    return for_each_word(span, [&](std::size_t at, std::uint64_t word) {
      for (; word != 0; word &= word - 1) visit(buffer_at(at, std::countr_zero(word)));
    });
  }

  // The number of remaining buffers that begin in the span.
  [[nodiscard]] std::int64_t count_beginning_in(CliqueSpan span) const {
    return for_each_word(span, [](std::size_t, std::uint64_t) {});
  }

 private:
  static constexpr std::size_t kBits = 64;

  static std::uint64_t bit_of(SearchBuffer buffer) { return std::uint64_t{1} << (buffer.index() % kBits); }
  static SearchBuffer buffer_at(std::size_t word, int bit) {
    return SearchBuffer(static_cast<std::uint32_t>(word * kBits) + static_cast<std::uint32_t>(bit));
  }

  // Calls visit(index, bits) for each word, with only the bits of the buffers that begin in the span.
  template <typename Visit>
  std::int64_t for_each_word(CliqueSpan span, Visit&& visit) const {
    const std::size_t begin = first_of_[span.begin];
    const std::size_t end = first_of_[span.end];
    std::int64_t count = 0;
    for (std::size_t at = begin / kBits; at * kBits < end; ++at) {
      std::uint64_t word = words_[at];
      if (at == begin / kBits) word &= ~std::uint64_t{0} << (begin % kBits);
      if (at == end / kBits) word &= ~(~std::uint64_t{0} << (end % kBits));
      count += std::popcount(word);
      visit(at, word);
    }
    return count;
  }

  IdVector<CliqueId, std::uint32_t> first_of_;  // the number of buffers that begin in earlier cliques
  std::vector<std::uint64_t> words_;
};

}  // namespace lowtide::allocate_internal
