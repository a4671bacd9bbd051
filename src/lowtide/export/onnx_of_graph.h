// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct OnnxOfGraph {
  std::string bytes;              // of the file
  std::vector<std::string> lost;  // what the model does not have: "control inputs"
};

// Turns any graph into an ONNX model for inspection: nodes with their operators, attributes and bodies, and the type of
// every tensor.
//
//   - Domains stay as they are. Operators of ONNX get the version that fits all of them: at most 21, or else a later
//     one. Other domains get version 1.
//   - Constants whose integers the graph knows are initializers. Others have no content, and become inputs of the
//     model, as states do; those of bodies as well. A body that returns such a tensor has an Identity for it.
//   - Names of tensors stay, unless they are not UTF-8, or a body has a name of the graph around it.
//   - An extent that is an upper bound is the symbol "<=8".
//
// Errors: unsupported (a build without ONNX); over_limit (limits::kMaxFileBytes). O(size of the graph x versions of
// ONNX, log). Recursion only over bodies.
[[nodiscard]] Result<OnnxOfGraph> onnx_of_graph(const Graph& graph);

}  // namespace lowtide
