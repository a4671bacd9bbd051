// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// What the moments of a packing problem prove about whole-buffer sharing.
struct SlotBoundCheck {
  bool is_confirmed = false;  // no slots have less in total than the claim; false: if the claim is right, not for this
  Bytes proven;               // the sum of `least`
  std::vector<Bytes> least;   // of the largest slot, the second largest, ...: what it has at least
};

// Recomputes from the raw buffers what moments prove, and holds the claim against it. If k buffers of at least s bytes
// live at one moment, k slots have at least s bytes, so the k-th largest slot has. The largest slot has at least the
// bytes of the largest buffer, which is all that is counted where a relation replaces time.
// A claim that is not confirmed may rest on a search that no sum repeats.
// Shares no code with `allocate`. O(n log n + n x most that live at once, with gaps counted in n).
[[nodiscard]] SlotBoundCheck check_slot_bound(const PackingProblem& problem, Bytes claimed);

}  // namespace lowtide
