// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/onednn/description.h"
#include "lowtide/kernels/onednn/epilogue.h"

namespace lowtide::kernels_internal {

// A product of matrices, or of batches of matrices: all tensors have the same number of axes, and an extent of 1
// before the last two axes is repeated.
struct Product {
  ExtentList left;                  // [..., M, K]
  ExtentList right;                 // [..., K, N]
  ExtentList bias;                  // [..., 1, N]; empty if there is none
  ExtentList result;                // [..., M, N]
  bool is_left_transposed = false;  // stored as [K, M]
  bool is_right_transposed = false;
  PostOps after = {};  // what it computes on the results
  friend auto operator<=>(const Product&, const Product&) = default;
};

// A MatMul or Gemm of the standard domain or of the domain "lowtide", all of whose tensors are f32 with known extents.
// Gemm must not scale, and its third operand must be the same for all rows. `after` stays empty. `missing` gets the
// reason if there is none.
[[nodiscard]] std::optional<Product> product_of(const Graph& graph, NodeId node, std::string& missing);

// The operations of an epilogue on its results, which have this shape in the graph. nullopt: oneDNN cannot compute
// them.
[[nodiscard]] std::optional<PostOps> operations_after(const Product& product, const Shape& result, const Graph& program,
                                                      const NumberOf& number);

// The primitive for one thread. Returns nullptr if oneDNN has no suitable one.
[[nodiscard]] PrimitiveDescription describe(const Product& product);

}  // namespace lowtide::kernels_internal
