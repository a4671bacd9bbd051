// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/tiers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/greedy/placer.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/allocate/strategies/portfolio.h"

namespace lowtide {
namespace {

constexpr std::array<std::int64_t, 3> kShares = {64, 16, 256};
constexpr std::string_view kName = "tiers";

// Fewer small ones than this share are not worth a division.
constexpr std::size_t kLeastShare = 8;

// A division copies the problem.
constexpr std::size_t kMostBuffers = 50'000;

struct SmallOrder {
  std::vector<PackingId> (*order)(const CompressedProblem&);
  GapRule rule;
};
constexpr std::array<SmallOrder, 3> kSmallOrders = {{
    {greedy_by_breadth_last_end, GapRule::tightest},
    {greedy_by_size, GapRule::lowest},
    {greedy_by_lifespan, GapRule::lowest},
}};

// Only those of at least `threshold` bytes, and the fixed ones.
CompressedProblem large_of(const CompressedProblem& problem, std::int64_t threshold) {
  CompressedProblem large = problem;
  std::erase_if(large.movable, [&](PackingId id) { return problem.buffers[id].size < threshold; });
  return large;
}

// The others, those of at least `threshold` bytes fixed at their place in `large`, `shift` bytes higher.
CompressedProblem small_of(const CompressedProblem& problem, std::int64_t threshold, const Placements& large,
                           std::int64_t shift) {
  CompressedProblem small = problem;
  for (PackingId id : problem.movable) {
    if (problem.buffers[id].size < threshold) continue;
    small.buffers[id].fixed_offset = large.offsets[id] + shift;
    small.fixed.push_back(id);
  }
  std::erase_if(small.movable, [&](PackingId id) { return problem.buffers[id].size >= threshold; });
  std::sort(small.fixed.begin(), small.fixed.end());
  return small;
}

// By how many bytes the large ones can go up; none where some buffer must stay.
std::int64_t room_below(const CompressedProblem& large, std::int64_t height, std::int64_t target) {
  if (!large.fixed.empty() || height >= target) return 0;
  std::int64_t alignment = 1;
  for (PackingId id : large.movable) alignment = std::max(alignment, large.buffers[id].alignment);
  return (target - height) & -alignment;
}

}  // namespace

bool Tiers::lower(Incumbent& best, std::int64_t limit, Effort& effort) {
  divide();
  if (divisions_.empty()) return false;
  Division& division = divisions_[next_++ % divisions_.size()];
  if (division.is_done) return false;
  const std::int64_t before = best.height();

  const CompressedProblem large = large_of(problem_, division.threshold);
  Goal goal(large, height_bound(large).height, std::nullopt);
  Effort share = effort.share(limit / 2);
  Incumbent found(best_fit(large, share), kName);
  Portfolio portfolio(large, {}, goal, found, share, threads_, Portfolio::Tiering::off);
  portfolio.run();
  effort.spend(share.spent);
  division.is_done = goal.is_met(found.height());

  for (std::int64_t shift = room_below(large, found.height(), goal_.target());; shift = 0) {
    if (goal_.is_met(best.height()) || found.height() + shift >= best.height()) break;
    add_small(small_of(problem_, division.threshold, found.placements(), shift), best, effort);
    if (shift == 0) break;
  }
  return best.height() < before;
}

void Tiers::divide() {
  if (std::exchange(is_divided_, true)) return;
  if (problem_.times.empty() || !problem_.pairs.empty() || problem_.movable.size() > kMostBuffers) return;
  for (const std::int64_t share : kShares) {
    const std::int64_t threshold = threshold_for(goal_.target() / share);
    const bool is_new = std::none_of(divisions_.begin(), divisions_.end(),
                                     [&](const Division& division) { return division.threshold == threshold; });
    if (threshold > 0 && is_new) divisions_.push_back({.threshold = threshold});
  }
}

// The largest size with at most so many bytes of smaller ones alive at once; 0 if they are few.
std::int64_t Tiers::threshold_for(std::int64_t most) const {
  std::vector<std::int64_t> all;
  all.reserve(problem_.movable.size());
  for (PackingId id : problem_.movable) all.push_back(problem_.buffers[id].size);
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> sizes = all;
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const auto above =
      std::partition_point(sizes.begin(), sizes.end(), [&](std::int64_t size) { return load_below(size) <= most; });
  if (above == sizes.begin()) return 0;
  const std::int64_t threshold = *std::prev(above);
  const auto small = std::lower_bound(all.begin(), all.end(), threshold) - all.begin();
  return small > 0 && static_cast<std::size_t>(small) >= all.size() / kLeastShare ? threshold : 0;
}

std::int64_t Tiers::load_below(std::int64_t threshold) const {
  std::vector<std::int64_t> change(problem_.moments() + 1, 0);
  for (PackingId id : problem_.movable) {
    const std::int64_t size = problem_.buffers[id].size;
    if (size >= threshold) continue;
    for (const MomentSpan& part : problem_.parts_of(id)) {
      change[part.begin] += size;
      change[part.end] -= size;
    }
  }
  std::int64_t load = 0;
  std::int64_t largest = 0;
  for (const std::int64_t delta : change) largest = std::max(largest, load += delta);
  return largest;
}

bool Tiers::add_small(const CompressedProblem& small, Incumbent& best, Effort& effort) const {
  bool is_lower = false;
  for (const SmallOrder& strategy : kSmallOrders) {
    if (goal_.is_met(best.height())) break;
    Placer placer(small, graph_);
    std::optional<Placements> placed = place_in_order(placer, strategy.order(small), strategy.rule, effort);
    if (!placed) break;
    is_lower = best.offer(*std::move(placed), kName) || is_lower;
  }
  return is_lower;
}

}  // namespace lowtide
