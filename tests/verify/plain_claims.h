// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

// The figures that a plan claims. Each is computed from every buffer or tensor at every step: O(steps x buffers).
namespace lowtide::testing {

[[nodiscard]] std::vector<Bytes> plain_arenas(const Plan& plan);
[[nodiscard]] Bytes plain_load(const Plan& plan);
// The same, but with less scratch for steps with bodies. The scratch is reduced by the excess of the arena of the
// largest body over its largest bound for plans of the scope.
[[nodiscard]] Bytes plain_proven_load(const Plan& plan, BoundScope scope);
// The smallest scope that the plan and the plans of its bodies are in.
[[nodiscard]] BoundScope plain_scope(const Plan& plan);
[[nodiscard]] Bytes plain_load_as_given(const Graph& graph);

}  // namespace lowtide::testing
