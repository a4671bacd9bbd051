// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/greedy_allocator.h"

#include <algorithm>

namespace lowtide::allocate_internal {

GreedyAllocator::GreedyAllocator(const CompressedProblem& problem, const ConflictGraph* graph)
    : problem_(problem), graph_(graph), ranges_(problem.buffers.size()) {
  if (graph_ == nullptr && !problem.pairs.empty()) graph_ = &relation_.emplace(problem.buffers.size(), problem.pairs);
  if (graph_ == nullptr) occupied_.emplace(problem);
  clear();
}

void GreedyAllocator::clear() {
  if (occupied_) occupied_->clear();
  std::fill(ranges_.begin(), ranges_.end(), AddressRange{});
  for (PackingId buffer : problem_.fixed) assign(buffer, problem_.buffers[buffer].fixed_offset);
}

void GreedyAllocator::assign(PackingId buffer, std::int64_t offset) {
  ranges_[buffer] = {offset, offset + problem_.buffers[buffer].size};
  if (!occupied_) return;
  for (const MomentSpan& span : problem_.spans_of(buffer)) occupied_->insert(span, ranges_[buffer]);
}

void GreedyAllocator::collect_taken(PackingId buffer, Effort& effort) {
  taken_.clear();
  if (occupied_) {
    for (const MomentSpan& span : problem_.spans_of(buffer)) occupied_->collect(span, taken_, effort);
    return;
  }
  const std::span<const PackingId> neighbours = graph_->neighbours(buffer);
  effort.spend(static_cast<std::int64_t>(neighbours.size()));
  for (PackingId other : neighbours) {
    if (!ranges_[other].empty()) taken_.push_back(ranges_[other]);
  }
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
