// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "lowtide/kernels/blocks/block_convolution.h"

namespace lowtide::kernels_internal {

// Which results a tile has.
struct TilePlace {
  std::int64_t image = 0;
  std::int64_t group = 0;
  std::int64_t block = 0;  // the first one, in its group
  std::int64_t row = 0;
  std::int64_t column = 0;
  TileExtents extents;
  bool is_wide = false;  // it has one column more than the narrowest tiles of a row
};

// Goes through the tiles of a convolution in the order that is best for the caches (BlockConvolution::is_by_rectangle).
// It is inline: a place that a call returned in memory would wait until the processor has stored the tile before it.
class TileCursor {
 public:
  // At the tile with this index.
  TileCursor(const BlockConvolution& shape, std::int64_t tile);

  [[nodiscard]] TilePlace place() const {
    TilePlace place{.image = image_,
                    .group = group_,
                    .block = pair_ * shape_.tile_results,
                    .row = row_tile_ * shape_.tile_rows,
                    .column = column_tile_ * narrow_ + std::min(column_tile_, wide_tiles_),
                    .is_wide = column_tile_ < wide_tiles_};
    place.extents = {
        .results = static_cast<int>(std::min<std::int64_t>(shape_.tile_results, shape_.result_blocks - place.block)),
        .rows = static_cast<int>(std::min<std::int64_t>(shape_.tile_rows, shape_.down.result - place.row)),
        .columns = static_cast<int>(narrow_ + (place.is_wide ? 1 : 0))};
    return place;
  }

  void advance() {
    if (shape_.is_by_rectangle && !wraps(pair_, shape_.pairs())) return;
    if (!wraps(column_tile_, shape_.column_tiles) || !wraps(row_tile_, shape_.row_tiles())) return;
    if (!shape_.is_by_rectangle && !wraps(pair_, shape_.pairs())) return;
    if (wraps(group_, shape_.groups)) ++image_;
  }

 private:
  // Counts up to `count` and begins again at 0. Returns whether it did, so that the next counter goes on.
  static bool wraps(std::int64_t& counter, std::int64_t count) {
    if (++counter < count) return false;
    counter = 0;
    return true;
  }

  const BlockConvolution& shape_;
  std::int64_t narrow_;      // columns of the narrowest tiles
  std::int64_t wide_tiles_;  // the first ones of a row, which have one column more
  std::int64_t pair_ = 0;
  std::int64_t column_tile_ = 0;
  std::int64_t row_tile_ = 0;
  std::int64_t group_ = 0;
  std::int64_t image_ = 0;
};

}  // namespace lowtide::kernels_internal
