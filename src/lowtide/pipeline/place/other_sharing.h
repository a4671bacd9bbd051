// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::pipeline_internal {

// Returns the slices, splits and concats that are aliases, in the order of the schedule. The tensors that they join
// have fixed distances, which may leave free ranges between buffers.
[[nodiscard]] std::vector<NodeId> partial_aliases(const Graph& graph, const Schedule& schedule);

// Returns other options for sharing, to try if the arena of a plan exceeds its load:
//   - buffers without parts, if `options` permits parts;
//   - every slice, split and concat computes its outputs and shares nothing.
// Returns none if no slice, split or concat is an alias.
[[nodiscard]] std::vector<AliasOptions> other_ways(const Graph& graph, const Schedule& schedule,
                                                   const AliasOptions& options);

// Returns the options with sizes rounded up to the finest alignment of all regions, for plans that do not fit
// otherwise. Offsets are still multiples of the alignment of their region. Returns nullopt if no region has a finer
// alignment than the first. Buffers have no parts then, because parts begin at multiples of every alignment.
[[nodiscard]] std::optional<AliasOptions> with_finest_alignment(AliasOptions options);

// Returns the schedule with the same order. Decides again under `options` which tensors share bytes, and updates the
// load.
[[nodiscard]] Schedule share_again(const Graph& graph, const ChosenKernels& kernels, Schedule schedule,
                                   const AliasOptions& options);

}  // namespace lowtide::pipeline_internal
