// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/base/result.h"

namespace lowtide {

// Events, such as the steps of a plan, listed in one possible order. Each is on a chain. The events of one chain happen
// one after another, and an event may wait for others that are listed before it. Chains are the streams of a plan, or
// paths that together cover a graph.
struct PartialOrder {
  using Index = std::uint32_t;

  std::vector<Index> chain_of;             // < chains
  std::vector<std::vector<Index>> before;  // waits; indices that are smaller
  Index chains = 0;
};

// Returns the partial order that the edges alone give (dataflow). Each event is appended to the chain of the first of
// its predecessors that is the end of a chain. If there is none, it is appended to a chain that has ended before it in
// every run, otherwise it starts a new chain. So chains add no order to that of the edges. The number of chains may
// exceed the fewest possible, which is the width of the graph (Dilworth 1950). O((n + edges) x chains).
[[nodiscard]] PartialOrder chains_of(std::vector<std::vector<PartialOrder::Index>> before);

// Answers whether one event ends before another begins in every run that a partial order permits. It keeps vector
// clocks (Mattern 1989): for each event and each chain, how many events of that chain have happened before. The
// clock of an event begins at the first chain of which it knows an event and ends at the last one. So independent
// events have short clocks, and all clocks together at most n x chains numbers of 4 bytes. O((n + waits) x chains)
// to make, O(1) per query. No recursion.
class HappensBefore {
 public:
  using Index = PartialOrder::Index;

  // The most bytes of clocks, enough for any 100,000 events on 4,000 chains.
  static constexpr std::int64_t kMostBytes = std::int64_t{3} << 29;

  // Errors: over_limit, if the clocks would need more than kMostBytes.
  [[nodiscard]] static Result<HappensBefore> make(const PartialOrder& order);

  [[nodiscard]] bool is_before(Index first, Index second) const {
    return first != second && count_before(second, chain_of_[first]) > position_[first];
  }
  // The number of events of a chain that happen before `event`, or are `event` itself.
  [[nodiscard]] Index count_before(Index event, Index chain) const {
    const Interval<Index>& known = known_[event];
    return known.contains(chain) ? clocks_[begin_[event] + (chain - known.begin)] : 0;
  }
  [[nodiscard]] Index chains() const { return chains_; }
  [[nodiscard]] Index chain_of(Index event) const { return chain_of_[event]; }
  [[nodiscard]] Index position_of(Index event) const { return position_[event]; }

 private:
  HappensBefore(const PartialOrder& order, std::vector<Interval<Index>> known, std::size_t numbers);

  // Copies into the clock of `event` what `other` knows, where that is more. Requires: it knows no other chains.
  void merge(Index event, Index other);

  Index chains_;
  std::vector<Index> chain_of_;
  std::vector<Index> position_;         // on its chain
  std::vector<Interval<Index>> known_;  // by event: the chains in its clock
  std::vector<std::size_t> begin_;      // by event: the index of its clock in clocks_
  std::vector<Index> clocks_;
};

// The steps that use a buffer. `firsts` are those that may be the first to use it: the users that no other user
// precedes, or simply all users.
struct BufferUsers {
  std::vector<PartialOrder::Index> firsts;  // every user is one of them or happens after one of them
  std::vector<PartialOrder::Index> users;
  bool is_kept = false;  // needed at the end, so no other buffer may follow in its bytes
};

// Two buffers may share bytes if, in every run, every use of one happens before the first write of the other. Returns
// the pairs that may not share, first < second, in ascending order. O(buffers^2 x chains that use a buffer), so it
// suits a few thousand buffers. Plans on streams use intervals instead (schedule/streams.h).
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> buffer_conflicts(
    const HappensBefore& order, const std::vector<BufferUsers>& buffers);

}  // namespace lowtide
