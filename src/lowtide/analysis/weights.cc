// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/weights.h"

#include <algorithm>

namespace lowtide {
namespace {

struct Count {
  Bytes rounded;
  Bytes most_padding;
};

void add_constants(const Graph& graph, Bytes alignment, Count& count) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.role != Role::constant || tensor.is_captured) continue;
    const Bytes rounded = round_up(tensor.size, alignment);
    count.rounded += rounded;
    count.most_padding = std::max(count.most_padding, rounded - tensor.size);
  }
  for (const Node& node : graph.nodes()) {
    for (const Body& body : node.bodies) add_constants(*body.graph, alignment, count);
  }
}

}  // namespace

Bytes Weights::excess() const {
  return region.capacity && bytes > *region.capacity ? bytes - *region.capacity : Bytes(0);
}

std::optional<Bytes> Weights::left() const {
  if (!region.capacity) return std::nullopt;
  return *region.capacity + excess() - bytes;
}

std::optional<Weights> weights_of(const Graph& graph, const Machine& machine) {
  if (!machine.constants) return std::nullopt;
  const Region& region = machine.regions[machine.constants->index()];
  Count count;
  add_constants(graph, region.alignment, count);
  return Weights{.id = *machine.constants, .region = region, .bytes = count.rounded - count.most_padding};
}

}  // namespace lowtide
