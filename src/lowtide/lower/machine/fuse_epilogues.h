// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/rewrite.h"
#include "lowtide/target/formats.h"

namespace lowtide {

// Gives products the element-wise node or the chain that reads their result as an epilogue (graph/epilogue.h):
//
//   x -> lowtide::Conv "conv" -> t -> Add(t, r) -> Relu -> y       with one chain of Add and Relu
//
// becomes
//
//   x, r -> lowtide::Conv "relu" -> y
//
// A lowtide::Conv, a Gemm or a MatMul gets the epilogue if all of this holds:
//   - Only this node reads the result of the product, which is not needed at the end and has the type of its result.
//   - The machine can compute the epilogue in the product (KernelFormats::can_follow).
//   - No node waits for one of both, and neither of both waits for a node.
//   - In the order as given, the product is the last node that the epilogue needs. So of two products whose sum is
//     computed, the later one gets the sum.
// So all that the fused node reads is live while the product runs in the order as given, and it needs no more memory
// there than the product did. Another order may need more. The results of the two nodes are those of the fused node,
// except for the last bits of the functions that KernelFormats::can_follow permits.
//
// Bodies are rewritten as well. Returns nullopt if nothing changes. Errors: those of GraphBuilder. O(edges + length of
// the programs), and the time of KernelFormats::can_follow for each product. Recursion only over bodies.
[[nodiscard]] Result<std::optional<Rewritten>> fuse_epilogues(const Graph& graph, const KernelFormats& machine);

}  // namespace lowtide
