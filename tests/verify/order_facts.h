// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "lowtide/verify/check_bound.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

// The scratch and the in-place pairs of the dense kernels.
inline OrderFacts dense_facts(const Graph& graph, Bytes alignment = Bytes(1)) {
  OrderFacts facts{.alignment = alignment};
  const ChosenKernels kernels = dense_kernels(graph);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    facts.scratch.push_back(kernels[id].scratch);
    std::vector<std::pair<TensorId, TensorId>> pairs;
    for (const auto& [input, output] : kernels[id].in_place) {
      pairs.emplace_back(*graph.node(id).inputs[static_cast<std::size_t>(input)],
                         *graph.node(id).outputs[static_cast<std::size_t>(output)]);
    }
    facts.in_place.push_back(std::move(pairs));
  }
  return facts;
}

}  // namespace lowtide::testing
