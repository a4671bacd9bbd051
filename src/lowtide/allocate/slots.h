// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

using SlotId = Id<struct SlotTag>;

// Whole-buffer sharing, where offsets are not possible (renamed tensors, one allocation each): every buffer has a slot,
// two with bytes that live together never the same one, and a slot is as large as its largest buffer. A buffer of 0
// bytes costs nothing: it is in the first slot, whatever else is there.
struct SlotAssignment {
  IdVector<PackingId, SlotId> slot;
  IdVector<SlotId, Bytes> sizes;   // the largest first
  Bytes total;                     // sum of sizes
  Bytes bound;                     // no assignment has a smaller total
  bool proven_optimal = false;     // total == bound, or all assignments were tried
  bool is_bound_searched = false;  // the bound is above what moments prove: all assignments were tried
  std::string strategy;            // "tightest", "roomiest" or "exact"
};

struct SlotOptions {
  std::int64_t effort = 20'000'000;  // work units, as in AllocateOptions
  // Once it is true, the best so far is returned, at the latest after the greedy ways, which always end. As in
  // AllocateOptions.
  const std::atomic<bool>* stop = nullptr;
};

// The least total that the effort finds.
//
// Greedy: the largest buffer first, so that a slot never grows; it goes to a slot whose buffers it does not meet, the
// smallest such slot (tightest) or the largest (roomiest), else it opens one of its own size.
// Exact: the same order, but every slot is tried, with the bound of what is still to be opened; ends early where the
// total reaches the bound.
// Bound: if k buffers of at least s bytes live at one moment, k slots have at least s bytes. So the k-th largest slot
// is at least as large as the largest s of which that holds, and the total at least the sum of these.
//
//   a |=====| 8                 the moment of a and b: 8, 4;  of b and c: 6, 4
//   b   |=====| 4               two slots, 8 + 4 = 12: c goes to the slot of a
//   c       |===| 6
//
// Greedy O(pairs in conflict); exact exponential, within the effort. Deterministic. Alignment plays no part.
// Errors: those of `allocate`; invalid for a fixed offset or `together`, since slots have no offsets. If a relation
// replaces time, the bound knows of the largest buffer only.
[[nodiscard]] Result<SlotAssignment> assign_slots(const PackingProblem& problem, const SlotOptions& options = {});

}  // namespace lowtide
