// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// Everything wrong with offsets for a packing problem: bytes shared by two that live together, or are in the relation
// that replaces time; a group torn apart; misalignment, below zero, not at the fixed place, above the
// capacity. At most `most` lines, each naming the buffers, the time and the bytes. Empty: right.
// Shares no code with `allocate`. O((n + gaps + pairs) log n + conflicts + members of a group that share bytes).
[[nodiscard]] std::vector<std::string> check_packing(const PackingProblem& problem,
                                                     const IdVector<PackingId, Offset>& offsets,
                                                     std::size_t most = 100);

}  // namespace lowtide
