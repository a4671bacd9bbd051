// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/greedy_allocator.h"

#include <algorithm>
#include <type_traits>

namespace lowtide::allocate_internal {
namespace {

// Whether all addresses are below NarrowRange::kEnd. The offset that a fit rule gives to a buffer is at most the end of
// a stack of all other buffers on the highest fixed end.
bool has_narrow_addresses(const CompressedProblem& problem) {
  std::int64_t end = 0;
  for (const CompressedProblem::FixedBuffer& fixed : problem.fixed) {
    end = std::max(end, fixed.offset + problem.buffers[fixed.id].size);
  }
  for (const CompressedProblem::Buffer& buffer : problem.buffers) end += buffer.size + (buffer.alignment() - 1);
  return end < NarrowRange::kEnd;
}

// Calls visit(ranges), if there are occupied ranges.
template <typename Occupied, typename Visit>
void with_ranges(Occupied& occupied, const Visit& visit) {
  std::visit(
      [&](auto& ranges) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(ranges)>, std::monostate>) visit(ranges);
      },
      occupied);
}

}  // namespace

GreedyAllocator::GreedyAllocator(const CompressedProblem& problem, const ConflictGraph* graph)
    : problem_(problem), graph_(graph) {
  if (graph_ == nullptr && !problem.pairs.empty()) graph_ = &relation_.emplace(problem.buffers.size(), problem.pairs);
  if (graph_ == nullptr && has_narrow_addresses(problem)) {
    occupied_.emplace<OccupiedRanges<NarrowRange>>(problem);
  } else if (graph_ == nullptr) {
    occupied_.emplace<OccupiedRanges<AddressRange>>(problem);
  }
  clear();
}

void GreedyAllocator::clear() {
  with_ranges(occupied_, [](auto& occupied) { occupied.clear(); });
  offsets_ = problem_.least_offsets();
  if (graph_ != nullptr) ranges_ = IdVector<PackingId, AddressRange>(problem_.buffers.size());
  for (const CompressedProblem::FixedBuffer& buffer : problem_.fixed) assign(buffer.id, buffer.offset);
}

void GreedyAllocator::assign(PackingId buffer, std::int64_t offset) {
  const AddressRange range = {offset, offset + problem_.buffers[buffer].size};
  offsets_[buffer] = offset;
  if (graph_ != nullptr) ranges_[buffer] = range;
  with_ranges(occupied_, [&](auto& occupied) {
    for (const MomentSpan& span : problem_.spans_of(buffer)) occupied.insert(span, range);
  });
}

void GreedyAllocator::collect_taken(PackingId buffer, Effort& effort) {
  taken_.clear();
  with_ranges(occupied_, [&](const auto& occupied) {
    for (const MomentSpan& span : problem_.spans_of(buffer)) occupied.collect(span, taken_, effort);
  });
  if (graph_ == nullptr) return;
  const std::span<const PackingId> neighbours = graph_->neighbours(buffer);
  effort.spend(static_cast<std::int64_t>(neighbours.size()));
  for (PackingId other : neighbours) {
    if (!ranges_[other].empty()) taken_.push_back(ranges_[other]);
  }
}

std::int64_t GreedyAllocator::find_offset_for(PackingId buffer, FitRule rule, Effort& effort) {
  collect_taken(buffer, effort);
  return find_offset(taken_, problem_.buffers[buffer].size, problem_.buffers[buffer].alignment(), rule);
}

std::optional<Placements> allocate_in_order(GreedyAllocator& allocator, std::span<const PackingId> order, FitRule rule,
                                            Effort& effort) {
  allocator.clear();
  for (PackingId buffer : order) {
    if (effort.exhausted()) return std::nullopt;
    allocator.assign(buffer, allocator.find_offset_for(buffer, rule, effort));
  }
  return allocator.take_placements();
}

}  // namespace lowtide::allocate_internal
