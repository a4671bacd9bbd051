// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"

namespace lowtide {

using PackingId = Id<struct PackingTag>;

// Logical time of a packing problem: any 64-bit clock, not only steps.
using TimeSpan = Interval<std::int64_t>;

// One rectangle: `size` bytes during `lifespan`, except in `gaps`.
struct PackingBuffer {
  TimeSpan lifespan;                   // not empty
  std::vector<TimeSpan> gaps;          // inside lifespan, sorted, disjoint: the bytes need not be kept there
  Bytes size;                          // >= 0
  Bytes alignment = Bytes(1);          // of its offset; a power of two
  std::optional<Offset> fixed_offset;  // it must be there
  friend bool operator==(const PackingBuffer&, const PackingBuffer&) = default;
};

// Two different buffers, in either order.
struct PackingPair {
  PackingId first;
  PackingId second;
  friend auto operator<=>(const PackingPair&, const PackingPair&) = default;
};

// `second` lies exactly `delta` bytes above `first`: a view, a slice, a result written over its operand.
struct PackingTogether {
  PackingId first;
  PackingId second;
  Bytes delta;  // >= 0, from offset to offset
  friend bool operator==(const PackingTogether&, const PackingTogether&) = default;
};

// Offsets for buffers such that two that are in conflict share no byte, the highest end being least. Knows no graph.
//
// Two buffers are in conflict if they live at the same time. If time is only a partial order, `conflicts` names the
// pairs in conflict instead. Two buffers of one group are never in conflict.
//
//   together = {x, y, 4}, {y, z, 0}      x, y and z are a group: if one moves, all move. They may share bytes while
//        x  |========|                   they live together. Buffers outside the group conflict with each member
//        y      |========|               while that member is live.
//        z      |===|
struct PackingProblem {
  IdVector<PackingId, PackingBuffer> buffers;
  IdVector<PackingId, std::string> names;  // empty, or one a buffer ("id" of the CSV)
  std::optional<Bytes> capacity;

  // If present, it replaces time: lifespans and gaps are ignored. Duplicates do no harm.
  std::optional<std::vector<PackingPair>> conflicts = std::nullopt;
  std::vector<PackingTogether> together = {};
};

enum class PackingOutcome : std::uint8_t {
  found,       // offsets hold, and fit the capacity if there is one
  infeasible,  // proven: no offsets fit; the load at `witness_time`, or `witness_buffers`, exceed the capacity, or, if
               // `is_bound_searched`, all possibilities were tried
  not_found,   // the best offsets found do not fit the capacity, and no proof that none do
};

struct Packing {
  PackingOutcome outcome = PackingOutcome::found;
  IdVector<PackingId, Offset> offsets;       // the best found, also when it does not fit
  Bytes height;                              // highest end of a buffer
  Bytes bound;                               // proven lower bound of the height: at least the largest load
  bool proven_optimal = false;               // height == bound
  std::string strategy;                      // "greedy_by_size"
  std::optional<std::int64_t> witness_time;  // when the load is largest; nothing where a relation replaces time
  // Where named pairs prove more than the load: buffers any two of which are in conflict, by id. `verify` adds them up
  // (verify/check_packing.h). Not told of problems with groups, whose bound may rest on parts of buffers.
  std::vector<PackingId> witness_buffers = {};
  bool is_bound_searched = false;  // the bound is above what the load proves: a search refuted what is lower
  std::int64_t decisions = 0;      // of that search, and of the searches that found nothing to refute
};

}  // namespace lowtide
