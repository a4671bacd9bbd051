// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"
#include "lowtide/base/interval.h"
#include "lowtide/kernels/blocks/tile.h"
#include "lowtide/kernels/caches.h"
#include "lowtide/kernels/common/convolution_shape.h"

namespace lowtide::kernels_internal {

// One spatial axis of a convolution.
struct BlockAxis {
  std::int64_t source = 1;
  std::int64_t result = 1;
  std::int64_t taps = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;  // before the source

  // Where the first tap of a result is in the source.
  [[nodiscard]] std::int64_t first(std::int64_t at) const { return at * stride - pad; }
  // The elements that `count` neighboring results read if taps are neighbors, with those between them.
  [[nodiscard]] std::int64_t reach(std::int64_t count) const {
    return (count - 1) * stride + (taps - 1) * dilation + 1;
  }
  // The taps with which some of `count` neighboring results from `at` on reads the source, and those between them.
  [[nodiscard]] Interval<std::int64_t> useful_taps(std::int64_t at, std::int64_t count) const;
  // Leaves only these taps.
  void crop(Interval<std::int64_t> left) {
    taps = left.end - left.begin;
    pad -= left.begin * dilation;
  }
};

// A convolution whose result is in blocks of channels, and how its result is divided into tiles. The source is in the
// same blocks, or it is plain and has fewer channels than a block. A line has one row.
//
//   64 channels of 56 x 56, 3 x 3 taps, with 16 lanes: 4 blocks of results in 2 pairs, 56 rows, and 4 tiles of 14
//   columns in each row. One tile has 2 x 14 sums of 16 lanes.
struct BlockConvolution {
  TileKind kind = TileKind::blocks;
  int lanes = 16;
  std::int64_t images = 1;
  std::int64_t groups = 1;         // 1 for `channels`
  std::int64_t channels = 1;       // of the source in a group, without padding
  std::int64_t results = 1;        // channels of the result in a group, without padding
  std::int64_t source_blocks = 1;  // in a group; of `planes` and `channels` 1
  std::int64_t result_blocks = 1;  // in a group
  BlockAxis down;
  BlockAxis across;
  bool has_bias = false;
  // The extents of most tiles. Those at the end of a row or a column may be smaller.
  int tile_results = 1;
  int tile_rows = 1;
  std::int64_t column_tiles = 1;  // in a row, as even as possible
  // All blocks of results of a rectangle before the next rectangle, so that the source stays in a cache. If the weights
  // are too large for one, all rectangles of a pair of blocks before the next pair.
  bool is_by_rectangle = true;
  bool copies_all_blocks = true;  // of the source at once, before the products; false: one after another

  // The rows and columns of the copy of what a tile reads, with its padding. Neighboring results share what they read,
  // unless the copy is spread: then each tap of each result has a place of its own.
  [[nodiscard]] std::int64_t copied_rows(std::int64_t rows) const;
  [[nodiscard]] std::int64_t copied_columns(std::int64_t columns) const;

  [[nodiscard]] std::int64_t pairs() const { return (result_blocks + tile_results - 1) / tile_results; }
  [[nodiscard]] std::int64_t row_tiles() const { return (down.result + tile_rows - 1) / tile_rows; }
  [[nodiscard]] std::int64_t tiles() const { return images * groups * pairs() * row_tiles() * column_tiles; }
  // The weights of one block of results of one group, in elements.
  [[nodiscard]] std::int64_t weights_of_block() const;
  // The channels at the end of the last block of the source whose weights are padding, rounded down to a multiple of 4.
  [[nodiscard]] std::int64_t unused_channels() const;
  // Whether some tile needs a copy: the window of a result begins or ends in padding, or the columns are spread.
  [[nodiscard]] bool has_copies() const;
  // The elements of the copy of one block of the source, or of all planes, for the largest tile.
  [[nodiscard]] std::int64_t elements_of_copy() const;
  // Sharing rows would save nothing, or a dilation would leave gaps.
  [[nodiscard]] bool spreads_rows() const { return down.dilation > 1 || down.stride >= down.taps; }
  // A tile has no such stride. In a spread copy, neighboring columns are neighbors.
  [[nodiscard]] bool spreads_columns() const { return !has_column_stride(kind, across.stride); }
  [[nodiscard]] int column_stride() const { return spreads_columns() ? 1 : static_cast<int>(across.stride); }
  // What one thread needs to copy the source of a tile with its padding.
  [[nodiscard]] Bytes scratch_per_thread() const;
};

// Returns nullopt if the formats are others, if the channels of a group do not fill their blocks, or if the machine has
// no instructions for it. O(1).
[[nodiscard]] std::optional<BlockConvolution> block_convolution(const ConvolutionShape& shape,
                                                                const CacheSizes& caches = {});

// The order of the weights, as a name and as an array. Blocks of results are those of all groups:
//
//   blocks16     [block of results][block of channels][tap][channel][lane of the result]
//   planes16     [block of results][tap][channel][lane of the result]
//   channels16   [block of channels][tap][lane]
//
// Lanes without a channel have weights of zero.
struct WeightsOrder {
  TileKind kind = TileKind::blocks;
  int lanes = 16;
};
[[nodiscard]] std::string to_string(const WeightsOrder& order);
// Returns nullopt if no order has the name.
[[nodiscard]] std::optional<WeightsOrder> weights_order(std::string_view name);
// The elements of one block of results. Requires: packed_elements() of the weights exist.
[[nodiscard]] std::int64_t elements_of_block(const WeightsOrder& order, std::int64_t channels, std::int64_t taps);
// The elements of weights [M, C / group, ...] in the order. nullopt: the order does not suit them, or they would have
// too many bytes for 64 bits.
[[nodiscard]] std::optional<std::int64_t> packed_elements(const WeightsOrder& order, const Shape& weights,
                                                          std::int64_t group);

}  // namespace lowtide::kernels_internal
