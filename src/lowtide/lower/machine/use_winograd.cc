// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/use_winograd.h"

#include <string>
#include <utility>

#include "lowtide/graph/lowered.h"

namespace lowtide {
namespace {

bool is_lowered_convolution(const Operator& op) { return op.domain == kOwnDomain && op.type == kConvType; }

}  // namespace

Result<std::optional<Rewritten>> use_winograd(const Graph& graph, const KernelFormats& machine) {
  GraphRewriter rewriter(graph);
  bool is_changed = false;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const std::vector<Body>& bodies = graph.node(id).bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      Result<std::optional<Rewritten>> body = use_winograd(*bodies[at].graph, machine);
      if (!body) return body.error();
      if (!*body) continue;
      rewriter.replace_body(id, at, **std::move(body));
      is_changed = true;
    }
    if (!is_lowered_convolution(graph.op(id)) || !machine.is_faster_with_winograd(graph, id)) continue;
    GraphBuilder::NodeSpec spec = rewriter.node(id);
    spec.attributes.push_back({std::string(kAlgorithmAttribute), std::string(kWinogradAlgorithm)});
    rewriter.replace_node(id, std::move(spec));
    is_changed = true;
  }
  if (!is_changed) return std::optional<Rewritten>();
  Result<Rewritten> rewritten = std::move(rewriter).finish();
  if (!rewritten) return rewritten.error();
  return std::optional(*std::move(rewritten));
}

}  // namespace lowtide
