// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// Refuses what PackingBuffer does not allow (invalid) and what could overflow later (over_limit).
// Ensures, for everything behind the door:
//   - lifespans are not empty; gaps lie inside, sorted and disjoint;
//   - alignments are powers of two <= limits::kMaxAlignment;
//   - the sum over all buffers of size + alignment - 1, and every fixed end, is <= limits::kMaxTotalBytes, so any stack of
//     buffers on top of fixed ones ends below 2^63: plain 64-bit arithmetic on addresses cannot wrap;
//   - fixed offsets are >= 0, aligned, and no two fixed buffers share a byte at a moment when both are active.
// O((n + gaps) log n).
[[nodiscard]] Result<void> validate_packing_problem(const PackingProblem& problem);

// "buffer 'conv1'", or "buffer 12" where the problem has no names.
[[nodiscard]] std::string describe_buffer(const PackingProblem& problem, PackingId buffer);

}  // namespace lowtide
