// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/products/row_tile.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

// Loops with constant bounds, so that the compiler keeps the sums in registers.
template <std::size_t rows, std::size_t columns>
[[gnu::always_inline]] inline void add_all(const RowTile& tile) {
  std::array<std::array<float, columns>, rows> sums;  // NOLINT(*-member-init): set below
#pragma GCC unroll 4
  for (std::size_t row = 0; row < rows; ++row) {
    const float begin = tile.begin == nullptr ? 0.0F : tile.begin[row];
    for (std::size_t column = 0; column < columns; ++column) sums[row][column] = begin;
  }
  for (std::int64_t channel = 0; channel < tile.channels; ++channel) {
    for (std::int64_t down = 0; down < tile.taps_down; ++down) {
      const float* factors = tile.factors + channel * tile.factor_channel + down * tile.factor_down;
      const float* source = tile.source + channel * tile.source_channel + down * tile.source_down;
      for (std::int64_t across = 0; across < tile.taps_across; ++across, ++factors, source += tile.source_across) {
#pragma GCC unroll 4
        for (std::size_t row = 0; row < rows; ++row) {
          const float factor = factors[static_cast<std::int64_t>(row) * tile.factor_step];
          for (std::size_t column = 0; column < columns; ++column) sums[row][column] += factor * source[column];
        }
      }
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(tile.result + static_cast<std::int64_t>(row) * tile.result_step, sums[row].data(), sizeof sums[row]);
  }
}

LOWTIDE_VECTOR_CLONES void add_four_wide(const RowTile& tile) { add_all<4, kTileColumns>(tile); }
LOWTIDE_VECTOR_CLONES void add_four(const RowTile& tile) { add_all<4, 16>(tile); }
LOWTIDE_VECTOR_CLONES void add_four_narrow(const RowTile& tile) { add_all<4, 4>(tile); }
LOWTIDE_VECTOR_CLONES void add_one_wide(const RowTile& tile) { add_all<1, kTileColumns>(tile); }
LOWTIDE_VECTOR_CLONES void add_one(const RowTile& tile) { add_all<1, 16>(tile); }
LOWTIDE_VECTOR_CLONES void add_one_narrow(const RowTile& tile) { add_all<1, 4>(tile); }
LOWTIDE_VECTOR_CLONES void add_four_singles(const RowTile& tile) { add_all<4, 1>(tile); }
LOWTIDE_VECTOR_CLONES void add_single(const RowTile& tile) { add_all<1, 1>(tile); }

struct Width {
  std::int64_t columns;
  void (*of_four)(const RowTile& tile);
  void (*of_one)(const RowTile& tile);
};
constexpr std::array kWidths{Width{kTileColumns, &add_four_wide, &add_one_wide}, Width{16, &add_four, &add_one},
                             Width{4, &add_four_narrow, &add_one_narrow}, Width{1, &add_four_singles, &add_single}};

void run_width(const RowTile& tile, const Width& width) {
  if (tile.rows == kMostTileRows) return width.of_four(tile);
  RowTile one = tile;
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    width.of_one(one);
    one.factors += tile.factor_step;
    one.result += tile.result_step;
    if (one.begin != nullptr) ++one.begin;
  }
}

}  // namespace

// The last columns may be computed twice, as the end of a width that has enough columns before them.
void run_row_tile(const RowTile& tile) {
  RowTile part = tile;
  std::int64_t done = 0;
  for (const Width& width : kWidths) {
    if (tile.columns < width.columns) continue;
    while (done < tile.columns) {
      const bool is_full = tile.columns - done >= width.columns;
      const bool is_best = is_full || width.columns <= 4 || 2 * (tile.columns - done) > width.columns;
      if (!is_best) break;
      const std::int64_t at = is_full ? done : tile.columns - width.columns;
      part.source = tile.source + at;
      part.result = tile.result + at;
      run_width(part, width);
      done = at + width.columns;
    }
  }
}

}  // namespace lowtide::kernels_internal
