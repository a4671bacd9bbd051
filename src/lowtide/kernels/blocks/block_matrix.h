// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/common/ceil_div.h"

namespace lowtide::kernels_internal {

// The order of a constant matrix [inner, columns] for products with rows on its left: blocks of neighboring columns, as
// weights of one tap in the order "blocks16" (block_convolution.h).
//
//   [block of columns][inner][lane of the column]
//
// `inner` is rounded up to a multiple of the lanes. What the matrix does not have is zero.
struct BlockMatrix {
  int lanes = 16;
  std::int64_t inner = 1;
  std::int64_t columns = 1;
  bool is_transposed = false;  // the constant of the model is [columns, inner]

  [[nodiscard]] std::int64_t blocks() const { return ceil_div(columns, lanes); }
  // How many blocks `inner` has.
  [[nodiscard]] std::int64_t inner_blocks() const { return ceil_div(inner, lanes); }
  [[nodiscard]] std::int64_t elements_of_block() const { return inner_blocks() * lanes * lanes; }
  [[nodiscard]] std::int64_t elements() const { return blocks() * elements_of_block(); }

  // Puts one block of columns into the order. `from` is the constant, and `to` the whole result.
  void pack(std::int64_t block, const float* from, float* to) const;
};

// nullopt: the matrix [inner, columns] has no elements, or so few columns or rows that most of the packed one would be
// zeros, or the packed one has too many bytes for 64 bits.
[[nodiscard]] std::optional<BlockMatrix> block_matrix(int lanes, const Shape& constant, bool is_transposed);

// What a lowtide::Pack of a matrix, or a node that reads its result, says in its attributes about a constant. nullopt:
// it is no order of this file, or `packed` is not the shape of the result.
[[nodiscard]] std::optional<BlockMatrix> packed_matrix(const Node& node, const Shape& constant, const Shape& packed);

}  // namespace lowtide::kernels_internal
