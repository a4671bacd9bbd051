// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// Whether some Pad of the model has a result whose name no tensor of `graphs` has. O(tensors).
[[nodiscard]] bool lack_padded_tensors(const Graph& model, std::span<const Graph* const> graphs);

// The model, in which each convolution or average pool reads the operand of such a Pad in place of its result, and pads
// by the sum of both, if this computes the same. Ids are those of the model. A Pad without readers stays in it. `table`
// has the bytes of the constants; nullptr: none are known. Errors: those of GraphBuilder. O(nodes + edges + tensors).
[[nodiscard]] Result<Graph> with_merged_padding(const Graph& model, std::span<const Graph* const> graphs,
                                                const ConstantTable* table);

}  // namespace lowtide::verify_internal
