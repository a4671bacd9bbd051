// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/common/with_bodies.h"

#include <utility>

namespace lowtide::lower_internal {

Result<Rewritten> finish_with_bodies(const Graph& graph, GraphRewriter rewriter,
                                     const std::function<Result<Rewritten>(const Graph& body)>& pass) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const std::vector<Body>& bodies = graph.node(id).bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      const Graph& before = *bodies[at].graph;
      Result<Rewritten> body = pass(before);
      if (!body) return body.error();
      const bool is_changed =
          body->graph.total_nodes() != before.total_nodes() || body->graph.total_tensors() != before.total_tensors();
      if (is_changed) rewriter.replace_body(id, at, *std::move(body));
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace lowtide::lower_internal
