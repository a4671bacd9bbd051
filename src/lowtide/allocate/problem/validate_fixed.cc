// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/validate_fixed.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/active_spans.h"
#include "lowtide/allocate/problem/describe_buffer.h"

namespace lowtide::allocate_internal {
namespace {

// The begin or the end of an active span of a fixed buffer.
struct FixedEvent {
  std::int64_t time;
  bool begins;  // false < true: at the same time ends come first, because spans are half-open
  PackingId buffer;
  friend auto operator<=>(const FixedEvent&, const FixedEvent&) = default;
};

// The active fixed buffers, for a search by address. Buffers of one group may overlap each other. Therefore each node
// of a binary tree over the begins has the highest end below it, and the highest end of any other group.
class FixedRanges {
 public:
  FixedRanges(const BufferGroups& groups, std::size_t count) : groups_(groups) {
    while (leaves_ < count) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
  }
  void insert(std::size_t leaf, PackingId id, std::int64_t end) { set(leaf, {{{{end, id}, {}}}}); }
  void erase(std::size_t leaf) { set(leaf, {}); }

  // A buffer of another group than `group` that ends above `begin`, among the first `leaves` leaves.
  [[nodiscard]] std::optional<PackingId> find_above(std::size_t leaves, std::int64_t begin, GroupId group) const {
    TopTwo top;
    for (std::size_t low = leaves_, high = leaves_ + leaves; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) top = merged(top, nodes_[low++]);
      if (high % 2 == 1) top = merged(top, nodes_[--high]);
    }
    for (const Top& one : top.of) {
      if (one.id && one.end > begin && groups_.group[*one.id] != group) return one.id;
    }
    return std::nullopt;
  }

 private:
  struct Top {
    std::int64_t end = 0;
    std::optional<PackingId> id;
  };
  struct TopTwo {
    std::array<Top, 2> of;  // of different groups; the higher one first
  };

  [[nodiscard]] TopTwo merged(TopTwo a, const TopTwo& b) const {
    for (const Top& one : b.of) {
      if (!one.id) continue;
      Top& highest = a.of[0];
      Top& second = a.of[1];
      if (highest.id && groups_.group[*highest.id] == groups_.group[*one.id]) {
        if (one.end > highest.end) highest = one;
      } else if (!highest.id || one.end > highest.end) {
        second = std::exchange(highest, one);
      } else if (!second.id || one.end > second.end) {
        second = one;
      }
    }
    return a;
  }

  void set(std::size_t leaf, const TopTwo& value) {
    nodes_[leaves_ + leaf] = value;
    for (std::size_t node = (leaves_ + leaf) / 2; node >= 1; node /= 2) {
      nodes_[node] = merged(nodes_[2 * node], nodes_[2 * node + 1]);
    }
  }

  const BufferGroups& groups_;
  std::size_t leaves_ = 1;
  std::vector<TopTwo> nodes_;  // the children of node i are 2i and 2i + 1
};

class FixedCheck {
 public:
  FixedCheck(const PackingProblem& problem, const BufferGroups& groups) : problem_(problem), groups_(groups) {}

  [[nodiscard]] Result<void> check_pairs(const std::vector<PackingPair>& pairs) const {
    for (const PackingPair& pair : pairs) {
      if (groups_.group[pair.first] == groups_.group[pair.second]) continue;
      if (!is_fixed(pair.first) || !is_fixed(pair.second)) continue;
      if (range_of(pair.first).overlaps(range_of(pair.second))) return collision(pair.second, pair.first, "");
    }
    return {};
  }

  // Sweeps over time. A buffer that begins must share no byte with one that is active.
  [[nodiscard]] Result<void> check_over_time() const {
    std::vector<PackingId> by_begin;
    for (PackingId id : all_ids<PackingId>(problem_.buffers.size())) {
      if (is_fixed(id)) by_begin.push_back(id);
    }
    if (by_begin.empty()) return {};
    const std::vector<FixedEvent> events = events_of(by_begin);
    const auto begin_of = [&](PackingId id) { return range_of(id).begin; };
    std::sort(by_begin.begin(), by_begin.end(),
              [&](PackingId a, PackingId b) { return std::pair(begin_of(a), a) < std::pair(begin_of(b), b); });
    IdVector<PackingId, std::size_t> leaf_of(problem_.buffers.size());
    for (std::size_t leaf = 0; leaf < by_begin.size(); ++leaf) leaf_of[by_begin[leaf]] = leaf;
    FixedRanges active(groups_, by_begin.size());
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

 private:
  [[nodiscard]] bool is_fixed(PackingId id) const {
    return groups_.groups[groups_.group[id]].fixed_base && problem_.buffers[id].size > Bytes(0);
  }
  [[nodiscard]] Interval<std::int64_t> range_of(PackingId id) const {
    const std::int64_t begin = *groups_.groups[groups_.group[id]].fixed_base + groups_.shift[id];
    return {begin, begin + problem_.buffers[id].size.count()};
  }

  [[nodiscard]] std::vector<FixedEvent> events_of(const std::vector<PackingId>& fixed) const {
    std::vector<FixedEvent> events;
    for (PackingId id : fixed) {
      for_each_active_span(problem_.buffers[id], [&](const TimeSpan& span) {
        events.push_back({span.begin, true, id});
        events.push_back({span.end, false, id});
      });
    }
    std::sort(events.begin(), events.end());
    return events;
  }

  [[nodiscard]] Error collision(PackingId id, PackingId other, const std::string& when) const {
    const auto text = [&](PackingId of) {
      return "fixed at bytes [" + std::to_string(range_of(of).begin) + ", " + std::to_string(range_of(of).end) + ")";
    };
    return Error{ErrorCode::invalid,
                 text(id) + ", it collides with " + describe_buffer(problem_, other) + ", " + text(other) + when,
                 describe_buffer(problem_, id)};
  }

  const PackingProblem& problem_;
  const BufferGroups& groups_;
};

}  // namespace

Result<void> validate_fixed_buffers(const PackingProblem& problem, const BufferGroups& groups) {
  const FixedCheck check(problem, groups);
  return problem.conflicts ? check.check_pairs(*problem.conflicts) : check.check_over_time();
}

}  // namespace lowtide::allocate_internal
