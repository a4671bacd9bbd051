// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/common/bodies.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace lowtide::lower_internal {

Result<void> rewrite_bodies(const Graph& graph, GraphRewriter& rewriter, const BodyRewrite& rewrite) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const std::vector<Body>& bodies = graph.node(id).bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      Result<std::optional<Rewritten>> body = rewrite(id, bodies[at]);
      if (!body) return body.error();
      if (*body) rewriter.replace_body(id, at, **std::move(body));
    }
  }
  return {};
}

Result<std::optional<Rewritten>> finish_with_bodies(
    const Graph& graph, GraphRewriter rewriter,
    const std::function<Result<std::optional<Rewritten>>(const Graph& body)>& pass) {
  LOWTIDE_RETURN_IF_ERROR(rewrite_bodies(graph, rewriter, [&](NodeId, const Body& body) { return pass(*body.graph); }));
  return std::move(rewriter).finish_if_changed();
}

}  // namespace lowtide::lower_internal
