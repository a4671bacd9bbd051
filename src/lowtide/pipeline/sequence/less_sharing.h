// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/pipeline/place/place_schedule.h"
#include "lowtide/pipeline/sequence/kernel_choice.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// Plans a graph with slices, splits or concats again: first without parts, then without views, then without results in
// place. A plan that shares less is also a plan that may share more, and it may be smaller. The first reason is that
// the rules that choose an order and its sharing are heuristics. The second is that buffers without parts often pack
// better. Returns the smallest plan, and `known` if no other is smaller.
// A plan is left out once its bound or the load of its order is not below the smallest arena so far. Nothing is planned
// if that arena meets `bound`, if the graph has more than kMostNodesOfLessSharing nodes, or if the target has several
// regions and `known` fits.
// Errors: those of place_schedule. Cost: at most that of three plans, each with a tenth of the effort for its order.
[[nodiscard]] Result<PlacedSchedule> with_less_sharing(const Task& task, const KernelChoice& choice, Bytes bound,
                                                       PlacedSchedule known);

inline constexpr std::size_t kMostNodesOfLessSharing = 2'000;

}  // namespace lowtide::pipeline_internal
