// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/analysis/weights.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// What the caller holds in RAM besides the arenas: the inputs and states of the graph. O(tensors).
[[nodiscard]] Bytes caller_bytes(const Graph& graph);

// The part of the budget that is left for the arenas; 0 if the caller's memory alone exceeds it.
[[nodiscard]] std::optional<Bytes> arena_budget(std::optional<Bytes> budget, Bytes caller);

// Whether weights of at least one byte lie in a region after its arena.
[[nodiscard]] bool follows_arena(const std::optional<Weights>& weights, RegionId region);

// What the weights leave of a region for its arena; nullopt if the region has no capacity.
[[nodiscard]] std::optional<Bytes> capacity_for_arena(const Machine& machine, RegionId region,
                                                      const std::optional<Weights>& weights);

// The machine with these capacities, rounded down to the alignment where weights follow the arena.
[[nodiscard]] Machine without_weights(Machine machine, const std::optional<Weights>& weights);

// By how many bytes without_weights rounds a capacity down.
[[nodiscard]] Bytes rounded_down(const std::optional<Weights>& weights);

// The machine under a budget for all arenas together: each region that holds buffers may use what the regions before it
// leave of the budget.
[[nodiscard]] Machine capped_machine(Machine machine, std::optional<Bytes> budget);

// The capacity of all regions that the worker addresses; nullopt if one of them has none.
[[nodiscard]] std::optional<Bytes> total_capacity(const Machine& machine);

// The last region that the worker addresses. Only this one may exceed its capacity.
[[nodiscard]] RegionId last_region(const Machine& machine);

// By how many bytes a layout exceeds the capacity of that region.
[[nodiscard]] Bytes overflow(const Machine& machine, const Layout& layout);
[[nodiscard]] inline Bytes overflow(const Plan& plan) { return overflow(plan.machine, plan.layout); }

}  // namespace lowtide::pipeline_internal
