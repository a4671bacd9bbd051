// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/capacity_search.h"

#include <algorithm>
#include <atomic>
#include <tuple>

#include "lowtide/allocate/tuning.h"
#include "lowtide/base/parallel.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::int64_t kMostWork = std::int64_t{1} << 61;  // limits a slice, so that sums of work stay below 2^63
constexpr std::uint64_t kRestartSeed = 7;

// Element `at`, from 1, of the sequence 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, ... (Luby, Sinclair and Zuckerman,
// "Optimal speedup of Las Vegas algorithms", 1993).
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
    : task_(task), configurations_(task.configurations.size()), threads_(threads) {
  for (std::size_t configuration = 0; configuration < configurations_.size(); ++configuration) restart(configuration);
}

void CapacitySearch::restart(std::size_t configuration) {
  configurations_[configuration] = {.search = task_.make(), .random = Random(kRestartSeed + restarts_++)};
  configurations_[configuration].search->set_rule(task_.configurations[configuration].clique_rule);
  configurations_[configuration].search->set_capacity(capacity_);
}

void CapacitySearch::set_capacity(std::int64_t capacity) {
  capacity_ = capacity;
  for (Configuration& configuration : configurations_) configuration.search->set_capacity(capacity);
  round_ = 0;
}

// What the configurations of a round share.
struct CapacitySearch::Round {
  explicit Round(std::size_t configurations)
      : costs(configurations), outcomes(configurations, SearchOutcome::undecided), first_decided(configurations) {}

  std::vector<std::atomic<std::int64_t>> costs;  // effort of each configuration that has ended, otherwise 0
  std::vector<SearchOutcome> outcomes;
  std::atomic<std::size_t> first_decided;  // the first that has decided; their number if none has

  void set_decided(std::size_t configuration) {
    std::size_t first = first_decided.load();
    while (configuration < first && !first_decided.compare_exchange_weak(first, configuration)) {
    }
  }
};

void CapacitySearch::run_slice(std::size_t at, std::int64_t slice, const Effort& effort, Round& round) {
  Configuration& configuration = configurations_[at];
  // The cost of configurations before this one may not be known yet. It counts when the round is over.
  std::int64_t left = std::min(effort.left(), kMostWork / tuning::kSearchWorkPerEffort);
  for (std::size_t before = 0; before < at; ++before) left -= round.costs[before].load();
  if (left <= 0 || round.first_decided.load() < at) return;
  configuration.search->set_ranks(
      ranks(task_.configurations[at].buffer_rule, configuration.is_randomized, configuration.random));
  configuration.is_randomized = true;
  const std::int64_t before = configuration.search->work();
  round.outcomes[at] = configuration.search->run(slice, left * tuning::kSearchWorkPerEffort, [&] {
    return effort.is_stopped() || round.first_decided.load(std::memory_order_relaxed) < at;
  });
  round.costs[at] = (configuration.search->work() - before) / tuning::kSearchWorkPerEffort + 1;
  if (round.outcomes[at] != SearchOutcome::undecided) round.set_decided(at);
}

SearchOutcome CapacitySearch::run_round(Effort& effort) {
  const std::int64_t shortest =
      std::max(tuning::kShortestSlice, task_.slice * static_cast<std::int64_t>(task_.buffers.size()));
  const std::int64_t slice = shortest * luby(++round_);
  std::vector<std::int64_t> nodes;
  for (const Configuration& configuration : configurations_) nodes.push_back(configuration.search->nodes());
  Round round(configurations_.size());
  for_each_in_parallel(configurations_.size(), threads_, [&](std::size_t at) { run_slice(at, slice, effort, round); });
  // Counts as if the configurations had run one after another, each with the effort that those before it left.
  for (std::size_t at = 0; at < configurations_.size() && !effort.exhausted(); ++at) {
    const bool is_cut = round.costs[at] > effort.left();
    effort.spend(round.costs[at]);
    if (is_cut) continue;
    nodes_ += configurations_[at].search->nodes() - nodes[at];
    if (round.outcomes[at] == SearchOutcome::undecided) continue;
    winner_ = at;
    for (std::size_t later = at + 1; later < configurations_.size(); ++later) restart(later);
    effort.spend(static_cast<std::int64_t>((configurations_.size() - at - 1) * task_.buffers.size()));
    return round.outcomes[at];
  }
  return SearchOutcome::undecided;
}

IdVector<SearchBuffer, std::uint32_t> CapacitySearch::ranks(BufferRule rule, bool is_randomized, Random& random) const {
  struct Key {
    double first;
    std::int64_t second;
    SearchBuffer buffer;
  };
  std::vector<Key> keys;
  keys.reserve(task_.buffers.size());
  for (SearchBuffer at : all_ids<SearchBuffer>(task_.buffers.size())) {
    const SearchTask::Buffer& buffer = task_.buffers[at];
    const std::int64_t length = buffer.length;
    const auto size = static_cast<double>(buffer.size);
    // From 3/4 to 4/3, in steps of a thousandth. Keys are products without sums, so all machines round them alike.
    const double factor = is_randomized ? static_cast<double>(random.between(750, 1333)) / 1000 : 1;
    switch (rule) {
      case BufferRule::longest: keys.push_back({static_cast<double>(length) * factor, buffer.size, at}); break;
      case BufferRule::largest: keys.push_back({size * factor, length, at}); break;
      case BufferRule::most_area: keys.push_back({size * (static_cast<double>(length) * factor), length, at}); break;
      case BufferRule::highest_load:
        keys.push_back({static_cast<double>(buffer.highest_load) * factor, length * buffer.size, at});
        break;
    }
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return std::tuple(-a.first, -a.second, a.buffer) < std::tuple(-b.first, -b.second, b.buffer);
  });
  IdVector<SearchBuffer, std::uint32_t> ranks(keys.size());
  for (std::uint32_t rank = 0; rank < keys.size(); ++rank) ranks[keys[rank].buffer] = rank;
  return ranks;
}

}  // namespace lowtide::allocate_internal
