// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/byte_rows.h"

#include <cstring>

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

// In words of 8 bytes. The last one may overlap the one before it.
void copy_flipped(const std::uint8_t* from, std::int64_t count, std::uint8_t flip, std::uint8_t* to) {
  constexpr std::int64_t kWord = 8;
  if (count < kWord) {
    for (std::int64_t at = 0; at < count; ++at) to[at] = from[at] ^ flip;
    return;
  }
  const std::uint64_t bits = flip * 0x0101010101010101U;
  const auto copy_word = [&](std::int64_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, kWord);
    word ^= bits;
    std::memcpy(to + at, &word, kWord);
  };
  for (std::int64_t at = 0; at + kWord <= count; at += kWord) copy_word(at);
  copy_word(count - kWord);
}

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
