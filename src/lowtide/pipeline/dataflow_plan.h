// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/pipeline/spread.h"

namespace lowtide::detail {

inline constexpr std::size_t kMostDataflowPieces = 8192;

// A plan for dataflow (schedule/dataflow.h): the steps of the sequential plan in their order, on chains that the
// graph's edges make, with no other waits than those edges. Buffers, and parts of buffers, share bytes where every use of
// one happens before every use of the other by these edges alone; so a runtime that starts nodes by counting what they
// depend on may use the offsets as they are. Tried are the aliases of the sequential plan, the same without parts, and
// slices, splits and concats that all copy; the smallest arena is kept, the fastest among equals.
//
// Lifespans and the load that is claimed are those of the list of steps: in other runs more may live at once.
//
// O(pieces^2 x chains) and the effort of allocate, where a piece is a buffer or a part: 8,000 of them, nearly all in
// conflict, are 32 million pairs, 40 s and 1.1 GB. Errors: those of dataflow;
// over_limit, for more than kMostDataflowPieces.
[[nodiscard]] Result<SpreadPlan> dataflow_plan(const SpreadInput& input, const IdVector<NodeId, std::int64_t>& costs);

}  // namespace lowtide::detail
