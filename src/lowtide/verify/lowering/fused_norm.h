// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/constant_table.h"
#include "lowtide/verify/lowering/lowered_nodes.h"

namespace lowtide::verify_internal {

// The nodes of the model that a LayerNormalization of a lowered graph does the work of: the means, differences and
// products that are written out in the model. `fault` is "the model has another computation" if they compute something
// else. `table` has the bytes of the model's constants; nullptr: none are known. Requires: the node's result is a
// tensor of the model. O(1), as a normalization has at most ten nodes.
[[nodiscard]] FusedNodes nodes_of_layer_norm(const ModelTensors& tensors, const Graph& lowered, NodeId norm,
                                             const ConstantTable* table);

}  // namespace lowtide::verify_internal
