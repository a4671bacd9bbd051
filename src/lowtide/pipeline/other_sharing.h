// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

// Slices, splits and concats that are aliases, in the order of the schedule: what they share cannot move apart, and
// that is what leaves gaps between offsets.
[[nodiscard]] std::vector<NodeId> partial_aliases(const Graph& graph, const Schedule& schedule);

// Other ways to share for offsets that leave a gap: whole buffers, and none in part. None if no tensors share a part.
[[nodiscard]] std::vector<AliasOptions> other_ways(const Graph& graph, const Schedule& schedule,
                                                   const AliasOptions& options);

// The same order, with its bytes shared again.
[[nodiscard]] Schedule shared_anew(const Graph& graph, const ChosenKernels& kernels, Schedule schedule,
                                   const AliasOptions& options);

}  // namespace lowtide::pipeline_internal
