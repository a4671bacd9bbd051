// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/constant_table.h"
#include "lowtide/verify/lowering/lowered_nodes.h"

namespace lowtide::verify_internal {

// The nodes of the model that a lowtide::Attention of a lowered graph does the work of: two products, a Softmax, and
// what scales, masks and transposes between them. `fault` says that they compute something else, if they do. `table`
// has the bytes of the model's constants; nullptr: none are known. O(1), as there are at most nine nodes.
[[nodiscard]] FusedNodes nodes_of_attention(const ModelTensors& tensors, const Graph& lowered, NodeId attention,
                                            const ConstantTable* table);

}  // namespace lowtide::verify_internal
