// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/order_graph.h"

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/quote.h"
#include "lowtide/pipeline/task/target_kernels.h"
#include "lowtide/pipeline/task/task.h"
#include "lowtide/schedule/choose_order.h"

namespace lowtide {

Result<OrderedGraph> order_graph(const Graph& graph, const Target& target, const OrderOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(pipeline_internal::check_target(target));
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (graph.node(id).bodies.empty()) continue;
    return Error{
        ErrorCode::invalid,
        "node " + quoted(graph.node(id).name) + " has bodies, whose bytes only a complete plan knows; use plan_graph",
        ""};
  }
  const ChosenKernels kernels = pipeline_internal::fastest_kernels(graph, target);
  const AliasOptions aliases{.alignment = pipeline_internal::alignments_of(target).first};
  const ScheduleInput input{graph, kernels, kernels};
  const ScheduleOptions ordering{.order = options.order,
                                 .aliases = aliases,
                                 .effort = options.effort,
                                 .enough = options.enough,
                                 .near_share = options.near_share};
  Result<ChosenOrder> heuristic = choose_order(input, ordering);
  if (!heuristic) return heuristic.error();
  ChosenOrder chosen = tighten_bound(input, aliases, search_for_order(input, ordering, *std::move(heuristic)));
  Schedule& best = chosen.choice.best;
  return OrderedGraph{.order = std::move(best.order),
                      .strategy = std::move(best.strategy),
                      .load_as_given = plain_figures(graph).load_as_given,
                      .load = best.load,
                      .bound = chosen.bound.bytes,
                      .bound_name = std::string(chosen.bound.name),
                      .tried = std::move(chosen.choice.tried)};
}

}  // namespace lowtide
