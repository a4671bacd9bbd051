// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "lowtide/base/checked.h"

namespace lowtide {
namespace {

bool is_live(const PackingBuffer& buffer, std::int64_t time) {
  if (buffer.size <= Bytes(0) || !buffer.lifespan.contains(time)) return false;
  return std::none_of(buffer.gaps.begin(), buffer.gaps.end(), [&](const TimeSpan& gap) { return gap.contains(time); });
}

// The groups, and the position of each buffer in its group.
class Groups {
 public:
  explicit Groups(const PackingProblem& problem) : group_(problem.buffers.size(), kNone), position_(group_.size(), 0) {
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> others(problem.colocations.empty() ? 0
                                                                                                      : group_.size());
    for (const PackingColocation& pair : problem.colocations) {
      others[pair.first.index()].emplace_back(pair.second.index(), pair.delta.count());
      others[pair.second.index()].emplace_back(pair.first.index(), -pair.delta.count());
    }
    for (std::size_t root = 0; root < group_.size(); ++root) {
      if (group_[root] == kNone) spread(root, others);
    }
    if (!problem.colocations.empty()) find_least_bases(problem);
  }

  // The least offset of the buffer in any packing. The buffer may be fixed, or stand above others of its group.
  [[nodiscard]] std::int64_t least_offset(const PackingProblem& problem, PackingId id) const {
    if (problem.colocations.empty()) {
      return problem.buffers[id].fixed_offset ? problem.buffers[id].fixed_offset->position() : 0;
    }
    return base_[of(id)] + position(id);
  }

  [[nodiscard]] std::size_t of(PackingId id) const { return group_[id.index()]; }
  [[nodiscard]] std::int64_t position(PackingId id) const { return position_[id.index()]; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void spread(std::size_t root, const std::vector<std::vector<std::pair<std::size_t, std::int64_t>>>& others) {
    std::vector<std::size_t> open = {root};
    group_[root] = root;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (others.empty()) continue;
      for (const auto& [other, delta] : others[at]) {
        if (group_[other] != kNone) continue;
        group_[other] = root;
        position_[other] = position_[at] + delta;
        open.push_back(other);
      }
    }
  }

  // Sets the least offset of position 0 of each group. A fixed member determines it. Otherwise the lowest member is not
  // below 0, and the member with the largest alignment is aligned. All alignments are powers of two.
  void find_least_bases(const PackingProblem& problem) {
    std::vector<std::int64_t> lowest(group_.size(), 0);
    std::vector<std::int64_t> strictest(group_.size(), 1);
    base_.assign(group_.size(), 0);
    const IdRange<PackingId> ids = all_ids<PackingId>(group_.size());
    for (PackingId id : ids) lowest[of(id)] = std::min(lowest[of(id)], position(id));
    for (PackingId id : ids) {
      const std::int64_t alignment = problem.buffers[id].alignment.count();
      if (alignment < strictest[of(id)] || !is_power_of_two(alignment)) continue;
      strictest[of(id)] = alignment;
      const std::int64_t above_lowest = position(id) - lowest[of(id)];
      base_[of(id)] = -lowest[of(id)] + (-above_lowest & (alignment - 1));
    }
    for (PackingId id : ids) {
      const std::optional<Offset>& fixed = problem.buffers[id].fixed_offset;
      if (fixed) base_[of(id)] = fixed->position() - position(id);
    }
  }

  std::vector<std::size_t> group_;
  std::vector<std::int64_t> position_;  // 0 for one member of each group
  std::vector<std::int64_t> base_;      // of each group, by that member; empty if no group has several buffers
};

// The bytes that the buffers cover. Bytes that members of one group share count once.
std::optional<std::int64_t> covered(const PackingProblem& problem, const std::vector<PackingId>& live,
                                    const Groups& groups) {
  std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>> ranges;  // group, begin, end
  for (PackingId id : live) {
    const std::int64_t begin = groups.position(id);
    const std::optional<std::int64_t> end = checked_add(begin, problem.buffers[id].size.count());
    if (!end) return std::nullopt;
    ranges.emplace_back(groups.of(id), begin, *end);
  }
  std::sort(ranges.begin(), ranges.end());
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < ranges.size();) {
    const auto [group, begin, first_end] = ranges[at];
    std::int64_t end = first_end;
    for (++at; at < ranges.size() && std::get<0>(ranges[at]) == group && std::get<1>(ranges[at]) <= end; ++at) {
      end = std::max(end, std::get<2>(ranges[at]));
    }
    const std::optional<std::int64_t> more = checked_add(sum, end - begin);
    if (!more) return std::nullopt;
    sum = *more;
  }
  return sum;
}

// The least height of a stack of the buffers that begin at multiples of `grid`. Only the largest buffer of each group
// counts, which is the first because `live` is sorted by size. Returns nullopt if the sum overflows.
std::optional<std::int64_t> least_stack(const PackingProblem& problem, const std::vector<PackingId>& live,
                                        const Groups& groups, std::int64_t grid) {
  std::int64_t sum = 0;
  std::int64_t saved_on_top = 0;
  std::set<std::size_t> seen;
  for (PackingId id : live) {
    const PackingBuffer& buffer = problem.buffers[id];
    if (buffer.alignment.count() < grid || !seen.insert(groups.of(id)).second) continue;
    const std::int64_t beyond = buffer.size.count() % grid;
    const std::int64_t padding = beyond == 0 ? 0 : grid - beyond;
    const std::optional<std::int64_t> padded = checked_add(buffer.size.count(), padding);
    const std::optional<std::int64_t> more = padded ? checked_add(sum, *padded) : std::nullopt;
    if (!more) return std::nullopt;
    sum = *more;
    saved_on_top = std::max(saved_on_top, padding);
  }
  return sum - saved_on_top;
}

void add_load(const PackingProblem& problem, const Groups& groups, PackingBoundCheck& check) {
  if (const std::optional<std::int64_t> bytes = covered(problem, check.live, groups)) {
    check.load = Bytes(*bytes);
    check.proven = check.load;
  }
  std::set<std::int64_t> grids;
  for (PackingId id : check.live) {
    if (is_power_of_two(problem.buffers[id].alignment.count())) grids.insert(problem.buffers[id].alignment.count());
  }
  for (std::int64_t grid : grids) {
    const std::optional<std::int64_t> stack = least_stack(problem, check.live, groups, grid);
    if (stack && Bytes(*stack) > check.proven) check.proven = Bytes(*stack);
  }
}

// The times at which the buffer has bytes, ascending.
std::vector<TimeSpan> parts_of(const PackingBuffer& buffer) {
  std::vector<TimeSpan> parts;
  std::int64_t from = buffer.lifespan.begin;
  for (const TimeSpan& gap : buffer.gaps) {
    if (gap.empty()) continue;
    if (from < gap.begin) parts.push_back({from, gap.begin});
    from = gap.end;
  }
  if (from < buffer.lifespan.end) parts.push_back({from, buffer.lifespan.end});
  return parts;
}

bool live_together(const std::vector<TimeSpan>& first, const std::vector<TimeSpan>& second) {
  for (std::size_t at = 0, other = 0; at < first.size() && other < second.size();) {
    if (first[at].overlaps(second[other])) return true;
    (first[at].end < second[other].end ? at : other) += 1;
  }
  return false;
}

// Finds the first two named buffers that may share bytes.
class PairSearch {
 public:
  explicit PairSearch(const PackingProblem& problem) : problem_(problem) {
    if (problem.conflicts) add(*problem.conflicts);
    std::sort(pairs_.begin(), pairs_.end());
  }

