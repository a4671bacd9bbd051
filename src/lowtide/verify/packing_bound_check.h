// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// What one moment of a packing problem proves, or some buffers that are all in conflict: a witness that a person can add
// up.
struct PackingBoundCheck {
  bool is_confirmed =
      false;     // no offsets reach less than the claim; false: if the claim is right, not for this witness
  Bytes proven;  // what the witness shows that every height is at least
  Bytes load;    // bytes of `live`; `proven` is more where alignment forces padding
  std::vector<PackingId> live;     // have bytes at the moment, or are named; the largest first, then by id
  std::optional<PackingId> alone;  // `proven` is the end (fixed) or the size of this buffer; the load proves less
  std::optional<PackingPair> free_to_share;  // two that were named and are not in conflict: the sum proves nothing
};

// Recomputes from the raw buffers what `time` proves about the height, and holds the claim against it. Two reasons
// count:
//   - Buffers that live together stand one above the other. Of those whose alignment is at least a power of two A each
//     begins at a multiple of A, so each but the topmost takes its size rounded up to A. Which one is topmost is not
//     known: the one that saves most. Tried for every alignment that occurs; the largest sum counts.
//     Of a group (`together`) the bytes that several have count once, and one of them where sizes are rounded up.
//   - A buffer alone: its end, if it is fixed, else its size, in a group above what stands below it there. All that a
//     moment proves where a relation replaces time. Of the moment, but of any time in a problem with groups or a
//     relation.
// A claim that is not confirmed may rest on a search that no sum repeats.
// Shares no code with `allocate`. O(n + gaps + live x alignments). Require: what check_packing requires of the buffers.
[[nodiscard]] PackingBoundCheck check_packing_bound(const PackingProblem& problem, Bytes claimed, std::int64_t time);

// The same for buffers any two of which must be in conflict, by the relation or by time (PackingProblem): they stand one above the other in every packing, though there may be no moment at which all live.
// Two of one group are never in conflict. Buffers alone count at any time. Nothing is proven by buffers that do not
// exist, or that are named twice. O(n + pairs log pairs + named^2 (log pairs + gaps)).
[[nodiscard]] PackingBoundCheck check_packing_bound(const PackingProblem& problem, Bytes claimed,
                                                    const std::vector<PackingId>& in_conflict);

// The bound of an answer by the witness that it names: the buffers, if there are some, else the moment.
[[nodiscard]] PackingBoundCheck check_packing_bound(const PackingProblem& problem, const Packing& packing);

}  // namespace lowtide
