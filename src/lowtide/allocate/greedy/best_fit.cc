// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/best_fit.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/free_list.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

// A moment at which bytes that are already assigned are taken or released.
using PartEnd = std::pair<Moment, PackingId>;

class Sweep {
 public:
  // `solid`: gaps are ignored and nothing goes below the highest fixed end; there are no reservations.
  Sweep(const CompressedProblem& problem, bool solid)
      : problem_(problem),
        solid_(solid),
        free_(solid ? highest_fixed_end(problem) : 0),
        ranges_(problem.buffers.size()) {
    collect_movable();
    if (!solid) collect_fixed();
    std::sort(begins_.begin(), begins_.end());
    std::sort(ends_.begin(), ends_.end());
    if (!reserved_.empty()) index_.emplace(problem, reserved_);
    if (!solid) {
      for (PackingId id : problem.fixed) index_->insert(id);
    }
  }

  [[nodiscard]] bool has_reservations() const { return !reserved_.empty(); }

  // Returns nullopt if reservations use up the effort.
  std::optional<Placements> run(Effort& effort) {
    std::vector<PackingId> order = problem_.movable;
    const auto key = [&](PackingId id) {
      return std::tuple(problem_.buffers[id].hull.begin, -problem_.buffers[id].size, id);
    };
    std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) { return key(a) < key(b); });
    for (PackingId id : order) {
      if (!reserved_.empty() && effort.exhausted()) return std::nullopt;
      advance_to(problem_.buffers[id].hull.begin);
      place(id, effort);
    }
    return placements_of(problem_, ranges_);
  }

 private:
  static std::int64_t highest_fixed_end(const CompressedProblem& problem) {
    std::int64_t end = 0;
    for (PackingId id : problem.fixed) {
      end = std::max(end, problem.buffers[id].fixed_offset + problem.buffers[id].size);
    }
    return end;
  }

  void collect_movable() {
    for (PackingId id : problem_.movable) {
      const CompressedProblem::Buffer& buffer = problem_.buffers[id];
      if (solid_ || buffer.part_count == 1) {
        ends_.emplace_back(buffer.hull.end, id);
        continue;
      }
      reserved_.push_back(id);
      for (const MomentSpan& part : problem_.parts_of(id)) {
        if (part.begin != buffer.hull.begin) begins_.emplace_back(part.begin, id);  // the first is taken by `place`
        ends_.emplace_back(part.end, id);
      }
    }
  }

  void collect_fixed() {
    for (PackingId id : problem_.fixed) {
      const CompressedProblem::Buffer& buffer = problem_.buffers[id];
      ranges_[id] = {buffer.fixed_offset, buffer.fixed_offset + buffer.size};
      reserved_.push_back(id);
      for (const MomentSpan& part : problem_.parts_of(id)) {
        begins_.emplace_back(part.begin, id);
        ends_.emplace_back(part.end, id);
      }
    }
  }

  // Ends before begins, moment by moment: spans are half-open.
  void advance_to(Moment moment) {
    while (next_begin_ < begins_.size() && begins_[next_begin_].first <= moment) {
      const auto [begin, id] = begins_[next_begin_++];
      release_until(begin);
      free_.take(ranges_[id]);
    }
    release_until(moment);
  }

  void release_until(Moment moment) {
    for (; next_end_ < ends_.size() && ends_[next_end_].first <= moment; ++next_end_) {
      free_.release(ranges_[ends_[next_end_].second]);
    }
  }

  void place(PackingId id, Effort& effort) {
    const CompressedProblem::Buffer& buffer = problem_.buffers[id];
    const bool reserved = !solid_ && buffer.part_count > 1;
    forbidden_.clear();
    if (!reserved_.empty()) collect_forbidden(id, effort);
    const std::int64_t offset = free_.choose(buffer.size, buffer.alignment, forbidden_, effort);
    ranges_[id] = {offset, offset + buffer.size};
    free_.take(ranges_[id]);
    if (reserved) index_->insert(id);
  }

  // Bytes that reservations want at some moment of this buffer, joined and sorted.
  void collect_forbidden(PackingId id, Effort& effort) {
    const CompressedProblem::Buffer& buffer = problem_.buffers[id];
    index_->for_each_meeting(buffer.hull, effort, [&](PackingId other) {
      effort.spend(buffer.part_count + problem_.buffers[other].part_count);
      if (share_a_moment(problem_, id, other)) forbidden_.push_back(ranges_[other]);
    });
    std::sort(forbidden_.begin(), forbidden_.end());
    std::size_t kept = 0;
    for (const AddressRange& range : forbidden_) {
      if (kept > 0 && range.begin <= forbidden_[kept - 1].end) {
        forbidden_[kept - 1].end = std::max(forbidden_[kept - 1].end, range.end);
      } else {
        forbidden_[kept++] = range;
      }
    }
    forbidden_.resize(kept);
  }

  const CompressedProblem& problem_;
  bool solid_;
  FreeList free_;
  IdVector<PackingId, AddressRange> ranges_;
  std::vector<PartEnd> begins_;  // of parts whose bytes are assigned beforehand; sorted
  std::vector<PartEnd> ends_;    // of all parts; sorted
  std::size_t next_begin_ = 0;
  std::size_t next_end_ = 0;
  std::vector<PackingId> reserved_;      // fixed ones, and those with gaps
  std::optional<PlacedIndex> index_;     // of reserved_
  std::vector<AddressRange> forbidden_;  // kept for its memory
};

}  // namespace

Placements best_fit(const CompressedProblem& problem, Effort& effort) {
  Sweep sweep(problem, false);
  std::optional<Placements> exact = sweep.run(effort);
  if (exact && !sweep.has_reservations()) return *std::move(exact);
  // Also where the effort was enough: reservations cut the arena into pieces, and more effort must not give a higher
  // answer.
  std::optional<Placements> solid = Sweep(problem, true).run(effort);
  LOWTIDE_CHECK(solid.has_value(), "a sweep without reservations always ends");
  return exact && exact->height <= solid->height ? *std::move(exact) : *std::move(solid);
}

}  // namespace lowtide::allocate_internal
