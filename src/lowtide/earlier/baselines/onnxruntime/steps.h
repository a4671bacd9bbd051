// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/onnxruntime.h"
#include "lowtide/earlier/baselines/onnxruntime/step_types.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

// The order of ONNX Runtime's sequential executor. It is a depth-first search against the edges, which starts at the
// nodes without readers, the last node first. A node comes after everything that it reads. O((nodes + edges) log).
[[nodiscard]] std::vector<NodeId> runtime_order(const Graph& graph);

// The steps of the sequential executor in this order, or in bodies in runtime_order(). HardSwish has no kernel and
// becomes HardSigmoid and Mul. Of the bodies of a node, the one with the largest peak runs. The outputs of an If are
// written by its body, so the body does not allocate them. Shapes in bodies are taken to be those of the graph.
// Errors: over_limit, if tensors and scratch have more than limits::kMaxTotalBytes / 16 bytes.
[[nodiscard]] Result<RuntimeSteps> runtime_steps(const Graph& graph, const std::vector<NodeId>& order,
                                                 const OnnxRuntimeShapes& shapes = {});

}  // namespace lowtide::baselines_internal
