// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/baselines/blobs.h"
#include "lowtide/baselines/sharing_rules.h"
#include "lowtide/plan/packing.h"

namespace lowtide::baselines_internal {

// Blobs as rectangles in time.
struct Movable {
  PackingProblem problem;
  IdVector<PackingId, BlobId> blobs;
};

// Each once, ascending.
[[nodiscard]] std::vector<std::uint32_t> devices_of(const BlobNet& net);

// Those of a device that are not kept, in steps, from the first write to the last use.
[[nodiscard]] Movable movable_in_sequence(const BlobNet& net, std::uint32_t device);

// The slots of nearest_size_slots, device by device; one that holds a single blob keeps its name.
[[nodiscard]] BlockChoice nearest_size_choice(const BlobNet& net);

struct LeastSlots {
  BlockChoice choice;
  Bytes bytes;  // blocks, and blobs not kept that have none
  Bytes bound;  // of these
};

// Whole blocks along the order, the least total known: exact where the effort suffices (allocate/slots.h), and never
// above what the baselines for a sequence find. Errors: those of assign_slots.
[[nodiscard]] Result<LeastSlots> least_slots(const BlobNet& net, std::int64_t effort);

}  // namespace lowtide::baselines_internal
