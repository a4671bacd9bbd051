// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/fuse_epilogues.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/graph/epilogue.h"
#include "lowtide/lower/common/bodies.h"
#include "lowtide/lower/common/waits.h"

namespace lowtide {
namespace {

// Whether no operand of a chain is computed after the product, in the order as given.
bool comes_last(const Graph& graph, NodeId product, NodeId chain) {
  return std::ranges::all_of(graph.reads(chain), [&](TensorId read) {
    const std::optional<NodeId> producer = graph.tensor(read).producer;
    return !producer || *producer <= product;
  });
}

// The only reader of a product's result, if it may become the epilogue.
std::optional<NodeId> reader_of(const Graph& graph, NodeId product, const Flags<NodeId>& has_waits) {
  if (has_waits.test(product) || !may_have_epilogue(graph, product)) return std::nullopt;
  const TensorId result = *graph.node(product).outputs[0];
  const std::span<const NodeId> readers = graph.readers(result);
  if (readers.size() != 1 || graph.is_needed_at_end(result) || has_waits.test(readers[0])) return std::nullopt;
  return comes_last(graph, product, readers[0]) ? std::optional(readers[0]) : std::nullopt;
}

}  // namespace

Result<std::optional<Rewritten>> fuse_epilogues(const Graph& graph, const KernelFormats& machine) {
  GraphRewriter rewriter(graph);
  const Flags<NodeId> has_waits = lower_internal::nodes_with_waits(graph);
  for (NodeId product : all_ids<NodeId>(graph.nodes().size())) {
    const std::optional<NodeId> chain = reader_of(graph, product, has_waits);
    if (!chain) continue;
    const std::optional<EpilogueParts> parts = epilogue_parts(graph, product, *chain);
    if (!parts || !machine.can_follow(graph, product, *parts)) continue;
    rewriter.replace_node(product, with_epilogue(graph, product, *chain, *parts));
    rewriter.merge_node(*chain, product);
  }
  return lower_internal::finish_with_bodies(graph, std::move(rewriter),
                                            [&](const Graph& body) { return fuse_epilogues(body, machine); });
}

}  // namespace lowtide
