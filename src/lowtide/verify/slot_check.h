// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// Slots by number, as check_slots wants them: data of `verify`'s own, since it shares none with `allocate`.
struct SlotClaim {
  IdVector<PackingId, std::uint32_t> slot;  // of each buffer
  std::vector<Bytes> sizes;                 // of each slot
  Bytes total;                              // the sum of sizes
};

// Everything wrong with whole-buffer sharing: a slot that does not exist, is smaller than one of its buffers, or has
// two buffers with bytes at one time; a total that is not the sum. At most `most` lines. Empty: right. Costs what
// check_packing costs.
[[nodiscard]] std::vector<std::string> check_slots(const PackingProblem& problem, const SlotClaim& claim,
                                                   std::size_t most = 100);

}  // namespace lowtide
