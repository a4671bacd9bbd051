// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/byte_sums.h"

#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

template <typename T>
LOWTIDE_VECTOR_CLONES std::int32_t sum_of_row(const T* values, std::int64_t count) {
  std::uint32_t sum = 0;
  for (std::int64_t at = 0; at < count; ++at) sum += static_cast<std::uint32_t>(std::int32_t{values[at]});
  return static_cast<std::int32_t>(sum);
}

LOWTIDE_VECTOR_CLONES void add_row(const std::int8_t* row, std::int64_t count, std::int32_t* sums) {
  for (std::int64_t at = 0; at < count; ++at) sums[at] += row[at];
}

}  // namespace

std::int32_t sum_of(const std::int8_t* values, std::int64_t count) { return sum_of_row(values, count); }
std::int32_t sum_of(const std::uint8_t* values, std::int64_t count) { return sum_of_row(values, count); }

void sum_bytes(const ByteMatrix& matrix, std::int32_t* sums) {
  if (matrix.column_step == 1) {
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      add_row(matrix.first + row * matrix.row_step, matrix.columns, sums);
    }
    return;
  }
  if (matrix.row_step == 1) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      sums[column] += sum_of(matrix.first + column * matrix.column_step, matrix.rows);
    }
    return;
  }
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      sums[column] += matrix.first[row * matrix.row_step + column * matrix.column_step];
    }
  }
}

}  // namespace lowtide::kernels_internal
