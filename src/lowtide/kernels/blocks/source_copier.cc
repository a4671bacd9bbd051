// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/source_copier.h"

#include <algorithm>

namespace lowtide::kernels_internal {
namespace {

// How `count` places from `first` on are divided by an axis of the source.
struct InsideOfAxis {
  std::int64_t before = 0;
  std::int64_t inside = 0;
  std::int64_t after = 0;
};
InsideOfAxis inside_of(const BlockAxis& axis, std::int64_t first, std::int64_t count) {
  const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, count);
  const std::int64_t end = std::clamp<std::int64_t>(axis.source - first, begin, count);
  return {begin, end - begin, count - end};
}

// Where an element of a copy is in the source, along an axis on which each tap has a place for each result.
std::int64_t spread_from(const BlockAxis& axis, std::int64_t first, std::int64_t count, std::int64_t at) {
  return axis.first(first + at % count) + at / count * axis.dilation;
}

}  // namespace

void SourceCopier::copy(const BlockConvolution& window, const TilePlace& place, const float* source, float* to) const {
  const bool is_plain = shape_.kind == TileKind::planes;
  if (!is_plain && !window.spreads_rows() && !window.spreads_columns()) {
    copy_neighbors(window, place, source, to);
    return;
  }
  const std::int64_t rows = window.copied_rows(place.extents.rows);
  const std::int64_t columns = window.copied_columns(place.extents.columns);
  const std::int64_t places = shape_.down.source * shape_.across.source;
  for (std::int64_t plane = 0; plane < (is_plain ? shape_.channels : 1); ++plane, source += places) {
    for (std::int64_t at = 0; at < rows; ++at, to += columns * unit()) {
      const std::int64_t row = window.spreads_rows() ? spread_from(window.down, place.row, place.extents.rows, at)
                                                     : window.down.first(place.row) + at;
      if (row < 0 || row >= shape_.down.source) {
        std::fill_n(to, columns * unit(), 0.0F);
      } else {
        copy_row(window, place, source + row * shape_.across.source * unit(), to);
      }
    }
  }
}

// Neighboring taps of neighboring results share what they read.
void SourceCopier::copy_neighbors(const BlockConvolution& window, const TilePlace& place, const float* source,
                                  float* to) const {
  const std::int64_t row = window.down.first(place.row);
  const std::int64_t column = window.across.first(place.column);
  const InsideOfAxis rows = inside_of(window.down, row, window.down.reach(place.extents.rows));
  const InsideOfAxis columns = inside_of(window.across, column, window.across.reach(place.extents.columns));
  const std::int64_t row_step = shape_.across.source * shape_.lanes;
  const bool is_empty = rows.inside == 0 || columns.inside == 0;
  const std::int64_t first = is_empty ? 0 : (row + rows.before) * row_step + (column + columns.before) * shape_.lanes;
  copy_window_({.source = source + first,
                .row_step = row_step,
                .copy = to,
                .rows_before = rows.before,
                .rows_inside = rows.inside,
                .rows_after = rows.after,
                .columns_before = columns.before,
                .columns_inside = columns.inside,
                .columns_after = columns.after});
}

void SourceCopier::copy_row(const BlockConvolution& window, const TilePlace& place, const float* row, float* to) const {
  const std::int64_t columns = window.copied_columns(place.extents.columns);
  if (!window.spreads_columns()) {
    const std::int64_t first = window.across.first(place.column);
    const auto [before, inside, after] = inside_of(window.across, first, columns);
    std::fill_n(to, before * unit(), 0.0F);
    std::copy_n(row + (first + before) * unit(), inside * unit(), to + before * unit());
    std::fill_n(to + (before + inside) * unit(), after * unit(), 0.0F);
    return;
  }
  for (std::int64_t at = 0; at < columns; ++at, to += unit()) {
    const std::int64_t column = spread_from(window.across, place.column, place.extents.columns, at);
    if (column < 0 || column >= shape_.across.source) {
      std::fill_n(to, unit(), 0.0F);
    } else {
      std::copy_n(row + column * unit(), unit(), to);
    }
  }
}

}  // namespace lowtide::kernels_internal
