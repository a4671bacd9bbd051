// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/tile_cursor.h"

namespace lowtide::kernels_internal {
TileCursor::TileCursor(const BlockConvolution& shape, std::int64_t tile)
    : shape_(shape),
      narrow_(shape.across.result / shape.column_tiles),
      wide_tiles_(shape.across.result % shape.column_tiles) {
  // Takes the next of `count` choices from the index of the tile.
  const auto next = [&](std::int64_t count) {
    const std::int64_t at = tile % count;
    tile /= count;
    return at;
  };
  if (shape.is_by_rectangle) pair_ = next(shape.pairs());
  column_tile_ = next(shape.column_tiles);
  row_tile_ = next(shape.row_tiles());
  if (!shape.is_by_rectangle) pair_ = next(shape.pairs());
  group_ = next(shape.groups);
  image_ = tile;
}

}  // namespace lowtide::kernels_internal
