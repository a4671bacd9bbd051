// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/validate.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/describe_buffer.h"
#include "lowtide/allocate/problem/groups.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::size_t kMostPairs = std::size_t{1} << 28U;  // 2 GiB

std::string text_of(TimeSpan span) { return "[" + std::to_string(span.begin) + ", " + std::to_string(span.end) + ")"; }

Error invalid(const PackingProblem& problem, PackingId buffer, std::string message) {
  return Error{ErrorCode::invalid, std::move(message), describe_buffer(problem, buffer)};
}

Error over_limit(const PackingProblem& problem, PackingId buffer, std::string message) {
  return Error{ErrorCode::over_limit, std::move(message), describe_buffer(problem, buffer)};
}

Result<void> validate_times(const PackingProblem& problem, PackingId id) {
  const PackingBuffer& buffer = problem.buffers[id];
  if (buffer.lifespan.empty()) {
    return invalid(
        problem, id,
        "the lifespan " + text_of(buffer.lifespan) + " is empty; lower must be below upper (spans are half-open)");
  }
  const TimeSpan* before = nullptr;
  for (const TimeSpan& gap : buffer.gaps) {
    if (gap.end < gap.begin || !buffer.lifespan.contains(gap)) {
      return invalid(problem, id,
                     "the gap " + text_of(gap) + " is not inside the lifespan " + text_of(buffer.lifespan));
    }
    if (before != nullptr && gap.begin < before->end) {
      return invalid(problem, id,
                     "the gaps " + text_of(*before) + " and " + text_of(gap) + " are not sorted and disjoint");
    }
    before = &gap;
  }
  return {};
}

