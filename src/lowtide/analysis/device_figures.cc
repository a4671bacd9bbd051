// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/device_figures.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"

namespace lowtide {
namespace {

// When the memory of a name is live, in steps of the graph's order.
struct NameLife {
  std::optional<NodeId> writer;  // the first one
  std::size_t end = 0;           // one past the last use
  Bytes size;
  bool exists_before = false;
};

NameLife life_of(const Graph& graph, const std::vector<TensorId>& tensors) {
  NameLife life;
  for (TensorId id : tensors) {
    const Tensor& tensor = graph.tensor(id);
    life.size = std::max(life.size, tensor.size);
    if (!tensor.producer) {
      life.exists_before = true;
      continue;
    }
    life.writer = std::min(life.writer.value_or(*tensor.producer), *tensor.producer);
    life.end = std::max(life.end, tensor.producer->index() + 1);
    const auto readers = graph.readers(id);
    if (!readers.empty()) life.end = std::max(life.end, readers.back().index() + 1);
    if (graph.is_needed_at_end(id)) life.end = graph.nodes().size();
  }
  return life;
}

std::vector<std::vector<TensorId>> names_of(const Graph& graph, const std::vector<std::vector<TensorId>>& colocated) {
  std::vector<std::vector<TensorId>> names = colocated;
  Flags<TensorId> is_listed(graph.tensors().size());
  for (const std::vector<TensorId>& list : colocated) {
    for (TensorId id : list) is_listed.set(id);
  }
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (!is_listed.test(id)) names.push_back({id});
  }
  return names;
}

struct OneDevice {
  DeviceFigures figures;
  std::map<std::string, OperatorBytes> operators;
  std::map<std::size_t, std::int64_t> change;  // of the live bytes, by step
};

DeviceFigures finish(std::uint32_t device, OneDevice one) {
  one.figures.device = device;
  std::int64_t live = 0;
  for (const auto& [step, change] : one.change) {
    live += change;
    one.figures.load_as_given = std::max(one.figures.load_as_given, Bytes(live));
  }
  for (auto& [op, row] : one.operators) {
    row.op = op;
    one.figures.operators.push_back(std::move(row));
  }
  std::stable_sort(one.figures.operators.begin(), one.figures.operators.end(),
                   [](const OperatorBytes& a, const OperatorBytes& b) { return a.bytes > b.bytes; });
  return std::move(one.figures);
}

}  // namespace

std::vector<DeviceFigures> device_figures(const Graph& graph, const IdVector<TensorId, std::uint32_t>& devices,
                                          const std::vector<std::vector<TensorId>>& colocated) {
  LOWTIDE_CHECK(devices.size() == graph.tensors().size(), "each tensor has a device");
  std::map<std::uint32_t, OneDevice> all;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (!output) continue;
      OneDevice& one = all[devices[*output]];
      ++one.figures.nodes;
      ++one.operators[full_name(graph.op(id))].nodes;
      break;
    }
  }
  for (const std::vector<TensorId>& name : names_of(graph, colocated)) {
    const NameLife life = life_of(graph, name);
    if (!life.writer || life.exists_before) continue;
    OneDevice& one = all[devices[name.front()]];
    one.figures.written += life.size;
    one.operators[full_name(graph.op(*life.writer))].bytes += life.size;
    one.change[life.writer->index()] += life.size.count();
    one.change[life.end] -= life.size.count();
  }
  std::vector<DeviceFigures> figures;
  for (auto& [device, one] : all) figures.push_back(finish(device, std::move(one)));
  return figures;
}

}  // namespace lowtide
