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

// The rank of a time among all times that a problem names. Any 64-bit clock becomes 0, 1, 2 ...: order is kept, and
// nothing computes with times, so spans near the ends of the 64-bit range cannot overflow.
//
//   times          -9e18      17    18          9e18
//   moments          0         1     2           3
//   buffer [17, 9e18) becomes [1, 3)
using Moment = std::uint32_t;
using MomentSpan = Interval<Moment>;

// A valid packing problem without groups as the strategies want it. Buffers that share bytes with nobody whatever their
// offset (size 0, or no moment and no pair) are in neither list; they go to 0 or to their fixed offset.
struct CompressedProblem {
  struct Buffer {
    MomentSpan hull;               // from the first to the last active moment; if there is none, empty
    std::uint32_t first_part = 0;  // index into `parts`
    std::uint32_t part_count = 0;  // 1 without gaps; 0 for all where a relation replaces time
    std::int64_t size = 0;
    std::int64_t alignment = 1;
    std::int64_t fixed_offset = 0;  // 0 where none is given
  };

  IdVector<PackingId, Buffer> buffers;
  std::vector<MomentSpan> parts;    // active parts, sorted within a buffer, with a gap between neighbours
  std::vector<PackingId> movable;   // size > 0, in a conflict or active alone, no fixed offset; by id
  std::vector<PackingId> fixed;     // the same with a fixed offset; by id
  std::vector<std::int64_t> times;  // moment -> time, ascending; empty where a relation replaces time
  // The relation that replaces time. Empty if time decides. Sorted, first < second.
  std::vector<PackingPair> pairs;

  [[nodiscard]] std::span<const MomentSpan> parts_of(PackingId id) const {
    return {parts.data() + buffers[id].first_part, buffers[id].part_count};
  }
  [[nodiscard]] std::size_t moments() const { return times.size(); }
};

// Require: validate_packing_problem accepts it, and `together` is empty. O((n + gaps + pairs) log n).
[[nodiscard]] CompressedProblem compress(const PackingProblem& problem);

// Whether the two are active at the same moment. O(1) without gaps, else linear in the parts.
[[nodiscard]] bool share_a_moment(const CompressedProblem& problem, PackingId first, PackingId second);

}  // namespace lowtide::allocate_internal
