// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide::lower_internal {

// Rewrites a body of a node. Returns nullopt if the body stays as it is.
using BodyRewrite = std::function<Result<std::optional<Rewritten>>(NodeId node, const Body& body)>;

// Replaces each body of a graph that `rewrite` changes. Errors: those of `rewrite`.
[[nodiscard]] Result<void> rewrite_bodies(const Graph& graph, GraphRewriter& rewriter, const BodyRewrite& rewrite);

// Applies a pass, which knows nothing of the graph around a body, to all bodies, and finishes the rewrite of the graph.
// Returns nullopt if nothing changed. Errors: those of the pass and of GraphRewriter::finish. Recursion only over
// bodies.
[[nodiscard]] Result<std::optional<Rewritten>> finish_with_bodies(
    const Graph& graph, GraphRewriter rewriter,
    const std::function<Result<std::optional<Rewritten>>(const Graph& body)>& pass);

}  // namespace lowtide::lower_internal
