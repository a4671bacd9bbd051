// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/graph/text.h"
#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/testing/block_formats.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

// Lowers with formats and checks the result with `verify`.
inline Lowered lowered(std::string_view text, LowerOptions options = {}) {
  const Graph graph = graph_of(text);
  options.passes.insert(PassId::formats);
  options.machine = block_formats();
  Result<Lowered> lowered = lower(graph, options);
  if (!lowered) throw std::runtime_error(lowered.error().describe());
  for (const Violation& violation : verify_lowering(graph, lowered->graph, lowered->load))
    ADD_FAILURE() << violation.message;
  return *std::move(lowered);
}

// The nodes with the results that they write: "lowtide::Conv y : f32[1,1,8,8,16]".
inline std::vector<std::string> nodes_of(const Graph& graph) {
  std::vector<std::string> nodes;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Tensor& result = graph.tensor(*graph.node(id).outputs[0]);
    nodes.push_back(full_name(graph.op(id)) + " " + result.name + " : " +
                    print_tensor_type(result.dtype, result.shape));
  }
  return nodes;
}

}  // namespace lowtide::testing
