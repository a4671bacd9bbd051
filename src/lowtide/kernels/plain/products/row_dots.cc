// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/products/row_dots.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "lowtide/kernels/common/lanes.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kRowsOfTile = 4;

struct DotQuad {
  float values __attribute__((vector_size(4 * sizeof(float))));
};

// The first two steps of total_of_lanes().
inline __attribute__((always_inline)) void add_halves(const FloatLanes& lanes, DotQuad& quad) {
  const auto low = __builtin_shufflevector(lanes.values, lanes.values, 0, 1, 2, 3, 4, 5, 6, 7);
  const auto high = __builtin_shufflevector(lanes.values, lanes.values, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto eight = low + high;
  quad.values = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
}

// The last two steps for four rows at a time.
inline __attribute__((always_inline)) void write_sums(const std::array<DotQuad, 4>& rows, float* to) {
  const auto a = __builtin_shufflevector(rows[0].values, rows[1].values, 0, 4, 1, 5);
  const auto b = __builtin_shufflevector(rows[2].values, rows[3].values, 0, 4, 1, 5);
  const auto c = __builtin_shufflevector(rows[0].values, rows[1].values, 2, 6, 3, 7);
  const auto d = __builtin_shufflevector(rows[2].values, rows[3].values, 2, 6, 3, 7);
  const auto first = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 0, 1, 4, 5);
  const auto second = __builtin_shufflevector(a, b, 2, 3, 6, 7) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  const auto sums = first + second;
  std::memcpy(to, &sums, sizeof sums);
}

// The products of some rows, from `first` on, with some columns. The sums fit into registers.
template <std::size_t kRows, std::size_t kColumns>
struct DotTile {
  std::array<std::array<FloatLanes, kColumns>, kRows> sums;

  // `step` is the distance of two rows.
  inline __attribute__((always_inline)) void add(const float* rows, std::int64_t step,
                                                 const std::array<const float*, kColumns>& columns) {
    std::array<FloatLanes, kColumns> x;  // NOLINT(*-member-init)
    for (std::size_t column = 0; column < kColumns; ++column) std::memcpy(&x[column], columns[column], sizeof(x[0]));
    for (std::size_t row = 0; row < kRows; ++row) {
      FloatLanes w;  // NOLINT(*-member-init)
      std::memcpy(&w, rows + static_cast<std::int64_t>(row) * step, sizeof(w));
      for (std::size_t column = 0; column < kColumns; ++column) sums[row][column].values += w.values * x[column].values;
    }
  }

  // The last elements, fewer than there are lanes. Products of zeros are added to the other lanes. They change none, as
  // no sum that began with 0 is -0.
  void add_end(const float* rows, std::int64_t step, const std::array<const float*, kColumns>& columns,
               std::int64_t count) {
    std::array<std::array<float, kSumLanes>, kRows> row_ends{};
    std::array<std::array<float, kSumLanes>, kColumns> column_ends{};
    std::array<const float*, kColumns> ends;  // NOLINT(*-member-init)
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    for (std::size_t row = 0; row < kRows; ++row) {
      std::memcpy(row_ends[row].data(), rows + static_cast<std::int64_t>(row) * step, bytes);
    }
    for (std::size_t column = 0; column < kColumns; ++column) {
      std::memcpy(column_ends[column].data(), columns[column], bytes);
      ends[column] = column_ends[column].data();
    }
    add(row_ends[0].data(), kSumLanes, ends);
  }
};

template <std::size_t kRows, std::size_t kColumns>
LOWTIDE_VECTOR_CLONES void write_tile(const DotMatrix& matrix, std::int64_t first, const DotColumn* columns) {
  const float* rows = matrix.elements + first * matrix.inner;
  std::array<const float*, kColumns> x;  // NOLINT(*-member-init)
  for (std::size_t column = 0; column < kColumns; ++column) x[column] = columns[column].x;
  DotTile<kRows, kColumns> tile;  // NOLINT(*-member-init)
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) tile.sums[row][column].values = FloatLanes{}.values;
  }
  // The rows of the next tile are asked for now, because they come from the second cache or from further away.
  const std::int64_t to_next = (matrix.is_backward ? -kRowsOfTile : kRowsOfTile) * matrix.inner;
  std::int64_t at = 0;
  for (; at + kSumLanes <= matrix.inner; at += kSumLanes, rows += kSumLanes) {
    for (std::size_t row = 0; row < kRows; ++row) {
      __builtin_prefetch(rows + static_cast<std::int64_t>(row) * matrix.inner + to_next);
    }
    tile.add(rows, matrix.inner, x);
    for (const float*& of_column : x) of_column += kSumLanes;
  }
  if (at < matrix.inner) tile.add_end(rows, matrix.inner, x, matrix.inner - at);
  for (std::size_t column = 0; column < kColumns; ++column) {
    std::array<DotQuad, 4> quads{};
    for (std::size_t row = 0; row < kRows; ++row) add_halves(tile.sums[row][column], quads[row]);
    std::array<float, 4> sums;  // NOLINT(*-member-init)
    write_sums(quads, sums.data());
    std::memcpy(columns[column].y + first, sums.data(), kRows * sizeof(float));
  }
}

template <std::size_t kRows>
void write_rows(const DotMatrix& matrix, std::int64_t first, std::span<const DotColumn> columns) {
  std::size_t at = 0;
  for (; at + 4 <= columns.size(); at += 4) write_tile<kRows, 4>(matrix, first, columns.data() + at);
  for (; at + 2 <= columns.size(); at += 2) write_tile<kRows, 2>(matrix, first, columns.data() + at);
  if (at < columns.size()) write_tile<kRows, 1>(matrix, first, columns.data() + at);
}

}  // namespace

void write_dots(const DotMatrix& matrix, std::span<const DotColumn> columns, Team& team) {
  const std::int64_t rows = matrix.rows.end - matrix.rows.begin;
  const std::int64_t operations = rows * matrix.inner * static_cast<std::int64_t>(columns.size());
  run_in_parts(team, rows, operations, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t tiles = (end - begin) / kRowsOfTile;
    for (std::int64_t at = 0; at < tiles; ++at) {
      const std::int64_t tile = matrix.is_backward ? tiles - 1 - at : at;
      write_rows<kRowsOfTile>(matrix, matrix.rows.begin + begin + tile * kRowsOfTile, columns);
    }
    for (std::int64_t row = begin + tiles * kRowsOfTile; row < end; ++row) {
      write_rows<1>(matrix, matrix.rows.begin + row, columns);
    }
    return RunCode::ok;
  });
}

}  // namespace lowtide::kernels_internal
