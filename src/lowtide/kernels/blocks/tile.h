// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace lowtide::kernels_internal {

// How the channels of a convolution meet.
enum class TileKind : std::uint8_t {
  blocks,    // each result has products with all channels of its group, and the source is in blocks of channels
  planes,    // the same, and the source is plain
  channels,  // each channel of the result has products with its own channel of the source only
};

// A rectangle of results in one, two or kMostResults neighboring blocks of channels, small enough for the registers. A
// tile adds products to its sums:
//
//   sums[result][row][column][lane] += sum over blocks, taps and channels of
//       source[block * block_step + down * tap_row + across * tap_column + row * row_step + column * stride * place +
//              channel * channel_step] *
//       weights[result * result_step + ((block * taps_down + down) * taps_across + across) * channels * lanes +
//               channel * lanes + lane]
//
// in this order of blocks, taps and channels, with one rounding per product and sum. So a sum does not depend on the
// rectangle that it is in. For `channels`, there is one block, and the lane of the source takes the place of a channel.
// Steps are in elements. A place has one element in planes, and otherwise as many as lanes. No address needs an
// alignment.
struct TileWork {
  const float* source = nullptr;
  const float* weights = nullptr;
  float* sums = nullptr;        // [result][row][column][lane]
  const float* bias = nullptr;  // [result][lane]: the sums begin with it; nullptr: they begin with `sums`
  // Where the sums go when they are complete. nullptr: they go to `sums`.
  float* result = nullptr;
  std::int64_t result_block_step = 0;
  std::int64_t result_row_step = 0;
  const float* addend = nullptr;  // added to the sums before they are stored; it has the places of the result
  // What the sums become before they are stored: Clip, with its bits for NaN and -0.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  std::int64_t blocks = 1;
  std::int64_t block_step = 0;
  std::int64_t taps_down = 1;
  std::int64_t taps_across = 1;
  std::int64_t tap_row = 0;
  std::int64_t tap_column = 0;
  std::int64_t row_step = 0;
  std::int64_t channels = 1;  // of `planes`; the others have as many as lanes
  // How many channels at the end of the last block are left out, because all of their weights are zero. For `blocks`. A
  // multiple of 4.
  std::int64_t unused_channels = 0;
  std::int64_t channel_step = 1;  // of `planes`
  std::int64_t result_step = 0;
  bool fetches_weights = false;  // of `blocks`: no tile before has read these weights, so they are not in a cache yet
  bool fetches_source = false;   // of `blocks`: a later tile reads the places behind those of this one
};
using TileFunction = void (*)(const TileWork& work);

// A copy of neighboring rows and columns of one block of channels. Places before and after those inside of the image
// are filled with zeros. Counts are those of rows and of places in a row.
struct WindowCopy {
  const float* source = nullptr;  // the first place inside of the image
  std::int64_t row_step = 0;      // between rows of the source, in elements
  float* copy = nullptr;          // [row][column][lane]
  std::int64_t rows_before = 0;
  std::int64_t rows_inside = 0;
  std::int64_t rows_after = 0;
  std::int64_t columns_before = 0;
  std::int64_t columns_inside = 0;
  std::int64_t columns_after = 0;
};
using WindowFunction = void (*)(const WindowCopy& work);

// Blocks of one place in a tile. Each sum waits for the one before it, so a single place has more of them at a time.
inline constexpr int kMostResults = 4;

// What a function is made for.
struct TileExtents {
  int results = 1;  // blocks: 1, or 2 unless the kind is `channels`, or kMostResults for one place of `blocks`
  int rows = 1;     // 1 or 2
  int columns = 1;
  int stride = 1;  // neighboring columns read the source at this distance, in places
};
// Whether there are tiles of this stride. Images that come into a network are often read with a stride of 4.
[[nodiscard]] bool has_column_stride(TileKind kind, std::int64_t stride);

inline constexpr std::size_t kMostLanes = 16;

// So that the sums of a tile fit into registers, beside two with factors and one with an element of the source.
struct TileLimits {
  int sums = 0;  // registers: results * rows * columns
  int columns = 0;
};
inline constexpr TileLimits kAvx512Limits{.sums = 28, .columns = 14};                   // of 32 registers
inline constexpr TileLimits kAvx2Limits{.sums = 12, .columns = 12};                     // of 16
inline constexpr std::size_t kMostSums = std::size_t{kAvx512Limits.sums} * kMostLanes;  // elements, of any tile
// The most columns of a tile with this many lanes.
[[nodiscard]] int most_columns(int lanes, int results, int rows);

// Whether this machine has tiles with this many lanes: 16 with AVX-512, 8 with AVX2.
[[nodiscard]] bool has_tiles(int lanes);

// Returns nullptr if there are more than most_columns(lanes, results, rows) columns. Requires: has_tiles(lanes).
[[nodiscard]] TileFunction tile_function(int lanes, TileKind kind, const TileExtents& extents);

// Requires: has_tiles(lanes).
[[nodiscard]] WindowFunction window_function(int lanes);

// Those of the two instruction sets. nullptr: too many sums. A build for another processor has none.
[[nodiscard]] TileFunction tile_avx512(TileKind kind, const TileExtents& extents);
[[nodiscard]] TileFunction tile_avx2(TileKind kind, const TileExtents& extents);
[[nodiscard]] WindowFunction window_avx512();
[[nodiscard]] WindowFunction window_avx2();

}  // namespace lowtide::kernels_internal
