// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/order_graph.h"

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/quote.h"
#include "lowtide/pipeline/choose_kernels.h"
#include "lowtide/pipeline/choose_order.h"

namespace lowtide {

Result<OrderedGraph> order_graph(const Graph& graph, const Target& target, const OrderOptions& options) {
  if (target.machine.regions.empty() || target.machine.workers.empty() || target.catalogue == nullptr) {
    return Error{ErrorCode::invalid, "a target has at least one region, one worker and a catalogue", ""};
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (graph.node(id).bodies.empty()) continue;
    return Error{ErrorCode::invalid,
                 "node " + quoted(graph.node(id).name) + " has bodies, whose bytes only a whole plan knows", ""};
  }
  const ChosenKernels kernels = detail::choose_kernels(graph, target);
  const AliasOptions aliases{.alignment = detail::alignments_of(target).first};
  detail::Passes passes;
  Result<detail::ChosenOrder> chosen = detail::choose_order(
      graph, kernels, kernels, {.order = options.order, .aliases = aliases, .effort = options.effort}, passes);
  if (!chosen) return chosen.error();
  Schedule& best = chosen->schedule;
  return OrderedGraph{.order = std::move(best.order),
                      .strategy = std::move(best.strategy),
                      .load_as_given = plain_figures(graph).load_as_given,
                      .load = best.load,
                      .bound = chosen->bound.bytes,
                      .bound_name = std::string(chosen->bound.name),
                      .tried = std::move(best.tried)};
}

}  // namespace lowtide
