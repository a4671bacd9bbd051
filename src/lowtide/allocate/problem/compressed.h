// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/allocate/problem/id_lists.h"
#include "lowtide/allocate/problem/shared_table.h"
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

using SpanListId = Id<struct SpanListTag>;

// A valid packing problem without groups, in the form that the strategies expect. A buffer cannot conflict if it has no
// bytes, or if it is never active and in no pair. Then it is neither movable nor fixed.
//
// Strategies make problems with other movable and fixed buffers from it. All of them share the table of buffers.
struct CompressedProblem {
  struct Buffer {
    MomentSpan lifespan;  // from its first to its last active moment; empty if it has none, or without time
    std::int64_t size = 0;
    SpanListId span_list;  // of its active spans, if it has several
    bool has_several_spans = false;
    std::uint8_t alignment_bits = 0;

    [[nodiscard]] std::int64_t alignment() const { return std::int64_t{1} << alignment_bits; }
  };
  struct FixedBuffer {
    PackingId id;
    std::int64_t offset = 0;
    friend auto operator<=>(const FixedBuffer&, const FixedBuffer&) = default;
  };

  SharedTable<PackingId, Buffer> buffers;
  IdLists<SpanListId, MomentSpan> span_lists;  // each is sorted, with a gap between neighbours
  std::vector<PackingId> movable;              // with bytes, active or in a pair, without a fixed offset; by id
  std::vector<FixedBuffer> fixed;              // the same with a fixed offset; by id
  std::vector<FixedBuffer> idle_fixed;         // other buffers with a fixed offset; by id
  std::uint32_t moment_count = 0;              // 0 if a relation replaces time
  std::vector<std::int64_t> times;             // moment -> time, ascending; empty if a relation replaces time
  // The relation that replaces time: sorted, first < second. Empty if time decides.
  std::vector<PackingPair> pairs;

  // The active spans of a buffer: one without gaps, and none if a relation replaces time.
  [[nodiscard]] std::span<const MomentSpan> spans_of(PackingId id) const {
    const Buffer& buffer = buffers[id];
    if (buffer.has_several_spans) return span_lists[buffer.span_list];
    return {&buffer.lifespan, buffer.lifespan.empty() ? std::size_t{0} : std::size_t{1}};
  }
  [[nodiscard]] std::size_t moments() const { return moment_count; }
  // Whether time decides which buffers are in conflict. False for a problem without buffers.
  [[nodiscard]] bool has_time() const { return moment_count > 0; }
  // The movable buffers, then the fixed ones.
  [[nodiscard]] std::vector<PackingId> participants() const;
  // The fixed offset of each buffer, or 0 if it has none.
  [[nodiscard]] IdVector<PackingId, std::int64_t> least_offsets() const;
  // Frees `times`. Only the proof of a bound needs them.
  void forget_times() { times = std::vector<std::int64_t>(); }
};

// Requires: validate_packing_problem accepts the problem, and it has no colocations. O((n + gaps + pairs) log n).
[[nodiscard]] CompressedProblem compress(const PackingProblem& problem);

// Whether both are active at some moment. O(1) without gaps, otherwise linear in the number of spans.
[[nodiscard]] bool are_live_together(const CompressedProblem& problem, PackingId first, PackingId second);

}  // namespace lowtide::allocate_internal
