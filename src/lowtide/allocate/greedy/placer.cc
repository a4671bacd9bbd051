// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/placer.h"

#include <algorithm>

namespace lowtide::allocate_internal {
namespace {

std::vector<PackingId> movable_and_fixed(const CompressedProblem& problem) {
  std::vector<PackingId> all = problem.movable;
  all.insert(all.end(), problem.fixed.begin(), problem.fixed.end());
  return all;
}

}  // namespace

Placer::Placer(const CompressedProblem& problem, const ConflictGraph* graph)
    : problem_(problem), graph_(graph), ranges_(problem.buffers.size()) {
  if (graph_ == nullptr) index_.emplace(problem, movable_and_fixed(problem));
  if (graph_ == nullptr && !problem.pairs.empty()) paired_ = graph_of(problem.buffers.size(), problem.pairs);
  clear();
}

void Placer::clear() {
  if (index_) index_->clear();
  std::fill(ranges_.begin(), ranges_.end(), AddressRange{});
  for (PackingId buffer : problem_.fixed) put(buffer, problem_.buffers[buffer].fixed_offset);
}

void Placer::put(PackingId buffer, std::int64_t offset) {
  ranges_[buffer] = {offset, offset + problem_.buffers[buffer].size};
  if (index_) index_->insert(buffer);
}

void Placer::gather(PackingId buffer, Effort& effort) {
  taken_.clear();
  const auto take_placed = [&](std::span<const PackingId> neighbours) {
    effort.spend(static_cast<std::int64_t>(neighbours.size()));
    for (PackingId other : neighbours) {
      if (!ranges_[other].empty()) taken_.push_back(ranges_[other]);
    }
  };
  if (graph_ != nullptr) {
    take_placed(graph_->neighbours(buffer));
    return;
  }
  if (paired_) take_placed(paired_->neighbours(buffer));
  const CompressedProblem::Buffer& self = problem_.buffers[buffer];
  index_->for_each_meeting(self.hull, effort, [&](PackingId other) {
    const std::uint32_t parts = self.part_count + problem_.buffers[other].part_count;
    if (parts != 2) {
      effort.spend(parts);
      if (!share_a_moment(problem_, buffer, other)) return;
    }
    taken_.push_back(ranges_[other]);
  });
}

std::int64_t Placer::choose(PackingId buffer, GapRule rule, Effort& effort) {
  gather(buffer, effort);
  const CompressedProblem::Buffer& self = problem_.buffers[buffer];
  return choose_offset(taken_, self.size, self.alignment, rule);
}

std::optional<Placements> place_in_order(Placer& placer, std::span<const PackingId> order, GapRule rule,
                                         Effort& effort) {
  placer.clear();
  for (PackingId buffer : order) {
    if (effort.exhausted()) return std::nullopt;
    placer.put(buffer, placer.choose(buffer, rule, effort));
  }
  return placements_of(placer.problem(), placer.ranges());
}

}  // namespace lowtide::allocate_internal
