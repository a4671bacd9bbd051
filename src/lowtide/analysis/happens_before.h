// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"

namespace lowtide {

// Things that happen, in one possible order, each on a chain: what is on one chain happens in sequence, and each thing
// waits for some that are listed before it. Chains are the streams of a plan, or the paths that a graph is cut into.
struct PartialOrder {
  using Index = std::uint32_t;

  std::vector<Index> chain_of;             // < chains
  std::vector<std::vector<Index>> before;  // waits; indices that are smaller
  Index chains = 0;
};

// A partial order from edges alone (dataflow): each thing goes on the chain of the first of its predecessors that
// is the end of one, else on any chain that has ended before it anyway, else on a new one. So chains order nothing that
// edges do not. Not always the fewest chains (Dilworth 1950), which is the width of the graph. O((n + edges) x chains).
[[nodiscard]] PartialOrder chains_of(std::vector<std::vector<PartialOrder::Index>> before);

// Whether one thing has ended before another begins, in every run that a partial order allows. Kept as vector clocks
// (Mattern 1989): for each thing and each chain, how many things of that chain have happened before. n x chains numbers
// of 4 bytes, O((n + waits) x chains) to make, O(1) to ask. No recursion.
class HappensBefore {
 public:
  using Index = PartialOrder::Index;

  // Bytes that clocks may take: 4,000 chains of 100,000 things.
  static constexpr std::int64_t kMostBytes = std::int64_t{3} << 29;

  // Errors (over_limit): the clocks would take more.
  [[nodiscard]] static Result<HappensBefore> make(const PartialOrder& order);

  [[nodiscard]] bool is_before(Index first, Index second) const {
    return first != second && clock(second)[chain_of_[first]] > position_[first];
  }
  // Of each chain, how many things happen before `thing`, it among them.
  [[nodiscard]] const Index* clock(Index thing) const { return clocks_.data() + std::size_t{thing} * chains_; }
  [[nodiscard]] Index chains() const { return chains_; }
  [[nodiscard]] Index chain_of(Index thing) const { return chain_of_[thing]; }
  [[nodiscard]] Index position_of(Index thing) const { return position_[thing]; }

 private:
  explicit HappensBefore(const PartialOrder& order);

  Index chains_;
  std::vector<Index> chain_of_;
  std::vector<Index> position_;  // on its chain
  std::vector<Index> clocks_;
};

// A buffer, by who touches it: first those that may be the first to do so (all that write it without another user
// before, or simply all), then all.
struct BufferUsers {
  std::vector<PartialOrder::Index> firsts;  // every user is one of them or happens after one
  std::vector<PartialOrder::Index> users;
  bool is_kept = false;  // to the end: nothing follows its last use
};

// Two buffers may share bytes if every use of one happens before the first write of the other, in every run. Returns
// the pairs that may not, first < second, in ascending order. O(buffers^2 x chains that a buffer is used on), so for
// some thousand buffers; plans on streams use intervals instead (schedule/streams.h).
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> buffer_conflicts(
    const HappensBefore& order, const std::vector<BufferUsers>& buffers);

}  // namespace lowtide
