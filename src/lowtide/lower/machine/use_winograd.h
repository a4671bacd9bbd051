// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/rewrite.h"
#include "lowtide/target/formats.h"

namespace lowtide {

// Gives each lowtide::Conv for which the machine has a faster kernel (KernelFormats::is_faster_with_winograd)
// Winograd's algorithm F(2 x 2, 3 x 3), as its attribute `algorithm`. It takes 16 products for four results in place of
// 36, and rounds in other places. In a convolution of 512 channels, its error is smaller than that of the sum of
// products in its definition; docs/algorithms/kernels.md has the figures. Nodes, tensors and their names stay as they
// are.
//
// Bodies are rewritten as well. Returns nullopt if no node changes. Errors: those of GraphBuilder. O(graph), and the
// time of KernelFormats::is_faster_with_winograd for each convolution. Recursion only over bodies.
[[nodiscard]] Result<std::optional<Rewritten>> use_winograd(const Graph& graph, const KernelFormats& machine);

}  // namespace lowtide
