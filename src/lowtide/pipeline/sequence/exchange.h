// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// Whether a plan exceeds the target's capacities or the budget.
[[nodiscard]] bool exceeds(const Task& task, const Layout& layout);

// The bound that holds for all kernels: that of `lightest` if there is one, because its search counted the least that
// each node needs. Otherwise the live-set bound. O(nodes + edges), plus the effort of live_set_bound.
[[nodiscard]] LoadBound bound_for_all_kernels(const Task& task, const Alternatives& plans);

// Looks for a plan that fits and is faster than `lightest`. Requires: `lightest` fits, and `fastest` does not. Tries
// the orders of both. In each order, every node starts with its fastest kernel. While a step is above the limit, its
// node gets the fastest kernel whose KernelOption::need is lower by the excess, otherwise the one with the least need.
// Scratch counts at its own step only, so if kernels differ only in scratch, no other choice is faster in this order.
// If they differ in what they write in place, the needs are estimates, and a faster choice may be missed. If the arena
// is still above the limit, the limit for the load is reduced by the difference, at most kMostReductions times.
// Returns nullopt if neither order gives such a plan. Errors: those of allocate_regions.
// O(kMostReductions x (nodes + edges) log nodes) per exchange of a node, and the effort of allocate.
[[nodiscard]] Result<std::optional<Sequence>> exchange_kernels(const Task& task, const Alternatives& plans);

// The same with a limit for the load alone, in the order of `given`. The arena may be above the limit.
[[nodiscard]] Result<std::optional<Sequence>> exchange_down_to(const Task& task, const Alternatives& plans,
                                                               const Sequence& given, Bytes limit);

inline constexpr int kMostReductions = 8;

}  // namespace lowtide::pipeline_internal
