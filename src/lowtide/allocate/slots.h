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

// Sharing of whole buffers, for runtimes that cannot place tensors at offsets (renamed tensors, one allocation each).
// Every buffer has a slot. Two buffers in conflict never have the same slot. A slot is as large as its largest buffer.
// A buffer of 0 bytes costs nothing. It is in the first slot, together with any other buffer.
struct SlotAssignment {
  IdVector<PackingId, SlotId> slot;
  IdVector<SlotId, Bytes> sizes;   // largest first
  Bytes total;                     // the sum of the sizes
  Bytes bound;                     // no assignment has a smaller total
  bool proven_optimal = false;     // total == bound
  bool is_bound_searched = false;  // the bound is above what loads prove, because all assignments were tried
  std::string strategy;            // "tightest", "loosest" or "exact"
};

struct SlotOptions {
  std::int64_t effort = 20'000'000;  // work units, as in AllocateOptions
  // When it becomes true, the best assignment so far is returned. The greedy strategies always end. Null: never
  // stopped.
  const std::atomic<bool>* stop = nullptr;
};

// Returns the assignment with the smallest total that the effort finds.
//
// Greedy: buffers are assigned from the largest to the smallest, so that a slot never grows. Each one goes to a slot
// without a conflict, either the smallest one (tightest) or the largest one (loosest). If there is none, it opens a
// new slot of its own size. Exact: tries every slot in the same order of buffers, with a bound on the slots that are
// still needed. Ends early if the total reaches the bound. Bound: if k buffers of at least s bytes are live at one
// moment, then k slots have at least s bytes. So the k-th largest slot has at least the largest such s, and the total
// is at least the sum of these over all k.
//
//   a |=====| 8                 at the moment of a and b: 8 and 4; at that of b and c: 6 and 4
//   b   |=====| 4               two slots of 8 + 4 = 12 bytes: c goes to the slot of a
//   c       |===| 6
//
// Greedy takes O(conflicts), exact exponential time within the effort. Deterministic. Alignments are ignored. If a
// relation replaces time, the bound counts only the largest buffer. Errors: those of `allocate`; invalid, for a fixed
// offset or a colocation, because slots have no offsets; over_limit, if the effort does not suffice for the conflicts.
[[nodiscard]] Result<SlotAssignment> assign_slots(const PackingProblem& problem, const SlotOptions& options = {});

}  // namespace lowtide