  [[nodiscard]] std::optional<PackingPair> find(const std::vector<PackingId>& named, const Groups& groups) const {
    std::vector<std::vector<TimeSpan>> parts;
    if (!problem_.conflicts) {
      for (PackingId id : named) parts.push_back(parts_of(problem_.buffers[id]));
    }
    for (std::size_t at = 0; at < named.size(); ++at) {
      for (std::size_t other = at + 1; other < named.size(); ++other) {
        const PackingPair pair{std::min(named[at], named[other]), std::max(named[at], named[other])};
        if (groups.of(pair.first) == groups.of(pair.second)) return pair;
        if (std::binary_search(pairs_.begin(), pairs_.end(), pair)) continue;
        if (problem_.conflicts || !live_together(parts[at], parts[other])) return pair;
      }
    }
    return std::nullopt;
  }

 private:
  void add(const std::vector<PackingPair>& pairs) {
    for (const PackingPair& pair : pairs) {
      pairs_.push_back({std::min(pair.first, pair.second), std::max(pair.first, pair.second)});
    }
  }

  const PackingProblem& problem_;
  std::vector<PackingPair> pairs_;
};

void sort_by_size(const PackingProblem& problem, std::vector<PackingId>& ids) {
  std::sort(ids.begin(), ids.end(), [&](PackingId a, PackingId b) {
    const Bytes size_a = problem.buffers[a].size;
    const Bytes size_b = problem.buffers[b].size;
    return size_a != size_b ? size_a > size_b : a < b;
  });
}

void add_alone(const PackingProblem& problem, const Groups& groups, PackingId id, PackingBoundCheck& check) {
  const std::optional<std::int64_t> end =
      checked_add(groups.least_offset(problem, id), problem.buffers[id].size.count());
  if (!end || Bytes(*end) <= check.proven) return;
  check.proven = Bytes(*end);
  check.alone = id;
}

// Whether each id exists and is named once.
bool are_ids(const PackingProblem& problem, std::vector<PackingId> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end() &&
         std::all_of(ids.begin(), ids.end(), [&](PackingId id) { return problem.buffers.contains(id); });
}

}  // namespace

PackingBoundCheck check_packing_bound(const PackingProblem& problem, Bytes claimed, std::int64_t time) {
  PackingBoundCheck check;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    if (!problem.conflicts && is_live(problem.buffers[id], time)) check.live.push_back(id);
  }
  sort_by_size(problem, check.live);
  const Groups groups(problem);
  add_load(problem, groups, check);
  const bool is_any_time = problem.conflicts || !problem.colocations.empty();
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    if (is_any_time || problem.buffers[id].lifespan.contains(time)) add_alone(problem, groups, id, check);
  }
  check.is_confirmed = claimed <= check.proven;
  return check;
}

PackingBoundCheck check_packing_bound(const PackingProblem& problem, Bytes claimed,
                                      const std::vector<PackingId>& in_conflict) {
  PackingBoundCheck check;
  if (!are_ids(problem, in_conflict)) return check;
  const Groups groups(problem);
  check.live = in_conflict;
  sort_by_size(problem, check.live);
  check.free_to_share = PairSearch(problem).find(check.live, groups);
  if (check.free_to_share) return check;
  add_load(problem, groups, check);
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) add_alone(problem, groups, id, check);
  check.is_confirmed = claimed <= check.proven;
  return check;
}

PackingBoundCheck check_packing_bound(const PackingProblem& problem, const Packing& packing) {
  if (!packing.witness_buffers.empty()) return check_packing_bound(problem, packing.bound, packing.witness_buffers);
  return check_packing_bound(problem, packing.bound, packing.witness_time.value_or(0));
}

}  // namespace lowtide
