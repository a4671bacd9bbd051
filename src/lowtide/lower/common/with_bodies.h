// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "lowtide/graph/rewrite.h"

namespace lowtide::lower_internal {

// Applies a pass, which adds or removes a node or a tensor if it changes anything, to the bodies of a graph, and
// finishes the rewrite of the graph. Errors: those of the pass and of GraphRewriter::finish. Recursion only over
// bodies.
[[nodiscard]] Result<Rewritten> finish_with_bodies(const Graph& graph, GraphRewriter rewriter,
                                                   const std::function<Result<Rewritten>(const Graph& body)>& pass);

}  // namespace lowtide::lower_internal
