// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/capacity_search.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace lowtide {
namespace {

constexpr std::int64_t kShare = 1000;      // decisions of the shortest turn; at least two a buffer
constexpr std::int64_t kWorkOfEffort = 2;  // what the search looks at is nearer than what `Effort` counts
constexpr std::uint64_t kSeed = 7;

// 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, ... (Luby, Sinclair and Zuckerman, 1993)
std::int64_t luby(std::int64_t at) {
  while (true) {
    std::int64_t block = 1;
    while (2 * block - 1 < at) block *= 2;
    if (2 * block - 1 == at) return block;
    at -= block - 1;
  }
}

// Largest load of the sections of each buffer.
std::vector<std::int64_t> crowds(const SectionedProblem& problem) {
  std::vector<std::int64_t> load(problem.sections, 0);
  for (const SectionedProblem::Buffer& buffer : problem.buffers) {
    for (Section section = buffer.begin; section < buffer.end; ++section) load[section] += buffer.size;
  }
  std::vector<std::int64_t> crowd;
  crowd.reserve(problem.buffers.size());
  for (const SectionedProblem::Buffer& buffer : problem.buffers) {
    crowd.push_back(*std::max_element(load.begin() + buffer.begin, load.begin() + buffer.end));
  }
  return crowd;
}

}  // namespace

CapacitySearch::CapacitySearch(const SectionedProblem& problem, const ValleyRules& rules)
    : problem_(problem), crowd_(crowds(problem)) {
  constexpr std::pair<SectionRule, BufferRule> kLanes[] = {
      {SectionRule::fewest_options, BufferRule::longest},  {SectionRule::most_failures, BufferRule::largest},
      {SectionRule::fewest_options, BufferRule::largest},  {SectionRule::most_failures, BufferRule::longest},
      {SectionRule::least_slack, BufferRule::largest},     {SectionRule::fewest_options, BufferRule::most_area},
      {SectionRule::most_failures, BufferRule::most_area}, {SectionRule::fewest_options, BufferRule::most_crowded},
  };
  std::uint64_t seed = kSeed;
  for (const auto& [section_rule, buffer_rule] : kLanes) {
    lanes_.push_back({ValleySearch(problem, rules), buffer_rule, Random(seed++)});
    lanes_.back().search.set_rule(section_rule);
  }
}

void CapacitySearch::set_capacity(std::int64_t capacity) {
  for (Lane& lane : lanes_) lane.search.set_capacity(capacity);
  winner_ = nullptr;
  round_ = 0;
}

SearchOutcome CapacitySearch::run_round(Effort& effort) {
  const std::int64_t shortest = std::max(kShare, 2 * static_cast<std::int64_t>(problem_.buffers.size()));
  const std::int64_t share = shortest * luby(++round_);
  for (Lane& lane : lanes_) {
    if (effort.exhausted()) return SearchOutcome::undecided;
    lane.search.set_ranks(ranks(lane.buffer_rule, lane.is_shaken, lane.random));
    lane.is_shaken = true;
    const std::int64_t before = lane.search.work();
    const SearchOutcome outcome = lane.search.run(share, effort.left() * kWorkOfEffort);
    effort.spend((lane.search.work() - before) / kWorkOfEffort + 1);
    if (outcome == SearchOutcome::undecided) continue;
    winner_ = &lane;
    return outcome;
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
  keys.reserve(problem_.buffers.size());
  for (std::uint32_t at = 0; at < problem_.buffers.size(); ++at) {
    const SectionedProblem::Buffer& buffer = problem_.buffers[at];
    const std::int64_t length = buffer.end - buffer.begin;
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
        keys.push_back({static_cast<double>(crowd_[at]) * shake, length * buffer.size, at});
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

std::int64_t CapacitySearch::nodes() const {
  return std::accumulate(lanes_.begin(), lanes_.end(), std::int64_t{0},
                         [](std::int64_t sum, const Lane& lane) { return sum + lane.search.nodes(); });
}

}  // namespace lowtide
