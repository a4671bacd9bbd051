// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/compact_vector.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/base/string_table.h"

namespace lowtide {

using PackingId = Id<struct PackingTag>;

// Logical time of a packing problem, in any unit. It need not count steps.
using TimeSpan = Interval<std::int64_t>;

// `size` bytes that are live during `lifespan`, except in `gaps`. Problems have millions of buffers, so a buffer takes
// only 56 bytes, and 16 more per gap.
struct PackingBuffer {
  TimeSpan lifespan;                   // not empty
  CompactVector<TimeSpan> gaps;        // within lifespan, sorted, disjoint
  Bytes size;                          // >= 0
  Bytes alignment = Bytes(1);          // of its offset; a power of two
  std::optional<Offset> fixed_offset;  // if present, the buffer must have this offset
  friend bool operator==(const PackingBuffer&, const PackingBuffer&) = default;
};

// Two different buffers, in either order.
struct PackingPair {
  PackingId first;
  PackingId second;
  friend auto operator<=>(const PackingPair&, const PackingPair&) = default;
};

// The offset of `second` is that of `first` plus `delta`. This keeps a view or a slice inside its source, and an
// in-place result at the offset of its operand.
struct PackingColocation {
  PackingId first;
  PackingId second;
  Bytes delta;  // >= 0
  friend bool operator==(const PackingColocation&, const PackingColocation&) = default;
};

// The task: find an offset for each buffer so that two buffers in conflict share no byte and the highest end address
// is as low as possible. It does not depend on a graph.
//
// Two buffers are in conflict if they are live at the same time. If time is only a partial order, `conflicts` names the
// pairs in conflict instead. Two buffers of one group are never in conflict.
//
//   colocations = {x, y, 4}, {y, z, 0}   x, y and z are a group: if one moves, all move. They may share bytes while
//        x  |========|                   several of them are live. A buffer outside the group conflicts with each
//        y      |========|               member while that member is live.
//        z      |===|
struct PackingProblem {
  IdVector<PackingId, PackingBuffer> buffers;
  StringTable<PackingId> names;  // empty, or one per buffer (column "id" of the CSV form)
  std::optional<Bytes> capacity;

  // If present, these pairs are the conflicts, and lifespans and gaps are ignored. A pair may be listed twice.
  std::optional<std::vector<PackingPair>> conflicts = std::nullopt;
  std::vector<PackingColocation> colocations = {};
};

enum class PackingOutcome : std::uint8_t {
  found,  // the offsets are valid, and fit the capacity if there is one
  // No offsets fit. The proof is the load at `witness_time`, the sum of `witness_buffers`, or a search of all
  // possibilities if `is_bound_searched`.
  infeasible,
  not_found,  // the best offsets that were found do not fit the capacity, but others may
};

struct Packing {
  PackingOutcome outcome = PackingOutcome::found;
  IdVector<PackingId, Offset> offsets;       // the best that were found, even if they do not fit
  Bytes height;                              // highest end address of a buffer
  Bytes bound;                               // proven lower bound of the height; at least the largest load
  bool proven_optimal = false;               // height == bound
  std::string strategy;                      // "greedy_by_size"
  std::optional<std::int64_t> witness_time;  // when the load is largest; nullopt if `conflicts` replaces time
  // Buffers of which any two are in conflict, ascending. Present if `conflicts` proves a higher bound than the load
  // does. `verify` adds up their sizes (verify/check_packing.h). Empty for problems with groups, whose bound may depend
  // on parts of buffers.
  std::vector<PackingId> witness_buffers = {};
  bool is_bound_searched = false;  // the bound is above the largest load: a search refuted all lower heights
  std::int64_t decisions = 0;      // of all exact searches
};

}  // namespace lowtide
