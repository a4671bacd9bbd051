// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/greedy/best_fit.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/free_list.h"
#include "lowtide/allocate/greedy/overlap_index.h"
#include "lowtide/allocate/problem/join_touching.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

// A moment at which a buffer takes or releases its bytes.
using SpanEnd = std::pair<Moment, PackingId>;

enum class SweepKind : std::uint8_t {
  with_reservations,
  solid,  // ignores gaps and stays above the highest fixed end, so that there are no reservations
};

class Sweep {
 public:
  Sweep(const CompressedProblem& problem, SweepKind kind)
      : problem_(problem),
        is_solid_(kind == SweepKind::solid),
        free_(is_solid_ ? highest_fixed_end(problem) : 0),
        ranges_(problem.buffers.size()) {
    collect_movable();
    if (!is_solid_) collect_fixed();
    std::sort(begins_.begin(), begins_.end());
    std::sort(ends_.begin(), ends_.end());
    if (reserved_.empty()) return;
    index_.emplace(problem, reserved_);
    for (const CompressedProblem::FixedBuffer& buffer : problem.fixed) index_->insert(buffer.id);
  }

  [[nodiscard]] bool has_reservations() const { return !reserved_.empty(); }

  // Returns nullopt if reservations use up the effort.
  std::optional<Placements> run(Effort& effort) {
    std::vector<PackingId> order = problem_.movable;
    const auto key = [&](PackingId id) {
      return std::tuple(problem_.buffers[id].lifespan.begin, -problem_.buffers[id].size, id);
    };
    std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) { return key(a) < key(b); });
    for (PackingId id : order) {
      if (has_reservations() && effort.exhausted()) return std::nullopt;
      advance_to(problem_.buffers[id].lifespan.begin);
      assign(id, effort);
    }
    return placements_of(problem_, ranges_);
  }

 private:
  static std::int64_t highest_fixed_end(const CompressedProblem& problem) {
    std::int64_t end = 0;
    for (const CompressedProblem::FixedBuffer& fixed : problem.fixed) {
      end = std::max(end, fixed.offset + problem.buffers[fixed.id].size);
    }
    return end;
  }

  [[nodiscard]] bool is_reserved(PackingId id) const { return !is_solid_ && problem_.buffers[id].has_several_spans; }

  void collect_movable() {
    for (PackingId id : problem_.movable) {
      const CompressedProblem::Buffer& buffer = problem_.buffers[id];
      if (!is_reserved(id)) {
        ends_.emplace_back(buffer.lifespan.end, id);
        continue;
      }
      reserved_.push_back(id);
      for (const MomentSpan& span : problem_.spans_of(id)) {
        if (span.begin != buffer.lifespan.begin) begins_.emplace_back(span.begin, id);  // `assign` takes the first span
        ends_.emplace_back(span.end, id);
      }
    }
  }

  void collect_fixed() {
    for (const auto& [id, offset] : problem_.fixed) {
      ranges_[id] = {offset, offset + problem_.buffers[id].size};
      reserved_.push_back(id);
      for (const MomentSpan& span : problem_.spans_of(id)) {
        begins_.emplace_back(span.begin, id);
        ends_.emplace_back(span.end, id);
      }
    }
  }

  // At each moment, ends come before begins, because spans are half-open.
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

  void assign(PackingId id, Effort& effort) {
    const CompressedProblem::Buffer& buffer = problem_.buffers[id];
    forbidden_.clear();
    if (has_reservations()) collect_forbidden(id, effort);
    const std::int64_t offset = free_.find_offset(buffer.size, buffer.alignment(), forbidden_, effort);
    ranges_[id] = {offset, offset + buffer.size};
    free_.take(ranges_[id]);
    if (is_reserved(id)) index_->insert(id);
  }

  // The bytes of the reservations that are in conflict with this buffer.
  void collect_forbidden(PackingId id, Effort& effort) {
    const CompressedProblem::Buffer& buffer = problem_.buffers[id];
    index_->for_each_overlapping(buffer.lifespan, effort, [&](PackingId other) {
      effort.spend(static_cast<std::int64_t>(problem_.spans_of(id).size() + problem_.spans_of(other).size()));
      if (are_live_together(problem_, id, other)) forbidden_.push_back(ranges_[other]);
    });
    join_touching(forbidden_);
  }

  const CompressedProblem& problem_;
  bool is_solid_;
  FreeList free_;
  IdVector<PackingId, AddressRange> ranges_;
  std::vector<SpanEnd> begins_;  // of spans whose bytes are assigned beforehand; sorted
  std::vector<SpanEnd> ends_;    // of all spans; sorted
  std::size_t next_begin_ = 0;
  std::size_t next_end_ = 0;
  std::vector<PackingId> reserved_;      // fixed buffers, and those with gaps
  std::optional<OverlapIndex> index_;    // of the reserved buffers that have offsets
  std::vector<AddressRange> forbidden_;  // scratch of `assign`
};

}  // namespace

Placements best_fit(const CompressedProblem& problem, Effort& effort) {
  Sweep sweep(problem, SweepKind::with_reservations);
  std::optional<Placements> reserved = sweep.run(effort);
  if (reserved && !sweep.has_reservations()) return *std::move(reserved);
  // It is tried even if the effort sufficed: reservations fragment the arena, and more effort must not give a higher
  // answer.
  std::optional<Placements> solid = Sweep(problem, SweepKind::solid).run(effort);
  LOWTIDE_CHECK(solid.has_value(), "a sweep without reservations always ends");
  return reserved && reserved->height <= solid->height ? *std::move(reserved) : *std::move(solid);
}

}  // namespace lowtide::allocate_internal
