// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "lowtide/graph/dtype.h"
#include "lowtide/kernels/common/tensor_view.h"

namespace lowtide::kernels_internal {

// Integers of 8 bits: i8 and u8.

// An element of a tensor of them. Requires: the tensor is present.
[[nodiscard]] inline std::int32_t byte_at(const BoundTensor& tensor, std::size_t at) {
  return tensor.dtype == DType::i8 ? elements<std::int8_t>(tensor)[at] : elements<std::uint8_t>(tensor)[at];
}

// Copies integers, with the bits of `flip` changed in each.
void copy_flipped(const std::uint8_t* from, std::int64_t count, std::uint8_t flip, std::uint8_t* to);

// Sums of integers. They wrap around in 32 bits.
[[nodiscard]] std::int32_t sum_of(const std::int8_t* values, std::int64_t count);
[[nodiscard]] std::int32_t sum_of(const std::uint8_t* values, std::int64_t count);

// A matrix of bytes with any steps, in elements.
struct ByteMatrix {
  const std::int8_t* first = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 1;
};
// Adds the sum of each column to `sums`.
void sum_bytes(const ByteMatrix& matrix, std::int32_t* sums);

}  // namespace lowtide::kernels_internal
