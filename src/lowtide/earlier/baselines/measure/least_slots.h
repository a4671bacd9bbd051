// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"
#include "lowtide/plan/packing.h"

namespace lowtide::baselines_internal {

// Blobs as buffers of a packing problem. Buffers for scratch may follow.
struct Movable {
  PackingProblem problem;
  IdVector<PackingId, BlobId> blobs;
  std::vector<NodeId> scratch;  // the nodes of the buffers behind those of the blobs
};

// Returns the devices of all blobs, each once, in ascending order.
[[nodiscard]] std::vector<std::uint32_t> devices_of(const BlobNet& net);

// Returns the blobs of a device that may share, with lifespans in steps from the first write to the last use.
[[nodiscard]] Movable movable_in_sequence(const BlobNet& net, std::uint32_t device);

// Applies nearest_size_slots to each device. A slot with a single blob keeps the name of the blob.
[[nodiscard]] BlockChoice nearest_size_choice(const BlobNet& net);

struct LeastSlots {
  BlockChoice choice;
  Bytes bytes;  // blocks, and shareable blobs without a block
  Bytes bound;  // a lower bound for `bytes`
};

// Assigns whole blocks along the order with the smallest total that is found. It is exact if the effort suffices
// (allocate/slots.h), and never larger than the baselines for a sequence. Errors: those of assign_slots.
[[nodiscard]] Result<LeastSlots> least_slots(const BlobNet& net, std::int64_t effort);

}  // namespace lowtide::baselines_internal
