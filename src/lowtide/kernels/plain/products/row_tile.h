// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::kernels_internal {

// Up to four rows of neighboring results, which stay in registers while all their products are added:
//
//   result[row * result_step + column] = begin[row] + sum over channels, down and across of
//       factors[row * factor_step + channel * factor_channel + down * factor_down + across] *
//       source[channel * source_channel + down * source_down + across * source_across + column]
//
// in this order, with a rounding of each product and of each sum. So a result does not depend on the tile that it is
// in. A matrix product has one tap: its rows are those of the first matrix, its channels are the inner axis, and the
// source is the second matrix. A convolution has the channels of the result as rows. Steps are in elements.
struct RowTile {
  const float* factors = nullptr;
  std::int64_t factor_step = 0;
  std::int64_t factor_channel = 0;
  std::int64_t factor_down = 0;
  const float* source = nullptr;
  std::int64_t source_channel = 0;
  std::int64_t source_down = 0;
  std::int64_t source_across = 0;
  std::int64_t channels = 1;
  std::int64_t taps_down = 1;
  std::int64_t taps_across = 1;
  const float* begin = nullptr;  // nullptr: the sums begin with 0
  float* result = nullptr;
  std::int64_t result_step = 0;
  std::int64_t rows = 1;  // 1 to kMostTileRows
  std::int64_t columns = 0;
};
inline constexpr std::int64_t kMostTileRows = 4;
inline constexpr std::int64_t kTileColumns = 64;  // that are in registers at once

// Computes all columns of a tile. Results must not be read as a source or factor. O(rows * columns * channels * taps).
void run_row_tile(const RowTile& tile);

}  // namespace lowtide::kernels_internal
