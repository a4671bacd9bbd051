// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/use_winograd.h"

#include <string>
#include <utility>

#include "lowtide/graph/lowered.h"
#include "lowtide/lower/common/bodies.h"

namespace lowtide {
namespace {

bool is_lowered_convolution(const Operator& op) { return op.domain == kOwnDomain && op.type == kConvType; }

}  // namespace

Result<std::optional<Rewritten>> use_winograd(const Graph& graph, const KernelFormats& machine) {
  GraphRewriter rewriter(graph);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (!is_lowered_convolution(graph.op(id)) || !machine.is_faster_with_winograd(graph, id)) continue;
    GraphBuilder::NodeSpec spec = rewriter.node(id);
    spec.attributes.push_back({std::string(kAlgorithmAttribute), std::string(kWinogradAlgorithm)});
    rewriter.replace_node(id, std::move(spec));
  }
  return lower_internal::finish_with_bodies(graph, std::move(rewriter),
                                            [&](const Graph& body) { return use_winograd(body, machine); });
}

}  // namespace lowtide
