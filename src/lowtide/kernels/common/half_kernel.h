// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "lowtide/kernels/kernel.h"

namespace lowtide::kernels_internal {

// Storage of f16 and bf16 for kernels that compute f32. Such operands are converted to f32 in scratch before the kernel
// runs, and such results are converted back afterwards, so each result is rounded once.

// The scratch of a kernel whose own scratch is `own`, together with the f32 copies of its operands and results of 16
// bits.
[[nodiscard]] Bytes scratch_with_floats(const Graph& graph, const Node& node, Bytes own);

// Returns `wide`, or a kernel that runs it on f32 copies if the node has an operand or a result of f16 or bf16.
// Requires: `wide` has no rebind and no destroy, and reads the element types during its run or as computed_type() tells
// them.
[[nodiscard]] std::unique_ptr<PreparedKernel> widened(const Graph& graph, const Node& node, Bytes own,
                                                      std::unique_ptr<PreparedKernel> wide);

}  // namespace lowtide::kernels_internal
