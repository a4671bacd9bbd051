// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/analysis/weights.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// What the caller holds in RAM besides the arenas: the inputs and states of the graph. O(tensors).
[[nodiscard]] Bytes caller_bytes(const Graph& graph);

// The part of the budget that is left for the arenas; 0 if the caller's memory alone exceeds it.
[[nodiscard]] std::optional<Bytes> arena_budget(std::optional<Bytes> budget, Bytes caller);

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

// The machine of a task under its budget if the regions before the last one may use `less` bytes less than these
// arenas, and the last region may use what they leave. `arenas`: by region of the machine.
[[nodiscard]] Machine with_smaller_arenas(const Task& task, const std::vector<Bytes>& arenas, Bytes less);

// The capacity of all regions that the worker addresses; nullopt if one of them has none.
[[nodiscard]] std::optional<Bytes> total_capacity(const Machine& machine);

// The last region that the worker addresses. Only this one may exceed its capacity.
[[nodiscard]] RegionId last_region(const Machine& machine);

// By how many bytes a layout exceeds the capacity of that region.
[[nodiscard]] Bytes overflow(const Machine& machine, const Layout& layout);
[[nodiscard]] inline Bytes overflow(const Plan& plan) { return overflow(plan.machine, plan.layout); }

// How many bytes a layout of a task needs beyond the target's own capacities and the budget; 0 if it fits, and for a
// body. This may be 0 despite an overflow: capped_machine assumes that the regions before the last one are full. What
// the weights exceed by themselves (Weights::excess) does not count.
[[nodiscard]] Bytes shortfall_of(const Task& task, const Layout& layout);

// States capacities for which the plan of a task is valid. If it overflows its last region but fits after all, that
// region keeps the target's own capacity, and so does the region of the weights. A region that does not hold what it
// should has no capacity, because the plan is then one for a machine with more memory.
void state_capacities(Plan& plan, const Task& task);

}  // namespace lowtide::pipeline_internal
