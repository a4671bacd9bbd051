// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/inspection.h"

#include <algorithm>
#include <map>

#include "lowtide/analysis/as_given.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

struct GraphBounds {
  LoadBound load;
  Bytes working_set;
};

// While a node runs, its bodies need at least their own bound. That is scratch of the node, which no plan can avoid.
// Recursion over bodies only, bounded by limits::kMaxBodyNesting.
GraphBounds bounds_of(const Graph& graph, const Target& target, bool is_body) {
  const RegionId first = addressable_regions(target.machine, WorkerId(0)).front();
  const Bytes alignment = target.machine.regions[first.index()].alignment;
  ChosenKernels kernels;
  kernels.reserve(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    Kernel kernel = target.catalogue->kernels(graph, id).front();
    Bytes inside;
    for (const Body& body : graph.node(id).bodies) {
      inside = std::max(inside, bounds_of(*body.graph, target, true).load.bytes);
    }
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
  return {live_set_bound(graph, kernels, order, profile, options), working_set_bound(graph, kernels, options).bytes};
}

void count_operators(const Graph& graph, std::map<std::string, OperatorBytes>& counts) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Operator& op = graph.op(id);
    OperatorBytes& count = counts[op.domain.empty() ? op.type : op.domain + "::" + op.type];
    ++count.nodes;
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) count.outputs += graph.tensor(*output).size;
    }
    for (const Body& body : graph.node(id).bodies) count_operators(*body.graph, counts);
  }
}

std::vector<OperatorBytes> operators_by_bytes(const Graph& graph) {
  std::map<std::string, OperatorBytes> counts;
  count_operators(graph, counts);
  std::vector<OperatorBytes> sorted;
  for (auto& [name, count] : counts) {
    count.op = name;
    sorted.push_back(std::move(count));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const OperatorBytes& a, const OperatorBytes& b) { return a.outputs > b.outputs; });
  return sorted;
}

}  // namespace

Inspection inspect_graph(const Graph& graph, const Target& target) {
  LOWTIDE_CHECK(!target.machine.regions.empty() && !target.machine.workers.empty() && target.catalogue != nullptr,
                "a target has a region, a worker and a catalogue");
  const GraphBounds bounds = bounds_of(graph, target, false);
  return {.plain = plain_figures(graph),
          .working_set = bounds.working_set,
          .bound = bounds.load,
          .operators = operators_by_bytes(graph),
          .as_given = plan_as_given(graph),
          .labels = labels_of(graph)};
}

}  // namespace lowtide
