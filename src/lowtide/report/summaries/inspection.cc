// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/inspection.h"

#include <algorithm>

#include "lowtide/analysis/as_given.h"
#include "lowtide/analysis/view_table.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

struct GraphBounds {
  LoadBound load;
  Bytes working_set;
};

// While a node runs, its bodies need at least their own bound. That is scratch of the node, which no plan can avoid.
// A node that may be an alias needs no scratch.
// Recursion over bodies only, bounded by limits::kMaxBodyNesting.
GraphBounds bounds_of(const Graph& graph, const Target& target, bool is_body) {
  const RegionId first = writable_regions(target.machine, WorkerId(0)).front();
  const Bytes alignment = target.machine.regions[first.index()].alignment;
  ChosenKernels kernels;
  kernels.reserve(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    Kernel kernel = least_of(target.catalogue->kernels(graph, id));
    Bytes inside;
    for (const Body& body : graph.node(id).bodies) {
      inside = std::max(inside, bounds_of(*body.graph, target, true).load.bytes);
    }
    if (may_be_alias(graph, id, kernel)) kernel.scratch = Bytes(0);
    kernel.scratch += inside;
    kernels.push_back(std::move(kernel));
  }
  std::vector<NodeId> order;
  order.reserve(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) order.push_back(id);

  const AliasOptions aliases{.alignment = alignment, .inputs_live_throughout = is_body};
  const BoundOptions options{.alignment = alignment, .inputs_live_throughout = is_body};
  const std::vector<Bytes> profile =
      load_profile(alias_classes(graph, kernels, order, aliases), kernels, order, aliases);
  return {live_set_bound(graph, kernels, order, profile, options),
          working_set_bound(graph, kernels, BoundScope::run_once, options).bytes};
}

GraphFigures figures_by_bytes(const Graph& graph, const Target& target) {
  GraphFigures figures = graph_figures(graph, target);
  std::stable_sort(
      figures.operators.begin(), figures.operators.end(),
      [](const OperatorTotals& a, const OperatorTotals& b) { return a.totals.written.sum > b.totals.written.sum; });
  return figures;
}

}  // namespace

Inspection inspect_graph(const Graph& graph, const Target& target) {
  LOWTIDE_CHECK(!target.machine.workers.empty() && target.catalogue != nullptr,
                "a target has a worker and a catalogue");
  LOWTIDE_CHECK(!writable_regions(target.machine, WorkerId(0)).empty(), "the first worker can write a region");
  const GraphBounds bounds = bounds_of(graph, target, false);
  return {.plain = plain_figures(graph),
          .working_set = bounds.working_set,
          .bound = bounds.load,
          .figures = figures_by_bytes(graph, target),
          .as_given = plan_as_given(graph),
          .labels = labels_of(graph),
          .weights = weights_of(graph, target.machine)};
}

}  // namespace lowtide
