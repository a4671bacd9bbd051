// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Undoes epilogues. A product that computes an epilogue on its results (graph/epilogue.h) stands for two nodes: the
// product, which writes the tensor that the epilogue reads first, and a lowtide::Chain. The returned graph has these
// two, so all rules for products and chains hold for both, with the names of the model. So has each body. Recursion
// only over bodies.
//
// Errors (invalid): an epilogue whose program is not valid, or which reads its product under a name that another tensor
// of the graph has. O((nodes + edges) log nodes + length of the programs).
[[nodiscard]] Result<Graph> without_epilogues(const Graph& lowered);

}  // namespace lowtide::verify_internal
