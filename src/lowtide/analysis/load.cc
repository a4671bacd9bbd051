// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/load.h"

#include <algorithm>

namespace lowtide {
namespace {

std::vector<Bytes> running_sum(const std::vector<std::int64_t>& change, std::size_t steps) {
  std::vector<Bytes> profile(steps);
  std::int64_t live = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    live = must_add(live, change[step]);
    profile[step] = Bytes(live);
  }
  return profile;
}

// One past the last step of the graph's own order at which a tensor lives.
std::size_t dense_end(const Graph& graph, TensorId id) {
  if (graph.is_needed_at_end(id)) return graph.nodes().size();
  const auto readers = graph.readers(id);
  return readers.empty() ? graph.tensor(id).producer->index() + 1 : readers.back().index() + 1;
}

}  // namespace

std::vector<Bytes> load_profile(const AliasClasses& aliases, const ChosenKernels& kernels,
                                const std::vector<NodeId>& order, const AliasOptions& options) {
  const std::size_t moments = std::max<std::size_t>(order.size(), 1);
  std::vector<std::int64_t> change(moments + 1, 0);
  for (const AliasClass& alias : aliases.classes) {
    if (!takes_room(alias, options)) continue;
    for_each_part(alias, options.alignment, [&](Bytes size, const Lifespan& lifespan) {
      change[lifespan.begin.index()] += size.count();
      change[order.empty() ? moments : lifespan.end.index()] -= size.count();
    });
  }
  std::vector<Bytes> profile = running_sum(change, moments);
  for (std::size_t step = 0; step < order.size(); ++step) {
    profile[step] += round_up(scratch_of(aliases, kernels, order[step]), options.alignment);
  }
  return profile;
}

Bytes largest(const std::vector<Bytes>& profile) {
  return profile.empty() ? Bytes(0) : *std::max_element(profile.begin(), profile.end());
}

// Recursion over bodies only, bounded by limits::kMaxBodyNesting.
PlainFigures plain_figures(const Graph& graph) {
  PlainFigures figures;
  std::vector<std::int64_t> change(graph.nodes().size() + 1, 0);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.is_captured) continue;
    if (tensor.role == Role::constant) figures.constants += tensor.size;
    if (tensor.role == Role::input) figures.inputs += tensor.size;
    if (!tensor.producer) continue;
    if (tensor.role == Role::output) figures.outputs += tensor.size;
    figures.temporaries_sum += tensor.size;
    change[tensor.producer->index()] += tensor.size.count();
    change[dense_end(graph, id)] -= tensor.size.count();
  }
  std::vector<Bytes> profile = running_sum(change, graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    Bytes inside;
    for (const Body& body : graph.node(id).bodies) {
      const PlainFigures inner = plain_figures(*body.graph);
      figures.temporaries_sum += inner.temporaries_sum;
      figures.constants += inner.constants;
      inside = std::max(inside, inner.load_as_given + inner.inputs);  // an If's branches have none
    }
    profile[id.index()] += inside;
  }
  figures.load_as_given = largest(profile);
  return figures;
}

}  // namespace lowtide
