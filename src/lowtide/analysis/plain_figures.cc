// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/plain_figures.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lowtide {
namespace {

// One past the last step at which a tensor is live, in the graph's own order.
std::size_t dense_end(const Graph& graph, TensorId id) {
  if (graph.is_needed_at_end(id)) return graph.nodes().size();
  const auto readers = graph.readers(id);
  return readers.empty() ? graph.tensor(id).producer->index() + 1 : readers.back().index() + 1;
}

}  // namespace

// Recurses over bodies only, whose nesting is at most limits::kMaxBodyNesting.
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
  std::vector<Bytes> profile(graph.nodes().size());
  Bytes live;
  for (std::size_t step = 0; step < profile.size(); ++step) profile[step] = live += Bytes(change[step]);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    Bytes inside;
    for (const Body& body : graph.node(id).bodies) {
      const PlainFigures inner = plain_figures(*body.graph);
      figures.temporaries_sum += inner.temporaries_sum;
      figures.constants += inner.constants;
      inside = std::max(inside, inner.load_as_given + inner.inputs);  // 0 for the branches of an If
    }
    profile[id.index()] += inside;
  }
  for (Bytes load : profile) figures.load_as_given = std::max(figures.load_as_given, load);
  return figures;
}

}  // namespace lowtide
