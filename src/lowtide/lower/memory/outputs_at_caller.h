// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Returns the graph with outputs in memory of the caller. For each entry of Graph::outputs, a new state stands for the
// caller's memory, and the output is the next content of that state. So a plan writes the output into the caller's
// bytes, or copies it there at the end of the run. The new graph has no outputs. Tensors keep their names and ids, and
// the states follow them in the order of the outputs. Their names are those of the outputs with " (caller)" added, as
// often as needed to be unique. Returns nullopt if the graph has no outputs.
//
// Errors: those of GraphBuilder (over_limit). O((nodes + edges) log nodes).
[[nodiscard]] Result<std::optional<Rewritten>> place_outputs_at_caller(const Graph& graph);

}  // namespace lowtide
