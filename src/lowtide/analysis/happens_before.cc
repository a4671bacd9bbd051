// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/happens_before.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace lowtide {
namespace {

using Index = PartialOrder::Index;

// What is_over_before() needs to know about a buffer.
struct Times {
  std::vector<std::pair<Index, Index>> last;  // (chain, number of its events that have happened once all uses are over)
  std::vector<Index> known;                   // by chain: number of its events that happen before every first user
};

Times times_of(const HappensBefore& order, const BufferUsers& buffer) {
  Times times;
  for (Index user : buffer.users) times.last.emplace_back(order.chain_of(user), order.position_of(user) + 1);
  std::sort(times.last.begin(), times.last.end(),
            [](const auto& a, const auto& b) { return std::pair(a.first, ~a.second) < std::pair(b.first, ~b.second); });
  times.last.erase(std::unique(times.last.begin(), times.last.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; }),
                   times.last.end());
  times.known.assign(order.chains(), std::numeric_limits<Index>::max());
  for (Index first : buffer.firsts) {
    for (Index chain = 0; chain < order.chains(); ++chain) {
      const bool is_own = order.chain_of(first) == chain;  // the clock counts the user itself
      times.known[chain] = std::min(times.known[chain], order.count_before(first, chain) - (is_own ? 1U : 0U));
    }
  }
  return times;
}

bool is_over_before(const Times& a, const Times& b) {
  return std::all_of(a.last.begin(), a.last.end(),
                     [&](const auto& last) { return last.second <= b.known[last.first]; });
}

// Puts events on chains, one after another. Keeps clocks as HappensBefore does, but frees each one after its last use.
class ChainCover {
 public:
  explicit ChainCover(const std::vector<std::vector<Index>>& before)
      : before_(before), chain_of_(before.size()), clocks_(before.size()), last_asked_(before.size(), 0) {
    for (std::size_t at = 0; at < before.size(); ++at) {
      for (Index one : before[at]) last_asked_[one] = static_cast<Index>(at);
    }
    for (std::size_t at = 0; at < before.size(); ++at) place(static_cast<Index>(at));
  }

  [[nodiscard]] std::vector<Index> take_chains() { return std::move(chain_of_); }
  [[nodiscard]] Index count() const { return static_cast<Index>(ends_.size()); }

 private:
  // Chains from this number on are not in clocks. A large graph with that many chains is refused anyway.
  static constexpr std::size_t kMostTracked = 8192;

  void place(Index at) {
    std::vector<Index> clock;
    for (Index one : before_[at]) {
      const std::vector<Index>& theirs = clocks_[one];
      if (theirs.size() > clock.size()) clock.resize(theirs.size(), 0);
      for (std::size_t chain = 0; chain < theirs.size(); ++chain) clock[chain] = std::max(clock[chain], theirs[chain]);
    }
    const Index chain = chain_for(at, clock);
    chain_of_[at] = chain;
    ends_[chain] = at;
    ++lengths_[chain];
    if (chain < kMostTracked) {
      if (clock.size() <= chain) clock.resize(chain + 1, 0);
      clock[chain] = lengths_[chain];
    }
    for (Index one : before_[at]) {
      if (last_asked_[one] == at) clocks_[one] = {};
    }
    if (last_asked_[at] > at) clocks_[at] = std::move(clock);
  }

  Index chain_for(Index at, const std::vector<Index>& clock) {
    for (Index one : before_[at]) {
      if (ends_[chain_of_[one]] == one) return chain_of_[one];
    }
    for (std::size_t chain = 0; chain < clock.size(); ++chain) {
      if (clock[chain] == lengths_[chain]) return static_cast<Index>(chain);
    }
    ends_.push_back(at);
    lengths_.push_back(0);
    return static_cast<Index>(ends_.size() - 1);
  }

  const std::vector<std::vector<Index>>& before_;
  std::vector<Index> chain_of_;
  std::vector<std::vector<Index>> clocks_;  // empty after its last use
  std::vector<Index> last_asked_;           // the last event that waits for it
  std::vector<Index> ends_;                 // by chain
  std::vector<Index> lengths_;              // by chain
};

