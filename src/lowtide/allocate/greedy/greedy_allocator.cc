// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/greedy_allocator.h"

#include <algorithm>

namespace lowtide::allocate_internal {

GreedyAllocator::GreedyAllocator(const CompressedProblem& problem, const ConflictGraph* graph)
    : problem_(problem), graph_(graph), ranges_(problem.buffers.size()) {
  if (graph_ == nullptr) index_.emplace(problem, problem.participants());
  if (graph_ == nullptr && !problem.pairs.empty()) relation_.emplace(problem.buffers.size(), problem.pairs);
  clear();
}

void GreedyAllocator::clear() {
  if (index_) index_->clear();
  std::fill(ranges_.begin(), ranges_.end(), AddressRange{});
  for (PackingId buffer : problem_.fixed) assign(buffer, problem_.buffers[buffer].fixed_offset);
}

void GreedyAllocator::assign(PackingId buffer, std::int64_t offset) {
  ranges_[buffer] = {offset, offset + problem_.buffers[buffer].size};
  if (index_) index_->insert(buffer);
}

void GreedyAllocator::collect_taken(PackingId buffer, Effort& effort) {
  taken_.clear();
  const auto take = [&](std::span<const PackingId> neighbours) {
    effort.spend(static_cast<std::int64_t>(neighbours.size()));
    for (PackingId other : neighbours) {
      if (!ranges_[other].empty()) taken_.push_back(ranges_[other]);
    }
  };
  if (graph_ != nullptr) {
    take(graph_->neighbours(buffer));
    return;
  }
  if (relation_) take(relation_->neighbours(buffer));
  const CompressedProblem::Buffer& self = problem_.buffers[buffer];
  index_->for_each_overlapping(self.lifespan, effort, [&](PackingId other) {
    const std::uint32_t spans = self.span_count + problem_.buffers[other].span_count;
    if (spans != 2) {  // with gaps, overlapping lifespans are not enough
      effort.spend(spans);
      if (!are_live_together(problem_, buffer, other)) return;
    }
    taken_.push_back(ranges_[other]);
  });
}

std::int64_t GreedyAllocator::find_offset_for(PackingId buffer, FitRule rule, Effort& effort) {
  collect_taken(buffer, effort);
  return find_offset(taken_, problem_.buffers[buffer].size, problem_.buffers[buffer].alignment, rule);
}

std::optional<Placements> allocate_in_order(GreedyAllocator& allocator, std::span<const PackingId> order, FitRule rule,
                                            Effort& effort) {
  allocator.clear();
  for (PackingId buffer : order) {
    if (effort.exhausted()) return std::nullopt;
    allocator.assign(buffer, allocator.find_offset_for(buffer, rule, effort));
  }
  return placements_of(allocator.problem(), allocator.ranges());
}

}  // namespace lowtide::allocate_internal
