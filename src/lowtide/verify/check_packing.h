// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"
#include "lowtide/plan/region_packing.h"
#include "lowtide/verify/violation.h"

// Checks of answers to packing problems: offsets, regions, slots, and the bounds of offsets and slots. They share data
// types with `allocate` and no code. Each check of an answer returns violations, as `verify` does for plans. An empty
// list means that the answer is correct. Each message names the buffers, the times and the bytes.
namespace lowtide {

// Checks the offsets of a packing problem. Reports two buffers in conflict (by lifespan, or by the relation that
// replaces it) that share bytes; members of a group that are not at their distance; an offset that is misaligned, below
// 0 or not the fixed one; an end above the capacity.
// O((n + gaps + pairs) log n + conflicts + members of a group that share bytes).
[[nodiscard]] std::vector<Violation> check_packing(const PackingProblem& problem,
                                                   const IdVector<PackingId, Offset>& offsets,
                                                   const VerifyOptions& options = {});

// The same, but offsets may end above the capacity, such as those of an answer that does not fit.
[[nodiscard]] std::vector<Violation> check_packing_without_capacity(const PackingProblem& problem,
                                                                    const IdVector<PackingId, Offset>& offsets,
                                                                    const VerifyOptions& options = {});

// Checks a packing over regions. Reports
//   - a region that does not exist or is forbidden, a fixed buffer outside its home region, a group in two regions;
//   - what check_packing finds within each region, at the region's capacity and alignment;
//   - heights and a cost that are not those of the placements, a bound above the cost, a claim of optimality without
//     an equal bound;
//   - a witness of infeasibility whose buffers fit elsewhere, are not in conflict, or whose sum fits.
// If the packing does not fit, an end above a capacity is not reported. Requires: the problem has a region, and its
// pairs and the witness are well formed (plan/region_packing.h). O(regions) times the cost of check_packing, and
// O(buffers^2 x conflicts) for a witness without a time.
[[nodiscard]] std::vector<Violation> check_region_packing(const RegionProblem& problem, const RegionPacking& packing,
                                                          const VerifyOptions& options = {});

// The slots of buffers that share memory only as a whole. It is declared here because `verify` may not include
// `allocate`.
struct SlotClaim {
  IdVector<PackingId, std::uint32_t> slot;  // of each buffer, an index into `sizes`
  std::vector<Bytes> sizes;                 // of each slot
  Bytes total;                              // the sum of `sizes`
};

// Checks slots. Reports a slot that does not exist, is smaller than one of its buffers, or holds two buffers in
// conflict; a total that is not the sum of the sizes. Costs what check_packing costs.
[[nodiscard]] std::vector<Violation> check_slots(const PackingProblem& problem, const SlotClaim& claim,
                                                 const VerifyOptions& options = {});

// What a witness proves about the height of all packings: the buffers of one moment, or buffers that are all in
// conflict. A reader can add it up by hand.
struct PackingBoundCheck {
  bool is_confirmed = false;                 // the witness proves the claim; false means unproven, not wrong
  Bytes proven;                              // by the witness; at least `load`, and more if alignment forces padding
  Bytes load;                                // the bytes of `live`
  std::vector<PackingId> live;               // buffers of the witness, the largest first, equals by id
  std::optional<PackingId> alone;            // set if this buffer's end or size alone proves `proven`, not the load
  std::optional<PackingPair> free_to_share;  // two named buffers that are not in conflict; then nothing is proven
};

// Recomputes what the moment `time` proves about the height, and compares it with the claim. A moment proves a height
// for one of two reasons:
//   - Buffers that live together stand one above another. Consider those whose alignment is at least a power of two A.
//     Each of them begins at a multiple of A, so each except the topmost takes its size rounded up to A. The topmost
//     one is not known, so the one that saves most is assumed. The largest sum over all alignments counts. Bytes that
//     members of a group share count once, and only one member of each group is rounded up.
//   - A single buffer needs its end if it is fixed, otherwise the least offset that its group allows plus its size. In
//     a problem with groups or a relation, buffers of any time count.
// If a relation replaces time, only the second reason applies.
// A claim that is not confirmed may still be true, if a search has proved it.
// Requires: colocations name buffers of the problem. O(n + gaps + live x alignments).
[[nodiscard]] PackingBoundCheck check_packing_bound(const PackingProblem& problem, Bytes claimed, std::int64_t time);

// The same for named buffers any two of which are in conflict, by the relation or by time. They stand one above another
// in every packing, even if there is no moment at which all of them live. Members of one group are never in conflict.
// Buffers that do not exist or are named twice prove nothing. O(n + pairs log pairs + named^2 (log pairs + gaps)).
[[nodiscard]] PackingBoundCheck check_packing_bound(const PackingProblem& problem, Bytes claimed,
                                                    const std::vector<PackingId>& in_conflict);

// Checks the bound of an answer by the witness that it names: the buffers if there are any, otherwise the moment. Costs
// what the overload for that witness costs.
[[nodiscard]] PackingBoundCheck check_packing_bound(const PackingProblem& problem, const Packing& packing);

// What the moments of a packing problem prove about slots.
struct SlotBoundCheck {
  bool is_confirmed = false;  // moments prove the claim; false means unproven, not wrong
  Bytes proven;               // the sum of `least`
  std::vector<Bytes> least;   // the least size of the largest slot, of the second largest, ...
};

// Recomputes what moments prove about the total of slots, and compares it with the claim. If k buffers of at least s
// bytes live at one moment, at least k slots have s bytes or more. So the k-th largest slot has at least s bytes. The
// largest slot has at least the bytes of the largest buffer. If a relation replaces time, the largest buffer alone is
// the bound.
// A claim that is not confirmed may still be true, if a search has proved it.
// O(n log n + n x most buffers that live at once), with gaps counted in n.
[[nodiscard]] SlotBoundCheck check_slot_bound(const PackingProblem& problem, Bytes claimed);

}  // namespace lowtide
