// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/earlier/baselines/rules/first_fit.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::testing {

// The rules of baselines/sharing_rules.h and baselines/first_fit.h as the originals implement them: they scan all
// slots, all buffers placed before, or all free blocks. They are quadratic, and short enough to compare with the
// originals. The rules in use must give the same results.
[[nodiscard]] IdVector<PackingId, std::uint32_t> plain_nearest_size_slots(const PackingProblem& problem);
[[nodiscard]] IdVector<PackingId, Offset> plain_largest_first_offsets(const PackingProblem& problem);
[[nodiscard]] IdVector<PackingId, Offset> plain_lowest_free_offsets(const PackingProblem& problem,
                                                                    const std::vector<PackingId>& order);
[[nodiscard]] baselines_internal::BucketChoice plain_bucket_offsets(const PackingProblem& problem,
                                                                    const std::vector<PackingId>& order);
[[nodiscard]] Result<baselines_internal::BlockChoice> plain_recycle_in_dag(const baselines_internal::BlobNet& net,
                                                                           const baselines_internal::DagRule& rule);

}  // namespace lowtide::testing