Result<void> validate_bytes(const PackingProblem& problem, PackingId id) {
  const PackingBuffer& buffer = problem.buffers[id];
  const std::int64_t size = buffer.size.count();
  const std::int64_t alignment = buffer.alignment.count();
  if (size < 0) return invalid(problem, id, "the size " + std::to_string(size) + " is below 0");
  if (size > limits::kMaxTotalBytes) {
    return over_limit(
        problem, id,
        "the size " + std::to_string(size) + " is above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes));
  }
  if (!is_power_of_two(alignment)) {
    return invalid(problem, id, "the alignment " + std::to_string(alignment) + " is not a power of two");
  }
  if (alignment > limits::kMaxAlignment) {
    return over_limit(problem, id,
                      "the alignment " + std::to_string(alignment) +
                          " is above kMaxAlignment = " + std::to_string(limits::kMaxAlignment));
  }
  if (!buffer.fixed_offset) return {};
  const std::int64_t offset = buffer.fixed_offset->position();
  if (offset < 0) return invalid(problem, id, "the fixed offset " + std::to_string(offset) + " is below 0");
  if (offset % alignment != 0) {
    return invalid(problem, id,
                   "the fixed offset " + std::to_string(offset) + " is not a multiple of the alignment " +
                       std::to_string(alignment));
  }
  const std::optional<std::int64_t> end = checked_add(offset, size);
  if (!end || *end > limits::kMaxTotalBytes) {
    return over_limit(problem, id,
                      "the fixed offset " + std::to_string(offset) + " with size " + std::to_string(size) +
                          " ends above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes));
  }
  return {};
}

// One end of an active part of a fixed buffer.
struct FixedEvent {
  std::int64_t time;
  bool begins;  // ends come first at the same time: spans are half-open
  PackingId buffer;
  friend auto operator<=>(const FixedEvent&, const FixedEvent&) = default;
};

std::vector<FixedEvent> fixed_events(const PackingProblem& problem, const std::vector<PackingId>& fixed) {
  std::vector<FixedEvent> events;
  for (PackingId id : fixed) {
    const PackingBuffer& buffer = problem.buffers[id];
    std::int64_t from = buffer.lifespan.begin;
    const auto add_part = [&](std::int64_t until) {
      if (from >= until) return;
      events.push_back({from, true, id});
      events.push_back({until, false, id});
    };
    for (const TimeSpan& gap : buffer.gaps) {
      if (gap.empty()) continue;
      add_part(gap.begin);
      from = gap.end;
    }
    add_part(buffer.lifespan.end);
  }
  std::sort(events.begin(), events.end());
  return events;
}

// Active fixed buffers by address. Those of one group may overlap each other, and nobody else may overlap them: so a
// node of a binary tree over the begins keeps the highest end below it, and the highest of another group than that.
class FixedRanges {
 public:
  FixedRanges(const BufferGroups& groups, const std::vector<PackingId>& by_begin) : groups_(groups) {
    while (leaves_ < by_begin.size()) leaves_ *= 2;
    highest_.resize(2 * leaves_);
  }
  void insert(std::size_t leaf, PackingId id, std::int64_t end) { set(leaf, {{{end, id}, {}}}); }
  void erase(std::size_t leaf) { set(leaf, {}); }

  // One of another group that ends above `begin`, among the first `leaves` by begin.
  [[nodiscard]] std::optional<PackingId> find_above(std::size_t leaves, std::int64_t begin, std::uint32_t group) const {
    TopTwo top;
    for (std::size_t low = leaves_, high = leaves_ + leaves; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) top = merged(top, highest_[low++]);
      if (high % 2 == 1) top = merged(top, highest_[--high]);
    }
    for (const Top& one : top.of) {
      if (one.end > begin && groups_.group[one.id] != group) return one.id;
    }
    return std::nullopt;
  }

 private:
  struct Top {
    std::int64_t end = -1;
    PackingId id;
  };
  struct TopTwo {
    Top of[2];  // of different groups; the higher one first
  };

  [[nodiscard]] TopTwo merged(TopTwo a, const TopTwo& b) const {
    for (const Top& one : b.of) {
      if (one.end < 0) continue;
      if (a.of[0].end >= 0 && groups_.group[a.of[0].id] == groups_.group[one.id]) {
        if (one.end > a.of[0].end) a.of[0] = one;
      } else if (one.end > a.of[0].end) {
        a.of[1] = a.of[0];
        a.of[0] = one;
      } else if (one.end > a.of[1].end) {
        a.of[1] = one;
      }
    }
    return a;
  }

  void set(std::size_t leaf, const TopTwo& value) {
    highest_[leaves_ + leaf] = value;
    for (std::size_t node = (leaves_ + leaf) / 2; node >= 1; node /= 2) {
      highest_[node] = merged(highest_[2 * node], highest_[2 * node + 1]);
    }
  }

  const BufferGroups& groups_;
  std::size_t leaves_ = 1;
  std::vector<TopTwo> highest_;  // of the tree's nodes; children of i: 2i and 2i + 1
};

// Fixed by itself or with its group.
class FixedCheck {
 public:
  FixedCheck(const PackingProblem& problem, const BufferGroups& groups) : problem_(problem), groups_(groups) {}

  Result<void> run() { return problem_.conflicts ? check_pairs(*problem_.conflicts) : sweep(); }

 private:
  [[nodiscard]] bool is_fixed(PackingId id) const {
    return groups_.groups[groups_.group[id]].fixed_base && problem_.buffers[id].size > Bytes(0);
  }
  [[nodiscard]] Interval<std::int64_t> range_of(PackingId id) const {
    const std::int64_t begin = *groups_.groups[groups_.group[id]].fixed_base + groups_.shift[id];
    return {begin, begin + problem_.buffers[id].size.count()};
  }

  [[nodiscard]] Error collision(PackingId id, PackingId other, const std::string& when) const {
    const auto text = [&](PackingId of) {
      return "fixed at bytes [" + std::to_string(range_of(of).begin) + ", " + std::to_string(range_of(of).end) + ")";
    };
    return invalid(problem_, id,
                   text(id) + " it collides with " + describe_buffer(problem_, other) + ", " + text(other) + when);
  }

  [[nodiscard]] Result<void> check_pairs(const std::vector<PackingPair>& pairs) const {
    for (const PackingPair& pair : pairs) {
      if (groups_.group[pair.first] == groups_.group[pair.second]) continue;
      if (!is_fixed(pair.first) || !is_fixed(pair.second)) continue;
      if (range_of(pair.first).overlaps(range_of(pair.second))) return collision(pair.second, pair.first, "");
    }
    return {};
  }

  // Over time: a buffer that begins must not share bytes with one that is there.
  [[nodiscard]] Result<void> sweep() const {
    std::vector<PackingId> by_begin;
    for (PackingId id : all_ids<PackingId>(problem_.buffers.size())) {
      if (is_fixed(id)) by_begin.push_back(id);
    }
    if (by_begin.empty()) return {};
    const std::vector<FixedEvent> events = fixed_events(problem_, by_begin);
    const auto begin_of = [&](PackingId id) { return range_of(id).begin; };
    std::sort(by_begin.begin(), by_begin.end(),
              [&](PackingId a, PackingId b) { return std::pair(begin_of(a), a) < std::pair(begin_of(b), b); });
    IdVector<PackingId, std::size_t> leaf_of(problem_.buffers.size());
    for (std::size_t leaf = 0; leaf < by_begin.size(); ++leaf) leaf_of[by_begin[leaf]] = leaf;
    FixedRanges active(groups_, by_begin);
    for (const FixedEvent& event : events) {
      const Interval<std::int64_t> range = range_of(event.buffer);
      if (!event.begins) {
        active.erase(leaf_of[event.buffer]);
        continue;
      }
      const auto below = std::partition_point(by_begin.begin(), by_begin.end(),
                                              [&](PackingId id) { return begin_of(id) < range.end; });
      const std::optional<PackingId> other = active.find_above(static_cast<std::size_t>(below - by_begin.begin()),
                                                               range.begin, groups_.group[event.buffer]);
      if (other) return collision(event.buffer, *other, ", at time " + std::to_string(event.time));
      active.insert(leaf_of[event.buffer], event.buffer, range.end);
    }
    return {};
  }

  const PackingProblem& problem_;
  const BufferGroups& groups_;
};

Result<void> validate_ids(const PackingProblem& problem, PackingId first, PackingId second, const char* list) {
  for (PackingId id : {first, second}) {
    if (problem.buffers.contains(id)) continue;
    return Error{ErrorCode::invalid,
                 "a pair in `" + std::string(list) + "` names buffer " + std::to_string(id.value()) + " of " +
                     std::to_string(problem.buffers.size()),
                 ""};
  }
  if (first != second) return {};
  return invalid(problem, first, "a pair in `" + std::string(list) + "` names it twice");
}

Result<void> validate_pairs(const PackingProblem& problem) {
  const std::size_t pairs = problem.together.size() + (problem.conflicts ? problem.conflicts->size() : 0);
  if (pairs > kMostPairs) {
    return Error{ErrorCode::over_limit, std::to_string(pairs) + " pairs are above " + std::to_string(kMostPairs), ""};
  }
  if (problem.conflicts) {
    for (const PackingPair& pair : *problem.conflicts) {
      LOWTIDE_RETURN_IF_ERROR(validate_ids(problem, pair.first, pair.second, "conflicts"));
    }
  }
  for (const PackingTogether& pair : problem.together) {
    LOWTIDE_RETURN_IF_ERROR(validate_ids(problem, pair.first, pair.second, "together"));
    if (pair.delta >= Bytes(0)) continue;
    return invalid(problem, pair.second,
                   "a pair in `together` puts it " + std::to_string(pair.delta.count()) + " bytes above " +
                       describe_buffer(problem, pair.first) + "; name the lower one first");
  }
  return {};
}

// What a group does to the sum of sizes and to the pairs, once it is seen as one block or as pieces.
Result<void> validate_groups(const PackingProblem& problem, const BufferGroups& groups) {
  std::int64_t total = 0;
  for (const BufferGroups::Group& group : groups.groups) {
    total += group.size + 2 * (group.alignment - 1);  // < 2^62 + 2^62 + 2^31: cannot wrap
    if (total <= limits::kMaxTotalBytes) continue;
    return over_limit(problem, groups.members[group.first],
                      "with its group the sizes and the padding for alignment add up to " + std::to_string(total) +
                          ", above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes));
  }
  const IdVector<PackingId, std::uint32_t> pieces = count_pieces(problem, groups);
  std::size_t count = 0;
  for (std::uint32_t of_one : pieces) count += of_one;
  const auto add = [&](const PackingPair& pair) {
    count = std::min(count + std::size_t{pieces[pair.first]} * pieces[pair.second], kMostPairs + 1);
  };
  if (problem.conflicts) std::for_each(problem.conflicts->begin(), problem.conflicts->end(), add);
  if (count > kMostPairs) {
    return Error{
        ErrorCode::over_limit,
        "the members of the groups in `together` overlap each other so often that their pieces and the pairs of "
        "these are above " +
            std::to_string(kMostPairs),
        ""};
  }
  return {};
}

}  // namespace

Result<void> validate_packing_problem(const PackingProblem& problem) {
  const std::size_t count = problem.buffers.size();
  if (count > static_cast<std::size_t>(limits::kMaxTensors)) {
    return Error{ErrorCode::over_limit,
                 std::to_string(count) + " buffers are above kMaxTensors = " + std::to_string(limits::kMaxTensors), ""};
  }
  if (!problem.names.empty() && problem.names.size() != count) {
    return Error{ErrorCode::invalid,
                 std::to_string(problem.names.size()) + " names for " + std::to_string(count) +
                     " buffers; give none, or one for each",
                 ""};
  }
  if (problem.capacity && *problem.capacity < Bytes(0)) {
    return Error{ErrorCode::invalid, "the capacity " + std::to_string(problem.capacity->count()) + " is below 0", ""};
  }
  std::int64_t total = 0;
  std::size_t spans = count;
  for (PackingId id : all_ids<PackingId>(count)) {
    if (!problem.conflicts) LOWTIDE_RETURN_IF_ERROR(validate_times(problem, id));
    LOWTIDE_RETURN_IF_ERROR(validate_bytes(problem, id));
    const PackingBuffer& buffer = problem.buffers[id];
    spans += buffer.gaps.size();
    total += buffer.size.count() + (buffer.alignment.count() - 1);  // < 2^62 + 2^62 + 2^30: cannot wrap
    if (total > limits::kMaxTotalBytes) {
      return over_limit(problem, id,
                        "with this one the sizes and the padding for alignment add up to " + std::to_string(total) +
                            ", above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes));
    }
  }
  constexpr std::size_t kMostSpans = std::numeric_limits<std::uint32_t>::max() / 4;
  if (spans > kMostSpans) {
    return Error{ErrorCode::over_limit,
                 "buffers and gaps together are " + std::to_string(spans) + ", above " + std::to_string(kMostSpans),
                 ""};
  }
  LOWTIDE_RETURN_IF_ERROR(validate_pairs(problem));
  const bool has_fixed = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                                     [](const PackingBuffer& buffer) { return buffer.fixed_offset.has_value(); });
  if (!has_fixed && problem.together.empty()) return {};
  const Result<BufferGroups> groups = group_buffers(problem);
  if (!groups.ok()) return groups.error();
  if (!problem.together.empty()) LOWTIDE_RETURN_IF_ERROR(validate_groups(problem, *groups));
  return FixedCheck(problem, *groups).run();
}

}  // namespace lowtide::allocate_internal
