// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "lowtide/kernels/onednn/description.h"

namespace lowtide::kernels_internal {

// A product of matrices of integers: [rows, inner] of u8 or i8, times [inner, columns] of i8, is [rows, columns] of
// i32. All sums are exact. The first matrix and the result are dense.
struct IntegerProduct {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  bool is_left_signed = false;
  // Between neighboring rows and columns of the second matrix, in elements. 0: it is dense.
  std::int64_t right_row_step = 0;
  std::int64_t right_column_step = 0;
  friend auto operator<=>(const IntegerProduct&, const IntegerProduct&) = default;
};

// The primitive for one thread. Returns nullptr if oneDNN has no suitable one, or if the processor has no
// instructions for it: the others limit sums of two products to 16 bits.
[[nodiscard]] PrimitiveDescription describe(const IntegerProduct& product);

// The primitive, which allocates nothing more when it runs. Returns nullptr if oneDNN cannot make it.
[[nodiscard]] Primitive ready_primitive(const IntegerProduct& product);

// The arguments of a primitive: both matrices, the sums and the scratchpad. The caller destroys their memory objects.
using ProductArguments = std::array<dnnl_exec_arg_t, 4>;
struct ProductPlaces {
  std::byte* left = nullptr;
  std::byte* right = nullptr;
  std::byte* sums = nullptr;
  std::byte* scratchpad = nullptr;
};
[[nodiscard]] ProductArguments product_arguments(const Primitive& product, const ProductPlaces& places);

}  // namespace lowtide::kernels_internal
