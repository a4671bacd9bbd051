// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct NetOfGraphOptions {
  // For compare_nets. Each operator has two more arguments: "types", with the element types and extents of its operands
  // and results, and "repeats", which is 1 if each run of it gives the same results. Operators of ONNX have their type,
  // and "caffe2.unsized" stays.
  bool for_comparison = false;
  bool with_updates = false;  // an operator "(next state)" for each update of a state; only for a comparison
};

// Returns a graph as a net: each node is an operator, and each tensor a blob of its own name. Operators of the domains
// "caffe2" and "caffe2.unsized" have their type. Others have no meaning in Caffe2, and have their domain before it:
// "onnx::Conv" or "tensorflow::Conv2D". Bodies are nets inside operators. Their captured tensors have the names of the
// outer graph, and their other tensors begin with the name of the body and a slash. Sizes and the content of constants
// are lost. External inputs are the inputs, constants and states of the graph, and external outputs its outputs.
// O(size of the graph).
[[nodiscard]] ProtoMessage net_of_graph(const Graph& graph, const NetOfGraphOptions& options = {});

}  // namespace lowtide
