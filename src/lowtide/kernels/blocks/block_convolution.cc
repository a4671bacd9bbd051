// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/block_convolution.h"

#include <algorithm>
#include <array>

#include "lowtide/base/enum_names.h"
#include "lowtide/kernels/common/ceil_div.h"
#include "lowtide/kernels/common/tuning.h"

namespace lowtide {

template <>
inline constexpr auto kEnumNames<kernels_internal::TileKind> =
    enum_names<kernels_internal::TileKind>({{kernels_internal::TileKind::blocks, "blocks"},
                                            {kernels_internal::TileKind::planes, "planes"},
                                            {kernels_internal::TileKind::channels, "channels"}});

namespace kernels_internal {
namespace {

// Far more than any network has. Products of a few such numbers fit into 64 bits.
constexpr std::int64_t kMostOfAxis = std::int64_t{1} << 18;

// Tiles copy what their windows reach, so a window must not be mostly gaps.
constexpr std::int64_t kMostReach = 1024;

std::optional<BlockAxis> axis_of(const ConvolutionShape& shape, std::size_t at) {
  const BlockAxis axis{.source = shape.source[at + 2],
                       .result = shape.result[at + 2],
                       .taps = shape.weights[at + 2],
                       .stride = shape.strides[at],
                       .dilation = shape.gaps[at] + 1,
                       .pad = shape.pads_begin[at]};
  for (const std::int64_t number : {axis.taps, axis.stride, axis.dilation, axis.pad}) {
    if (number > kMostOfAxis) return std::nullopt;
  }
  if (axis.taps > 1 && axis.reach(1) > kMostReach) return std::nullopt;
  return axis;
}

// Sets the kind, and the channels of a group.
bool set_channels(const ConvolutionShape& shape, BlockConvolution& made) {
  const std::int64_t lanes = made.lanes;
  made.images = shape.source[0];
  made.groups = shape.group;
  made.channels = shape.weights[1];
  made.results = shape.weights[0] / shape.group;
  const bool is_plain = shape.input == Format::plain;
  if (!is_plain && shape.input != shape.output) return false;
  if (is_plain) {
    made.kind = TileKind::planes;
    if (shape.group != 1 || made.channels >= lanes) return false;
  } else if (shape.group > 1 && made.channels == 1 && made.results == 1) {
    made.kind = TileKind::channels;
    made.results = shape.group;
    made.groups = 1;
  } else if (shape.group > 1 && (made.channels % lanes != 0 || made.results % lanes != 0)) {
    return false;
  }
  made.result_blocks = ceil_div(made.results, lanes);
  made.source_blocks = made.kind == TileKind::blocks ? ceil_div(made.channels, lanes) : 1;
  return true;
}

// A window of one element without padding treats an image as one row.
void flatten(BlockConvolution& made) {
  for (const BlockAxis* axis : {&made.down, &made.across}) {
    if (axis->taps != 1 || axis->stride != 1 || axis->pad != 0 || axis->source != axis->result) return;
  }
  made.across.source = made.across.result = made.down.source * made.across.source;
  made.down.source = made.down.result = 1;
}

// Chooses tiles with as many sums as possible. Of equals, tiles of one row are better. They are also better if no
// result has all of its rows of taps within the source, because a tile leaves out the rows that none of its results
// needs.
void choose_tiles(BlockConvolution& made) {
  made.tile_results = made.kind == TileKind::channels || made.result_blocks == 1 ? 1 : 2;
  double most = 0;
  const bool has_parts = made.kind == TileKind::channels && made.down.reach(1) > made.down.source;
  const int most_rows = made.down.result == 1 || has_parts ? 1 : 2;
  for (int rows = 1; rows <= most_rows; ++rows) {
    const std::int64_t tiles = ceil_div(made.across.result, most_columns(made.lanes, made.tile_results, rows));
    const double places = static_cast<double>(made.across.result * rows) / static_cast<double>(tiles);
    if (places <= most) continue;
    most = places;
    made.tile_rows = rows;
    made.column_tiles = tiles;
  }
}

// Chooses what the caches of a core keep.
void choose_order(BlockConvolution& made, const CacheSizes& caches) {
  // A double, because nothing has checked the padded size of the source yet.
  const double places = static_cast<double>(made.down.source) * static_cast<double>(made.across.source);
  const double source = places * static_cast<double>(made.source_blocks * made.lanes);
  const bool is_large = source > static_cast<double>(kConvolutionSource.floats(caches)) &&
                        made.weights_of_block() * made.result_blocks <= kConvolutionWeights.floats(caches);
  // A spread copy takes longer than to read weights again.
  made.is_by_rectangle = is_large || made.spreads_columns();
  made.copies_all_blocks =
      made.source_blocks == 1 || made.elements_of_copy() <= kConvolutionCopy.floats(caches) / made.source_blocks;
}

}  // namespace

Interval<std::int64_t> BlockAxis::useful_taps(std::int64_t at, std::int64_t count) const {
  const auto is_useful = [&](std::int64_t tap) {
    for (std::int64_t one = at; one < at + count; ++one) {
      const std::int64_t place = first(one) + tap * dilation;
      if (place >= 0 && place < source) return true;
    }
    return false;
  };
  Interval<std::int64_t> useful{0, taps};
  while (useful.begin < useful.end && !is_useful(useful.begin)) ++useful.begin;
  while (useful.begin < useful.end && !is_useful(useful.end - 1)) --useful.end;
  return useful;
}

std::int64_t BlockConvolution::copied_rows(std::int64_t rows) const {
  return spreads_rows() ? down.taps * rows : down.reach(rows);
}

std::int64_t BlockConvolution::copied_columns(std::int64_t columns) const {
  return spreads_columns() ? across.taps * columns : across.reach(columns);
}

std::int64_t BlockConvolution::weights_of_block() const {
  return elements_of_block({kind, lanes}, channels, down.taps * across.taps);
}

std::int64_t BlockConvolution::unused_channels() const {
  return kind == TileKind::blocks ? (source_blocks * lanes - channels) / 4 * 4 : 0;
}

bool BlockConvolution::has_copies() const {
  if (spreads_columns()) return true;
  return std::ranges::any_of(std::array{&down, &across}, [](const BlockAxis* axis) {
    return axis->pad > 0 || axis->first(axis->result - 1) + axis->reach(1) > axis->source;
  });
}

std::int64_t BlockConvolution::elements_of_copy() const {
  const std::int64_t columns = ceil_div(across.result, column_tiles);
  return copied_rows(tile_rows) * copied_columns(columns) * (kind == TileKind::planes ? channels : lanes);
}

Bytes BlockConvolution::scratch_per_thread() const {
  if (!has_copies()) return Bytes();
  return Bytes(ceil_div(elements_of_copy() * (copies_all_blocks ? source_blocks : 1), 16) * 64);
}

std::optional<BlockConvolution> block_convolution(const ConvolutionShape& shape, const CacheSizes& caches) {
  BlockConvolution made{.lanes = static_cast<int>(block_of(shape.output)), .has_bias = shape.has_bias};
  if (!has_tiles(made.lanes) || !set_channels(shape, made)) return std::nullopt;
  if (!packed_elements({made.kind, made.lanes}, Shape(shape.weights), shape.group)) return std::nullopt;
  const std::size_t axes = shape.strides.size();
  const std::optional<BlockAxis> down = axes == 2 ? axis_of(shape, 0) : BlockAxis{};
  const std::optional<BlockAxis> across = axis_of(shape, axes - 1);
  if (!down || !across) return std::nullopt;
  made.down = *down;
  made.across = *across;
  if (made.kind != TileKind::planes) flatten(made);
  choose_tiles(made);
  choose_order(made, caches);
  return made;
}

std::string to_string(const WeightsOrder& order) {
  return std::string(lowtide::to_string(order.kind)) + std::to_string(order.lanes);
}

std::optional<WeightsOrder> weights_order(std::string_view name) {
  for (const TileKind kind : {TileKind::blocks, TileKind::planes, TileKind::channels}) {
    for (const int lanes : {8, 16}) {
      if (name == to_string({kind, lanes})) return WeightsOrder{kind, lanes};
    }
  }
  return std::nullopt;
}

std::int64_t elements_of_block(const WeightsOrder& order, std::int64_t channels, std::int64_t taps) {
  const std::int64_t depth = order.kind == TileKind::blocks ? ceil_div(channels, order.lanes) * order.lanes : channels;
  return taps * depth * order.lanes;
}

std::optional<std::int64_t> packed_elements(const WeightsOrder& order, const Shape& weights, std::int64_t group) {
  if (weights.rank() < 3 || weights.rank() > 4 || weights.has_upper_bounds() || group < 1) return std::nullopt;
  const std::int64_t channels = weights[1];
  const std::int64_t lanes = order.lanes;
  if (weights[0] % group != 0) return std::nullopt;
  const std::int64_t results = weights[0] / group;
  if (order.kind == TileKind::planes && group != 1) return std::nullopt;
  if (order.kind == TileKind::channels && (results != 1 || channels != 1)) return std::nullopt;
  if (order.kind == TileKind::blocks && group > 1 && (results % lanes != 0 || channels % lanes != 0)) {
    return std::nullopt;
  }
  // Padding adds less than `lanes` channels and results for each that exists, so nothing below overflows.
  std::vector<std::int64_t> padded = weights.extents();
  for (std::int64_t& extent : padded) extent = std::max<std::int64_t>(extent, 1);
  padded.push_back(lanes);
  padded.push_back(lanes);
  if (!dense_size(DType::f32, Shape(padded))) return std::nullopt;
  std::int64_t taps = 1;
  for (int axis = 2; axis < weights.rank(); ++axis) taps *= weights[axis];
  return ceil_div(weights[0], lanes) * elements_of_block(order, channels, taps);
}

}  // namespace kernels_internal
}  // namespace lowtide
