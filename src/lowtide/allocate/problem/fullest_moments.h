// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <vector>

#include "lowtide/allocate/problem/clique_id.h"
#include "lowtide/allocate/problem/compressed.h"

namespace lowtide::allocate_internal {

// The moments with the largest sets of active buffers: some span begins there, and the next end comes before the next
// begin. The set of any other moment is a part of the set of one of these. Sorted. O(spans + moments).
[[nodiscard]] std::vector<Moment> fullest_moments(const CompressedProblem& problem);

// With one clique per fullest moment, in their order: for each moment, the first clique at or after it. A span [begin,
// end) of moments then has the cliques from that of `begin` up to that of `end`.
[[nodiscard]] std::vector<CliqueId> first_clique_from(const std::vector<Moment>& fullest, std::size_t moments);

}  // namespace lowtide::allocate_internal
