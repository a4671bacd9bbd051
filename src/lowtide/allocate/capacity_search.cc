// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/capacity_search.h"

#include <algorithm>
#include <atomic>
#include <tuple>

#include "lowtide/base/parallel.h"

namespace lowtide {
namespace {

constexpr std::int64_t kShare = 1000;      // decisions of the shortest turn, at least
constexpr std::int64_t kWorkOfEffort = 2;  // what the search looks at is nearer than what `Effort` counts
constexpr std::int64_t kMostWork = std::int64_t{1} << 61;
constexpr std::uint64_t kSearchSeed = 7;

// 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, ... (Luby, Sinclair and Zuckerman, 1993)
std::int64_t luby(std::int64_t at) {
  while (true) {
    std::int64_t block = 1;
    while (2 * block - 1 < at) block *= 2;
    if (2 * block - 1 == at) return block;
    at -= block - 1;
  }
}

}  // namespace

CapacitySearch::CapacitySearch(const SearchTask& task, int threads)
    : task_(task), lanes_(task.lanes.size()), threads_(threads) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) begin_anew(lane);
}

void CapacitySearch::begin_anew(std::size_t lane) {
  lanes_[lane] = {.search = task_.make(), .random = Random(kSearchSeed + anew_++)};
  lanes_[lane].search->set_rule(task_.lanes[lane].section_rule);
  lanes_[lane].search->set_capacity(capacity_);
}

void CapacitySearch::set_capacity(std::int64_t capacity) {
  capacity_ = capacity;
  for (Lane& lane : lanes_) lane.search->set_capacity(capacity);
  round_ = 0;
}

// One round under way: what the lanes say to each other.
struct CapacitySearch::Round {
  explicit Round(std::size_t lanes) : costs(lanes), outcomes(lanes, SearchOutcome::undecided), first_decided(lanes) {}

  // By lane, once it is done.
  std::vector<std::atomic<std::int64_t>> costs;
  std::vector<SearchOutcome> outcomes;
  std::atomic<std::size_t> first_decided;

  void decide(std::size_t lane) {
    std::size_t first = first_decided.load();
    while (lane < first && !first_decided.compare_exchange_weak(first, lane)) {
    }
  }
};

void CapacitySearch::run_turn(std::size_t at, std::int64_t share, const Effort& effort, Round& round) {
  Lane& lane = lanes_[at];
  // No more than what those before leave; what is not known yet counts when the round is over.
  std::int64_t left = std::min(effort.left(), kMostWork / kWorkOfEffort);
  for (std::size_t before = 0; before < at; ++before) left -= round.costs[before].load();
  if (left <= 0 || round.first_decided.load() < at) return;
  lane.search->set_ranks(ranks(task_.lanes[at].buffer_rule, lane.is_shaken, lane.random));
  lane.is_shaken = true;
  const std::int64_t before = lane.search->work();
  round.outcomes[at] = lane.search->run(share, left * kWorkOfEffort, [&] {
    return effort.is_stopped() || round.first_decided.load(std::memory_order_relaxed) < at;
  });
  round.costs[at] = (lane.search->work() - before) / kWorkOfEffort + 1;
  if (round.outcomes[at] != SearchOutcome::undecided) round.decide(at);
}

SearchOutcome CapacitySearch::run_round(Effort& effort) {
  const std::int64_t shortest = std::max(kShare, task_.turn * static_cast<std::int64_t>(task_.buffers.size()));
  const std::int64_t share = shortest * luby(++round_);
  std::vector<std::int64_t> nodes;
  for (const Lane& lane : lanes_) nodes.push_back(lane.search->nodes());
  Round round(lanes_.size());
  for_each_in_parallel(lanes_.size(), threads_, [&](std::size_t at) { run_turn(at, share, effort, round); });
  // As if one lane had run after the other: each has the effort that those before it left.
  for (std::size_t at = 0; at < lanes_.size() && !effort.exhausted(); ++at) {
    const bool is_cut = round.costs[at] > effort.left();
    effort.spend(round.costs[at]);
    if (is_cut) continue;
    nodes_ += lanes_[at].search->nodes() - nodes[at];
    if (round.outcomes[at] == SearchOutcome::undecided) continue;
    winner_ = at;
    for (std::size_t later = at + 1; later < lanes_.size(); ++later) begin_anew(later);
    effort.spend(static_cast<std::int64_t>((lanes_.size() - at - 1) * task_.buffers.size()));
    return round.outcomes[at];
  }
  return SearchOutcome::undecided;
}

std::vector<std::uint32_t> CapacitySearch::ranks(BufferRule rule, bool is_shaken, Random& random) const {
  struct Key {
    double first;
    std::int64_t second;
    std::uint32_t buffer;
  };
  std::vector<Key> keys;
  keys.reserve(task_.buffers.size());
  for (std::uint32_t at = 0; at < task_.buffers.size(); ++at) {
    const SearchTask::Buffer& buffer = task_.buffers[at];
    const std::int64_t length = buffer.length;
    const auto size = static_cast<double>(buffer.size);
    // From 3/4 to 4/3, in steps of a thousandth. One product a key: no machine rounds it in another way.
    const double shake = is_shaken ? static_cast<double>(random.between(750, 1333)) / 1000 : 1;
    switch (rule) {
      case BufferRule::longest:
        keys.push_back({static_cast<double>(length) * shake, buffer.size, at});
        break;
      case BufferRule::largest:
        keys.push_back({size * shake, length, at});
        break;
      case BufferRule::most_area:
        keys.push_back({size * (static_cast<double>(length) * shake), length, at});
        break;
      case BufferRule::most_crowded:
        keys.push_back({static_cast<double>(buffer.crowd) * shake, length * buffer.size, at});
        break;
    }
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return std::tuple(-a.first, -a.second, a.buffer) < std::tuple(-b.first, -b.second, b.buffer);
  });
  std::vector<std::uint32_t> ranks(keys.size());
  for (std::uint32_t at = 0; at < keys.size(); ++at) ranks[keys[at].buffer] = at;
  return ranks;
}

}  // namespace lowtide
