// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/task.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// What the caller holds in RAM besides the arenas: the inputs and states of the graph. O(tensors).
[[nodiscard]] Bytes caller_bytes(const Graph& graph);

// The part of the budget that is left for the arenas; 0 if the caller's memory alone exceeds it.
[[nodiscard]] std::optional<Bytes> arena_budget(std::optional<Bytes> budget, Bytes caller);

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

// How many bytes a layout needs beyond the target's own capacities and the budget; 0 if it fits. This may be 0 despite
// an overflow: capped_machine assumes that the regions before the last one are full.
[[nodiscard]] Bytes shortfall(const Layout& layout, const Target& target, std::optional<Bytes> budget);

// The same for a layout of a task. It is 0 for a body.
[[nodiscard]] Bytes shortfall_of(const Task& task, const Layout& layout);

// Makes a plan that overflows its last region valid. If it fits after all, the region keeps the target's own capacity.
// Otherwise the plan is one for a machine with more memory, and the region has no capacity.
void relax_last_region(Plan& plan, const Target& target, std::optional<Bytes> budget);

}  // namespace lowtide::pipeline_internal
