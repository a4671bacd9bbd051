// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>

namespace lowtide::kernels_internal {

// The three transforms of a Winograd convolution F(2 x 2, 3 x 3). A square of 2 x 2 results needs 4 x 4 places of the
// source, and has one sum over the channels at each of 16 points, in place of 9 products per result:
//
//   result = A' [sum over channels of (G weights G') * (B' source B)] A       (Lavin and Gray, 2015)
//
//        1  0 -1  0          1    0    0
//   B' = 0  1  1  0     G = 1/2  1/2  1/2     A' = 1  1  1  0
//        0 -1  1  0         1/2 -1/2  1/2          0  1 -1 -1
//        0  1  0 -1          0    0    1
//
// Steps are in elements. Each place, point and tap has as many elements as lanes.
inline constexpr int kPoints = 16;
inline constexpr int kSquare = 2;  // results of a square along each axis
inline constexpr int kReach = 4;   // places of the source that they need

// For the squares [0, count) of a row, and for all blocks of channels.
struct SquareSource {
  const float* source = nullptr;  // the first place of the first square, which may be in the padding
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;
  std::int64_t block_step = 0;
  std::int64_t blocks = 1;
  std::int64_t count = 1;
  // The places that are not padding. Requires, if count > 1: all.
  int first_row = 0;
  int end_row = kReach;
  int first_column = 0;
  int end_column = kReach;
  float* points = nullptr;  // [point][block][square][lane]
  std::int64_t point_step = 0;
  std::int64_t points_block_step = 0;
};

// For some blocks of channels and one or two blocks of results.
struct SquareWeights {
  const float* weights = nullptr;  // [block][tap][channel][lane], with 9 taps and as many channels as lanes
  std::int64_t result_step = 0;
  int results = 1;
  std::int64_t blocks = 1;
  float* points = nullptr;  // [point][result][block][channel][lane]
  std::int64_t point_step = 0;
};

// For the squares [0, count) of a row, and for one block of results.
struct SquareResult {
  const float* points = nullptr;  // the sums of the first square
  std::int64_t point_step = 0;
  std::int64_t square_step = 0;
  std::int64_t count = 1;
  const float* bias = nullptr;  // of each lane
  float* result = nullptr;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;
  int rows = kSquare;          // those after them are outside of the result
  int last_columns = kSquare;  // of the last square
  // The same as TileWork::addend, low and high. The addend has the steps of the result.
  const float* addend = nullptr;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

struct SquareFunctions {
  void (*source)(const SquareSource& work) = nullptr;
  void (*weights)(const SquareWeights& work) = nullptr;
  void (*result)(const SquareResult& work) = nullptr;
};
// Requires: has_tiles(lanes).
[[nodiscard]] SquareFunctions square_functions(int lanes);

// Those of the two instruction sets. A build for another processor has none.
[[nodiscard]] SquareFunctions squares_avx512();
[[nodiscard]] SquareFunctions squares_avx2();

}  // namespace lowtide::kernels_internal
