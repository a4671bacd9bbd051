// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/orders.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/base/checked.h"

namespace lowtide::allocate_internal {
namespace {

using Buffer = CompressedProblem::Buffer;

// The movable buffers by ascending key(id, buffer). The last element of each key is the id.
template <typename Key>
std::vector<PackingId> movable_by(const CompressedProblem& problem, const Key& key) {
  std::vector<PackingId> order = problem.movable;
  std::sort(order.begin(), order.end(),
            [&](PackingId a, PackingId b) { return key(a, problem.buffers[a]) < key(b, problem.buffers[b]); });
  return order;
}

std::int64_t length_of(const Buffer& buffer) { return buffer.lifespan.end - buffer.lifespan.begin; }

// The rank of each moment by load. The busiest moment has rank 0, and of equal loads the earlier moment comes first.
std::vector<Moment> ranks_by_load(const std::vector<std::int64_t>& load) {
  std::vector<Moment> moments(load.size());
  std::iota(moments.begin(), moments.end(), Moment{0});
  std::stable_sort(moments.begin(), moments.end(), [&](Moment a, Moment b) { return load[a] > load[b]; });
  std::vector<Moment> rank(load.size());
  for (std::size_t at = 0; at < moments.size(); ++at) rank[moments[at]] = static_cast<Moment>(at);
  return rank;
}

// Finds the smallest value of any range, after O(n) preparation. Row k of a sparse table holds, for each block, the
// minimum of the 2^k blocks that start there. Values at the ends of a range that fill no block are read one by one. A
// table over single values instead of blocks would need ten times the memory.
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
  // Requires: the span is not empty.
  [[nodiscard]] Moment of(MomentSpan span) const {
    const std::size_t first = (span.begin + kBlock - 1) / kBlock;
    const std::size_t last = span.end / kBlock;  // blocks [first, last) are inside the span
    if (first >= last) return least(span.begin, span.end);
    const std::size_t width = std::bit_floor(last - first);
    const std::vector<Moment>& row = rows_[static_cast<std::size_t>(std::countr_zero(width))];
    const Moment blocks = std::min(row[first], row[last - width]);
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

// The rank of the busiest moment of each buffer.
IdVector<PackingId, Moment> breadth_ranks(const CompressedProblem& problem) {
  const RangeMinimum busiest(ranks_by_load(load_profile(problem)));
  IdVector<PackingId, Moment> rank(problem.buffers.size());
  for (PackingId id : problem.movable) {
    rank[id] = std::numeric_limits<Moment>::max();
    for (const MomentSpan& span : problem.spans_of(id)) rank[id] = std::min(rank[id], busiest.of(span));
  }
  return rank;
}

}  // namespace

std::vector<PackingId> greedy_by_size(const CompressedProblem& problem) {
  return movable_by(
      problem, [](PackingId id, const Buffer& buffer) { return std::tuple(-buffer.size, buffer.lifespan.begin, id); });
}

std::vector<PackingId> greedy_by_breadth(const CompressedProblem& problem) {
  const IdVector<PackingId, Moment> rank = breadth_ranks(problem);
  return movable_by(problem,
                    [&](PackingId id, const Buffer& buffer) { return std::tuple(rank[id], -buffer.size, id); });
}

std::vector<PackingId> greedy_by_breadth_last_end(const CompressedProblem& problem) {
  const IdVector<PackingId, Moment> rank = breadth_ranks(problem);
  return movable_by(problem, [&](PackingId id, const Buffer& buffer) {
    return std::tuple(rank[id], -std::int64_t{buffer.lifespan.end}, buffer.lifespan.begin, id);
  });
}

std::vector<PackingId> greedy_by_breadth_first_end(const CompressedProblem& problem) {
  const IdVector<PackingId, Moment> rank = breadth_ranks(problem);
  return movable_by(problem, [&](PackingId id, const Buffer& buffer) {
    return std::tuple(rank[id], buffer.lifespan.end, buffer.lifespan.begin, id);
  });
}

std::vector<PackingId> greedy_by_breadth_first_begin(const CompressedProblem& problem) {
  const IdVector<PackingId, Moment> rank = breadth_ranks(problem);
  return movable_by(problem, [&](PackingId id, const Buffer& buffer) {
    return std::tuple(rank[id], buffer.lifespan.begin, -std::int64_t{buffer.lifespan.end}, id);
  });
}

std::vector<PackingId> greedy_outwards(const CompressedProblem& problem) {
  const std::vector<std::int64_t> load = load_profile(problem);
  const auto busiest = static_cast<Moment>(std::max_element(load.begin(), load.end()) - load.begin());
  return movable_by(problem, [&](PackingId id, const Buffer& buffer) {
    const Moment after = buffer.lifespan.begin - std::min(buffer.lifespan.begin, busiest);
    const Moment before = busiest + 1 - std::min(buffer.lifespan.end, busiest + 1);
    return std::tuple(after + before, -buffer.size, id);  // at most one of the two is not 0
  });
}

std::vector<PackingId> greedy_by_lifespan(const CompressedProblem& problem) {
  return movable_by(
      problem, [](PackingId id, const Buffer& buffer) { return std::tuple(-length_of(buffer), -buffer.size, id); });
}

std::vector<PackingId> greedy_by_area(const CompressedProblem& problem) {
  return movable_by(problem, [](PackingId id, const Buffer& buffer) {
    // Areas above 63 bits count as equal, and the size decides between them.
    const std::int64_t area =
        checked_multiply(buffer.size, length_of(buffer)).value_or(std::numeric_limits<std::int64_t>::max());
    return std::tuple(-area, -buffer.size, id);
  });
}

std::vector<PackingId> greedy_by_neighbours(const CompressedProblem& problem) {
  // The sums cannot overflow: all sizes together are below 2^62, and each neighbour counts once.
  IdVector<PackingId, std::int64_t> bytes(problem.buffers.size(), 0);
  for (const PackingPair& pair : problem.pairs) {
    bytes[pair.first] += problem.buffers[pair.second].size;
    bytes[pair.second] += problem.buffers[pair.first].size;
  }
  return movable_by(problem,
                    [&](PackingId id, const Buffer& buffer) { return std::tuple(-bytes[id], -buffer.size, id); });
}

}  // namespace lowtide::allocate_internal