// For each event, the chains from the first to the last that has an event before it. Its own chain is one of them.
std::vector<Interval<Index>> known_chains(const PartialOrder& order) {
  std::vector<Interval<Index>> known;
  known.reserve(order.chain_of.size());
  std::vector<std::optional<Index>> last(order.chains);
  for (Index at = 0; at < order.chain_of.size(); ++at) {
    const Index chain = order.chain_of[at];
    Interval<Index> own{chain, chain + 1};
    const auto add = [&](Index other) {
      own = {std::min(own.begin, known[other].begin), std::max(own.end, known[other].end)};
    };
    if (last[chain]) add(*last[chain]);
    for (Index before : order.before[at]) add(before);
    known.push_back(own);
    last[chain] = at;
  }
  return known;
}

}  // namespace

PartialOrder chains_of(std::vector<std::vector<Index>> before) {
  ChainCover cover(before);
  PartialOrder order{.chain_of = cover.take_chains(), .chains = cover.count()};
  order.before = std::move(before);
  return order;
}

Result<HappensBefore> HappensBefore::make(const PartialOrder& order) {
  std::vector<Interval<Index>> known = known_chains(order);
  std::size_t numbers = 0;
  for (const Interval<Index>& chains : known) numbers += chains.end - chains.begin;
  if (numbers > static_cast<std::size_t>(kMostBytes) / sizeof(Index)) {
    return Error{ErrorCode::over_limit,
                 "the order of " + std::to_string(order.chain_of.size()) + " steps on " + std::to_string(order.chains) +
                     " chains needs more than the limit of " + std::to_string(kMostBytes) + " bytes; use fewer streams",
                 ""};
  }
  return HappensBefore(order, std::move(known), numbers);
}

HappensBefore::HappensBefore(const PartialOrder& order, std::vector<Interval<Index>> known, std::size_t numbers)
    : chains_(order.chains),
      chain_of_(order.chain_of),
      position_(order.chain_of.size()),
      known_(std::move(known)),
      clocks_(numbers, 0) {
  begin_.reserve(known_.size());
  std::size_t begin = 0;
  for (const Interval<Index>& chains : known_)
    begin_.push_back(std::exchange(begin, begin + chains.end - chains.begin));
  std::vector<std::optional<Index>> last(chains_);
  std::vector<Index> length(chains_, 0);
  for (Index at = 0; at < chain_of_.size(); ++at) {
    const Index chain = chain_of_[at];
    if (last[chain]) merge(at, *last[chain]);
    for (Index before : order.before[at]) {
      if (count_before(at, chain_of_[before]) <= position_[before]) merge(at, before);
    }
    position_[at] = length[chain]++;
    clocks_[begin_[at] + (chain - known_[at].begin)] = length[chain];
    last[chain] = at;
  }
}

void HappensBefore::merge(Index event, Index other) {
  const Index* theirs = clocks_.data() + begin_[other];
  Index* own = clocks_.data() + begin_[event] + (known_[other].begin - known_[event].begin);
  const Index count = known_[other].end - known_[other].begin;
  for (Index at = 0; at < count; ++at) own[at] = std::max(own[at], theirs[at]);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> buffer_conflicts(const HappensBefore& order,
                                                                      const std::vector<BufferUsers>& buffers) {
  std::vector<Times> times;
  times.reserve(buffers.size());
  for (const BufferUsers& buffer : buffers) times.push_back(times_of(order, buffer));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> conflicts;
  for (std::uint32_t a = 0; a < buffers.size(); ++a) {
    for (std::uint32_t b = a + 1; b < buffers.size(); ++b) {
      const bool a_first = !buffers[a].is_kept && is_over_before(times[a], times[b]);
      const bool b_first = !buffers[b].is_kept && is_over_before(times[b], times[a]);
      if (!a_first && !b_first) conflicts.emplace_back(a, b);
    }
  }
  return conflicts;
}

}  // namespace lowtide
