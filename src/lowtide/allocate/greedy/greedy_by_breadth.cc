// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/problem/load_bound.h"

namespace lowtide::allocate_internal {
namespace {

// Position of each moment when the busiest comes first; at equal load the earlier.
std::vector<Moment> ranks_by_load(const std::vector<std::int64_t>& load) {
  std::vector<Moment> moments(load.size());
  std::iota(moments.begin(), moments.end(), Moment{0});
  std::stable_sort(moments.begin(), moments.end(), [&](Moment a, Moment b) { return load[a] > load[b]; });
  std::vector<Moment> rank(load.size());
  for (std::size_t at = 0; at < moments.size(); ++at) rank[moments[at]] = static_cast<Moment>(at);
  return rank;
}

// Smallest value in any range, after O(n): row k holds the minimum of 2^k whole blocks from each block on; what a range
// has of a block at either end is looked at one by one. A table over all positions would take ten times the memory.
class RangeMinimum {
 public:
  explicit RangeMinimum(std::vector<Moment> values) : values_(std::move(values)) {
    rows_.emplace_back();
    for (std::size_t begin = 0; begin < values_.size(); begin += kBlock) {
      rows_[0].push_back(least(begin, std::min(begin + kBlock, values_.size())));
    }
    for (std::size_t width = 2; width <= rows_[0].size(); width *= 2) {
      const std::vector<Moment>& half = rows_.back();
      std::vector<Moment> row(rows_[0].size() - width + 1);
      for (std::size_t at = 0; at < row.size(); ++at) row[at] = std::min(half[at], half[at + width / 2]);
      rows_.push_back(std::move(row));
    }
  }
  // Require: not empty.
  [[nodiscard]] Moment of(MomentSpan span) const {
    const std::size_t first = (span.begin + kBlock - 1) / kBlock;
    const std::size_t last = span.end / kBlock;  // blocks [first, last) lie within
    if (first >= last) return least(span.begin, span.end);
    const auto row = static_cast<std::size_t>(std::bit_width(last - first) - 1);
    const Moment blocks = std::min(rows_[row][first], rows_[row][last - (std::size_t{1} << row)]);
    return std::min({blocks, least(span.begin, first * kBlock), least(last * kBlock, span.end)});
  }

 private:
  static constexpr std::size_t kBlock = 16;

  [[nodiscard]] Moment least(std::size_t begin, std::size_t end) const {
    Moment result = std::numeric_limits<Moment>::max();
    for (std::size_t at = begin; at < end; ++at) result = std::min(result, values_[at]);
    return result;
  }

  std::vector<Moment> values_;
  std::vector<std::vector<Moment>> rows_;
};

// Position of the busiest moment of each buffer, from the busiest of all.
IdVector<PackingId, Moment> breadth_ranks(const CompressedProblem& problem) {
  const RangeMinimum busiest(ranks_by_load(load_profile(problem)));
  IdVector<PackingId, Moment> rank(problem.buffers.size());
  for (PackingId id : problem.movable) {
    rank[id] = std::numeric_limits<Moment>::max();
    for (const MomentSpan& part : problem.parts_of(id)) rank[id] = std::min(rank[id], busiest.of(part));
  }
  return rank;
}

}  // namespace

std::vector<PackingId> greedy_by_breadth(const CompressedProblem& problem) {
  const IdVector<PackingId, Moment> rank = breadth_ranks(problem);
  std::vector<PackingId> order = problem.movable;
  const auto key = [&](PackingId id) { return std::tuple(rank[id], -problem.buffers[id].size, id); };
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) { return key(a) < key(b); });
  return order;
}

std::vector<PackingId> greedy_by_breadth_last_end(const CompressedProblem& problem) {
  const IdVector<PackingId, Moment> rank = breadth_ranks(problem);
  std::vector<PackingId> order = problem.movable;
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) {
    const CompressedProblem::Buffer& first = problem.buffers[a];
    const CompressedProblem::Buffer& second = problem.buffers[b];
    return std::tuple(rank[a], second.hull.end, first.hull.begin, a) <
           std::tuple(rank[b], first.hull.end, second.hull.begin, b);
  });
  return order;
}

}  // namespace lowtide::allocate_internal
