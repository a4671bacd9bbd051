// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/kernels/blocks/block_convolution.h"
#include "lowtide/kernels/blocks/tile.h"
#include "lowtide/kernels/blocks/tile_cursor.h"

namespace lowtide::kernels_internal {

// Copies what a tile reads, with zeros for the padding.
class SourceCopier {
 public:
  // Keeps a reference to the convolution. Requires: has_tiles(lanes).
  explicit SourceCopier(const BlockConvolution& shape) : shape_(shape), copy_window_(window_function(shape.lanes)) {}

  // Copies the rows and columns that the taps of `window` read, of one block of channels or of all planes of an image,
  // which begin at `source`. `window` is the convolution, or the same without some of its taps. `to` has room for the
  // copied rows and columns of the window.
  void copy(const BlockConvolution& window, const TilePlace& place, const float* source, float* to) const;

 private:
  void copy_neighbors(const BlockConvolution& window, const TilePlace& place, const float* source, float* to) const;
  void copy_row(const BlockConvolution& window, const TilePlace& place, const float* row, float* to) const;
  // The elements of a place.
  [[nodiscard]] std::int64_t unit() const { return shape_.kind == TileKind::planes ? 1 : shape_.lanes; }

  const BlockConvolution& shape_;
  WindowFunction copy_window_;
};

}  // namespace lowtide::kernels_internal
