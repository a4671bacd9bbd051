// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/pipeline/parallel/parallel_plan.h"

namespace lowtide::pipeline_internal {

inline constexpr std::size_t kMostDataflowParts = 8192;

// Makes a plan for dataflow (schedule/dataflow.h). It has the steps of the sequential plan in their order, on chains
// that the edges of the graph form. The only waits are these edges. Two buffers, or parts of buffers, share bytes only
// if these edges alone order every use of one before every use of the other. So a runtime that starts each node when
// its inputs are ready may use the offsets as they are. The aliases of the sequential plan are tried, then the same
// without parts, then slices, splits and concats that all copy. The smallest arena is kept; among equals, the fastest
// plan.
//
// Lifespans and the claimed load are those of the list of steps. In other runs more bytes may live at once.
//
// O(parts^2 x chains) and the effort of allocate. A buffer without parts counts as one part. 8,000 parts that are
// nearly all in conflict have 32 million pairs and take 40 s and 1.1 GB.
// Errors: those of dataflow; over_limit for more than kMostDataflowParts buffers and parts.
[[nodiscard]] Result<ParallelPlan> plan_dataflow(const ParallelizeInput& input,
                                                 const IdVector<NodeId, std::int64_t>& costs, const Claims& sequential);

}  // namespace lowtide::pipeline_internal
