// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::kernels_internal {

// Sums of integers of 8 bits. They wrap around in 32 bits.
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
