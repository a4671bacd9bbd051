// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/checked.h"
#include "lowtide/report/peak.h"

namespace lowtide {
namespace {

ShownNode shown(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  return {graph.node(id).name, op.domain.empty() ? op.type : op.domain + "::" + op.type};
}

struct Inside {
  Bytes load;
  const Body* body = nullptr;
};

// The body that needs most while its node runs. Its inputs count, since nobody else holds them (an If's have none).
Inside largest_body(const Graph& graph, NodeId id) {
  Inside largest;
  for (const Body& body : graph.node(id).bodies) {
    const PlainFigures figures = plain_figures(*body.graph);
    const Bytes load = figures.load_as_given + figures.inputs;
    if (largest.body == nullptr || load > largest.load) largest = {load, &body};
  }
  return largest;
}

Interval<std::int64_t> life_of(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  const auto begin = static_cast<std::int64_t>(tensor.producer->index());
  if (tensor.role == Role::output || tensor.is_next_state)
    return {begin, static_cast<std::int64_t>(graph.nodes().size())};
  const auto readers = graph.readers(id);
  return {begin, (readers.empty() ? begin : static_cast<std::int64_t>(readers.back().index())) + 1};
}

// Step of the largest load, the first of equals.
std::size_t peak_step(const Graph& graph) {
  std::vector<std::int64_t> change(graph.nodes().size() + 1, 0);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (!graph.tensor(id).producer) continue;
    const Interval<std::int64_t> life = life_of(graph, id);
    change[static_cast<std::size_t>(life.begin)] += graph.tensor(id).size.count();
    change[static_cast<std::size_t>(life.end)] -= graph.tensor(id).size.count();
  }
  std::size_t best = 0;
  Bytes best_load;
  std::int64_t live = 0;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    live = must_add(live, change[id.index()]);
    const Bytes load = Bytes(live) + largest_body(graph, id).load;
    if (load > best_load) {
      best = id.index();
      best_load = load;
    }
  }
  return best;
}

PeakHolder holder_of(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  const bool is_output = tensor.role == Role::output;
  PeakHolder holder{.kind = is_output ? BufferKind::output : BufferKind::temporary,
                    .size = tensor.size,
                    .tensor = tensor.name,
                    .dtype = tensor.dtype,
                    .shape = tensor.shape,
                    .steps = life_of(graph, id),
                    .producer = shown(graph, *tensor.producer)};
  if (!is_output && !graph.readers(id).empty()) holder.last_reader = shown(graph, graph.readers(id).back());
  return holder;
}

Peak peak_of_level(const Graph& graph, Inside& inside) {
  Peak peak;
  peak.steps = static_cast<std::int64_t>(graph.nodes().size());
  if (peak.steps == 0) return peak;
  const NodeId node(static_cast<std::uint32_t>(peak_step(graph)));
  peak.step = node.value();
  peak.node = shown(graph, node);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).producer && life_of(graph, id).contains(peak.step))
      peak.holders.push_back(holder_of(graph, id));
  }
  inside = largest_body(graph, node);
  if (inside.load > Bytes(0)) {
    peak.holders.push_back(
        {.kind = BufferKind::scratch, .size = inside.load, .steps = {peak.step, peak.step + 1}, .producer = peak.node});
  }
  for (const PeakHolder& holder : peak.holders) peak.load += holder.size;
  std::stable_sort(peak.holders.begin(), peak.holders.end(),
                   [](const PeakHolder& a, const PeakHolder& b) { return a.size > b.size; });
  return peak;
}

}  // namespace

std::vector<Peak> peak_as_given(const Graph& graph) {
  std::vector<Peak> levels;
  std::string name;
  for (const Graph* level = &graph; level != nullptr;) {
    Inside inside;
    levels.push_back(peak_of_level(*level, inside));
    levels.back().inside = name;
    level = nullptr;
    if (inside.load > Bytes(0)) {
      level = inside.body->graph.get();
      name = inside.body->name;
    }
  }
  return levels;
}

}  // namespace lowtide
