// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Returns the graph with inputs that the caller writes into the arena. The first node, `Inputs` of domain "lowtide",
// has all inputs as its outputs and stands for the caller. All other nodes run after it. So all inputs are live before
// the first operator runs. After the last reader of an input, later tensors may use its bytes. The new graph has no
// inputs itself. Tensors keep their names and ids. Returns nullopt if the graph has no inputs.
//
// Errors: those of GraphBuilder (over_limit). O((nodes + edges) log nodes).
[[nodiscard]] Result<std::optional<Rewritten>> place_inputs_in_arena(const Graph& graph);

}  // namespace lowtide
