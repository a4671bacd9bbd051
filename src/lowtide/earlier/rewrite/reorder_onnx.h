// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/onnxruntime.h"
#include "lowtide/export/onnx_nodes.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// An order of the nodes of an ONNX file, and what ONNX Runtime needs in this and in other orders.
struct OnnxOrder {
  std::string name;                // "as_given", "onnxruntime", or the strategy of Lowtide's plan
  std::vector<std::size_t> nodes;  // positions in the file
  OnnxRuntimeMemory reordered;     // in this order
  OnnxRuntimeMemory given;         // in the order of the file
  OnnxRuntimeMemory usual;         // in the order that ONNX Runtime chooses itself
};

// Chooses, of the order of the file, that of Lowtide's plan and that of ONNX Runtime, the one in which ONNX Runtime has
// the smallest memory pattern, then the fewest live bytes, by its own rules. The first of equals counts, so it is the
// order of the file unless another one is better. Nodes inside bodies keep their order. `graph` was imported from the
// file that has these nodes, and `shapes` are what a session reads there (predict_onnxruntime). Errors: those of
// plan_graph, predict_onnxruntime and complete_order.
[[nodiscard]] Result<OnnxOrder> reorder_onnx(const Graph& graph, const std::vector<OnnxFileNode>& nodes,
                                             const OnnxRuntimeShapes& shapes = {});

}  // namespace lowtide
