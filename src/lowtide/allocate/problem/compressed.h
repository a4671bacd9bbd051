// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// The rank of a time among all times that a problem names. Any 64-bit times become 0, 1, 2 ... in the same order.
// Nothing computes with the times themselves, so times near the ends of the 64-bit range cannot overflow.
//
//   times          -9e18      17    18          9e18
//   moments          0         1     2           3
//   buffer [17, 9e18) becomes [1, 3)
using Moment = std::uint32_t;
using MomentSpan = Interval<Moment>;

// A valid packing problem without groups, in the form that the strategies expect. A buffer cannot conflict if it has no
// bytes, or if it is never active and in no pair. Then it is neither movable nor fixed, and its offset is 0 or the
// fixed one.
struct CompressedProblem {
  struct Buffer {
    MomentSpan lifespan;           // from its first to its last active moment; empty if it has none
    std::uint32_t first_span = 0;  // index into `spans`
    std::uint32_t span_count = 0;  // 1 without gaps; 0 for all buffers if a relation replaces time
    std::int64_t size = 0;
    std::int64_t alignment = 1;
    std::int64_t fixed_offset = 0;  // 0 if none is given
  };

  IdVector<PackingId, Buffer> buffers;
  std::vector<MomentSpan> spans;    // active spans; those of one buffer are sorted, with a gap between neighbours
  std::vector<PackingId> movable;   // with bytes, active or in a pair, without a fixed offset; by id
  std::vector<PackingId> fixed;     // the same with a fixed offset; by id
  std::vector<std::int64_t> times;  // moment -> time, ascending; empty if a relation replaces time
  // The relation that replaces time: sorted, first < second. Empty if time decides.
  std::vector<PackingPair> pairs;

  [[nodiscard]] std::span<const MomentSpan> spans_of(PackingId id) const {
    return {spans.data() + buffers[id].first_span, buffers[id].span_count};
  }
  [[nodiscard]] std::size_t moments() const { return times.size(); }
  // The movable buffers, then the fixed ones.
  [[nodiscard]] std::vector<PackingId> participants() const;
};

// Requires: validate_packing_problem accepts the problem, and it has no colocations. O((n + gaps + pairs) log n).
[[nodiscard]] CompressedProblem compress(const PackingProblem& problem);

// Whether both are active at some moment. O(1) without gaps, otherwise linear in the number of spans.
[[nodiscard]] bool are_live_together(const CompressedProblem& problem, PackingId first, PackingId second);

}  // namespace lowtide::allocate_internal
