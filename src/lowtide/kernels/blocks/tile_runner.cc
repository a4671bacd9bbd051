// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/tile_runner.h"

#include <algorithm>

namespace lowtide::kernels_internal {
namespace {

// Computes tiles on one thread.
class TileRunner {
 public:
  TileRunner(const ConvolutionParameters& parameters, const Operands& operands, std::byte* scratch)
      : shape_(parameters.shape),
        elements_of_copy_(shape_.elements_of_copy()),
        exceeds_source_(shape_.down.reach(1) > shape_.down.source || shape_.across.reach(1) > shape_.across.source),
        parameters_(parameters),
        source_(reinterpret_cast<const float*>(*operands.reads[0].bytes)),
        weights_(reinterpret_cast<const float*>(*operands.reads[1].bytes)),
        bias_(shape_.has_bias ? reinterpret_cast<const float*>(*operands.reads[2].bytes) : nullptr),
        result_(reinterpret_cast<float*>(*operands.writes[0].bytes)),
        copy_(reinterpret_cast<float*>(scratch)),
        copy_window_(window_function(parameters.shape.lanes)),
        epilogue_(parameters.epilogue, operands.reads) {
    work_.sums = sums_.data();
    work_.taps_down = shape_.down.taps;
    work_.taps_across = shape_.across.taps;
    work_.channels = shape_.channels;
    work_.unused_channels = shape_.unused_channels();
    work_.result_step = shape_.weights_of_block();
    work_.result_block_step = result_places() * shape_.lanes;
    work_.result_row_step = shape_.across.result * shape_.lanes;
  }

  RunCode run(const TilePlace& place) {
    work_.bias = bias_of(place);
    work_.weights = weights_ + first_block(place) * work_.result_step;
    work_.fetches_weights = !shape_.is_by_rectangle && place.row == 0 && place.column == 0;
    work_.fetches_source = shape_.is_by_rectangle && place.block == 0 && shape_.down.taps * shape_.across.taps == 1;
    const bool is_direct = epilogue_.is_in_tile(has_full_blocks(place));
    const std::int64_t first = result_offset(place, 0, 0);
    work_.result = is_direct ? result_ + first : nullptr;
    work_.addend = is_direct && epilogue_.addend != nullptr ? epilogue_.addend + first : nullptr;
    work_.low = is_direct ? epilogue_.bounds.low : BlockBounds().low;
    work_.high = is_direct ? epilogue_.bounds.high : BlockBounds().high;
    add_products(place);
    return is_direct ? RunCode::ok : finish(place);
  }

 private:
  [[nodiscard]] std::int64_t source_places() const { return shape_.down.source * shape_.across.source; }
  [[nodiscard]] std::int64_t result_places() const { return shape_.down.result * shape_.across.result; }
  // The first block of results of the tile, among those of all groups.
  [[nodiscard]] std::int64_t first_block(const TilePlace& place) const {
    return place.group * shape_.result_blocks + place.block;
  }
  // The lanes of a block of the result that have a channel.
  [[nodiscard]] std::int64_t used_lanes(std::int64_t block) const {
    return std::min<std::int64_t>(shape_.lanes, shape_.groups * shape_.results - block * shape_.lanes);
  }

  // Whether each lane of the tile has a channel.
  [[nodiscard]] bool has_full_blocks(const TilePlace& place) const {
    return used_lanes(first_block(place) + place.extents.results - 1) == shape_.lanes;
  }

  // The biases of the tile, with zeros for lanes without a channel.
  const float* bias_of(const TilePlace& place) {
    if (bias_ == nullptr) return biases_.data();
    const std::int64_t first = first_block(place) * shape_.lanes;
    if (has_full_blocks(place)) return bias_ + first;
    std::copy(bias_ + first, bias_ + shape_.groups * shape_.results, biases_.data());  // only the last lanes are unused
    return biases_.data();
  }

  // The first element of a tile's row in a block of the result.
  [[nodiscard]] std::int64_t result_offset(const TilePlace& place, int block, int row) const {
    const std::int64_t of_image = first_block(place) + block + place.image * shape_.groups * shape_.result_blocks;
    return (of_image * result_places() + (place.row + row) * shape_.across.result + place.column) * shape_.lanes;
  }

  // Whether no tap of the tile is in the padding.
  [[nodiscard]] bool is_inside(const TilePlace& place) const {
    const auto is_in = [](const BlockAxis& axis, std::int64_t at, std::int64_t count) {
      return axis.first(at) >= 0 && axis.first(at) + axis.reach(count) <= axis.source;
    };
    return !window_->spreads_columns() && is_in(window_->down, place.row, place.extents.rows) &&
           is_in(window_->across, place.column, place.extents.columns);
  }

  void add_products(const TilePlace& place) {
    const std::int64_t unit = shape_.kind == TileKind::planes ? 1 : shape_.lanes;
    const TileFunction function = parameters_.function_of(place);
    const float* const source = source_ + source_offset(place);
    if (exceeds_source_ && add_useful_taps(place, source, function)) return;
    work_.blocks = shape_.source_blocks;
    if (is_inside(place)) {
      work_.source = source + set_steps_of_source(place, unit);
      function(work_);
      return;
    }
    set_steps_of_copy(place, unit);
    if (shape_.copies_all_blocks) {
      copy_all_blocks(place, source);
      function(work_);
    } else {
      add_one_by_one(place, source, function);
    }
  }

  // For a tile that reads the source where it is. Returns where its first tap is in a block.
  std::int64_t set_steps_of_source(const TilePlace& place, std::int64_t unit) {
    const std::int64_t row = shape_.across.source * unit;
    work_.block_step = source_places() * shape_.lanes;
    work_.tap_row = window_->down.dilation * row;
    work_.tap_column = window_->across.dilation * unit;
    work_.row_step = window_->down.stride * row;
    work_.channel_step = source_places();
    return window_->down.first(place.row) * row + window_->across.first(place.column) * unit;
  }

  // A tile whose taps are mostly in the padding computes only the products of the others: a block of the source and a
  // row of taps after another, which is the order of all products. Returns whether this is such a tile.
  bool add_useful_taps(const TilePlace& place, const float* source, TileFunction function) {
    const Interval<std::int64_t> down = useful_taps(shape_.down, place.row, place.extents.rows);
    const Interval<std::int64_t> across = useful_taps(shape_.across, place.column, place.extents.columns);
    const std::int64_t useful = (down.end - down.begin) * (across.end - across.begin);
    if (useful == 0 || useful * 2 > shape_.down.taps * shape_.across.taps) return false;
    BlockConvolution cropped = shape_;
    crop(cropped.down, down);
    crop(cropped.across, across);
    window_ = &cropped;
    copied_.reset();
    const std::int64_t unit = shape_.kind == TileKind::planes ? 1 : shape_.lanes;
    const bool copies = !is_inside(place);
    std::int64_t first = 0;
    if (copies) {
      set_steps_of_copy(place, unit);
    } else {
      first = set_steps_of_source(place, unit);
    }
    const std::int64_t of_tap =
        shape_.weights_of_block() / (shape_.source_blocks * shape_.down.taps * shape_.across.taps);
    TileWork part = work_;
    part.blocks = 1;
    part.taps_down = 1;
    part.taps_across = cropped.across.taps;
    for (std::int64_t block = 0; block < shape_.source_blocks; ++block) {
      const float* const of_block = source + block * source_places() * shape_.lanes;
      if (copies) copy_source(place, of_block, copy_);
      for (std::int64_t tap = down.begin; tap < down.end; ++tap) {
        const std::int64_t row = block * shape_.down.taps + tap;
        part.source = (copies ? copy_ : of_block + first) + (tap - down.begin) * work_.tap_row;
        part.weights = work_.weights + (row * shape_.across.taps + across.begin) * of_tap;
        set_end(part, block + 1 == shape_.source_blocks && tap + 1 == down.end);
        part.unused_channels = block + 1 == shape_.source_blocks ? work_.unused_channels : 0;
        function(part);
        part.bias = nullptr;
      }
    }
    window_ = &shape_;
    return true;
  }

  // The taps with which some of `count` neighboring results reads the source, and those between them.
  static Interval<std::int64_t> useful_taps(const BlockAxis& axis, std::int64_t at, std::int64_t count) {
    const auto is_useful = [&](std::int64_t tap) {
      const std::int64_t first = axis.first(at) + tap * axis.dilation;
      for (std::int64_t result = 0; result < count; ++result) {
        const std::int64_t place = first + result * axis.stride;
        if (place >= 0 && place < axis.source) return true;
      }
      return false;
    };
    Interval<std::int64_t> taps{0, axis.taps};
    while (taps.begin < taps.end && !is_useful(taps.begin)) ++taps.begin;
    while (taps.begin < taps.end && !is_useful(taps.end - 1)) --taps.end;
    return taps;
  }

  static void crop(BlockAxis& axis, Interval<std::int64_t> taps) {
    axis.taps = taps.end - taps.begin;
    axis.pad -= taps.begin * axis.dilation;
  }

  // What becomes of the sums after a part of the products.
  void set_end(TileWork& part, bool is_last) const {
    part.result = is_last ? work_.result : nullptr;
    part.addend = is_last ? work_.addend : nullptr;
    part.low = is_last ? work_.low : BlockBounds().low;
    part.high = is_last ? work_.high : BlockBounds().high;
  }

  // The products of one block of the source after another.
  void add_one_by_one(const TilePlace& place, const float* source, TileFunction function) {
    TileWork part = work_;
    part.blocks = 1;
    for (std::int64_t block = 0; block < shape_.source_blocks; ++block) {
      set_end(part, block + 1 == shape_.source_blocks);
      part.unused_channels = block + 1 == shape_.source_blocks ? work_.unused_channels : 0;
      copy_source(place, source + block * source_places() * shape_.lanes, copy_);
      function(part);
      part.bias = nullptr;
      part.weights += shape_.down.taps * shape_.across.taps * shape_.lanes * shape_.lanes;
    }
  }

  // Copies what a tile reads, unless the tile before it has the same copy.
  void copy_all_blocks(const TilePlace& place, const float* source) {
    const bool is_same = copied_ && copied_->image == place.image && copied_->group == place.group &&
                         copied_->row == place.row && copied_->column == place.column &&
                         shape_.kind != TileKind::channels;
    if (is_same) return;
    for (std::int64_t block = 0; block < shape_.source_blocks; ++block) {
      copy_source(place, source + block * source_places() * shape_.lanes, copy_ + block * elements_of_copy_);
    }
    copied_ = place;
  }

  // Where the image, or the block of channels, of a tile begins.
  [[nodiscard]] std::int64_t source_offset(const TilePlace& place) const {
    switch (shape_.kind) {
      case TileKind::blocks:
        return (place.image * shape_.groups + place.group) * shape_.source_blocks * source_places() * shape_.lanes;
      case TileKind::planes: return place.image * shape_.channels * source_places();
      case TileKind::channels: break;
    }
    return (place.image * shape_.result_blocks + place.block) * source_places() * shape_.lanes;
  }

  void set_steps_of_copy(const TilePlace& place, std::int64_t unit) {
    const std::int64_t row = window_->copied_columns(place.extents.columns) * unit;
    work_.source = copy_;
    work_.tap_row = (window_->spreads_rows() ? place.extents.rows : 1) * row;
    work_.tap_column = (window_->spreads_columns() ? place.extents.columns : window_->across.dilation) * unit;
    work_.row_step = (window_->spreads_rows() ? 1 : window_->down.stride) * row;
    work_.block_step = elements_of_copy_;
    work_.channel_step = window_->copied_rows(place.extents.rows) * window_->copied_columns(place.extents.columns);
  }

  // Copies what a tile reads of one block of channels, or of all planes, with zeros for the padding.
  void copy_source(const TilePlace& place, const float* source, float* to) const {
    const bool is_plain = shape_.kind == TileKind::planes;
    if (!is_plain && !window_->spreads_rows() && !window_->spreads_columns()) {
      copy_neighbors(place, source, to);
      return;
    }
    const std::int64_t unit = is_plain ? 1 : shape_.lanes;
    const std::int64_t rows = window_->copied_rows(place.extents.rows);
    const std::int64_t columns = window_->copied_columns(place.extents.columns);
    for (std::int64_t plane = 0; plane < (is_plain ? shape_.channels : 1); ++plane, source += source_places()) {
      for (std::int64_t at = 0; at < rows; ++at, to += columns * unit) {
        const std::int64_t row = window_->spreads_rows() ? spread_from(window_->down, place.row, place.extents.rows, at)
                                                         : window_->down.first(place.row) + at;
        if (row < 0 || row >= shape_.down.source) {
          std::fill_n(to, columns * unit, 0.0F);
        } else {
          copy_row(place, source + row * shape_.across.source * unit, unit, to);
        }
      }
    }
  }

  // How `count` places from `first` on are divided by an axis of the source.
  struct Inside {
    std::int64_t before = 0;
    std::int64_t inside = 0;
    std::int64_t after = 0;
  };
  static Inside inside_of(const BlockAxis& axis, std::int64_t first, std::int64_t count) {
    const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, count);
    const std::int64_t end = std::clamp<std::int64_t>(axis.source - first, begin, count);
    return {begin, end - begin, count - end};
  }

  // The rows and columns of one block of channels that a tile reads.
  void copy_neighbors(const TilePlace& place, const float* source, float* to) const {
    const std::int64_t row = window_->down.first(place.row);
    const std::int64_t column = window_->across.first(place.column);
    const Inside rows = inside_of(window_->down, row, window_->down.reach(place.extents.rows));
    const Inside columns = inside_of(window_->across, column, window_->across.reach(place.extents.columns));
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

  void copy_row(const TilePlace& place, const float* row, std::int64_t unit, float* to) const {
    const std::int64_t columns = window_->copied_columns(place.extents.columns);
    if (!window_->spreads_columns()) {
      const std::int64_t first = window_->across.first(place.column);
      const auto [before, inside, after] = inside_of(window_->across, first, columns);
      std::fill_n(to, before * unit, 0.0F);
      std::copy_n(row + (first + before) * unit, inside * unit, to + before * unit);
      std::fill_n(to + (before + inside) * unit, after * unit, 0.0F);
      return;
    }
    for (std::int64_t at = 0; at < columns; ++at, to += unit) {
      const std::int64_t column = spread_from(window_->across, place.column, place.extents.columns, at);
      if (column < 0 || column >= shape_.across.source) {
        std::fill_n(to, unit, 0.0F);
      } else {
        std::copy_n(row + column * unit, unit, to);
      }
    }
  }

  // Where an element of a copy is in the source, along an axis on which each tap has a place for each result.
  static std::int64_t spread_from(const BlockAxis& axis, std::int64_t first, std::int64_t count, std::int64_t at) {
    return axis.first(first + at % count) + at / count * axis.dilation;
  }

  RunCode finish(const TilePlace& place) {
    const std::int64_t row_elements = std::int64_t{place.extents.columns} * shape_.lanes;
    const float* from = sums_.data();
    for (int at = 0; at < place.extents.results; ++at) {
      const std::int64_t block = first_block(place) + at;
      for (int row = 0; row < place.extents.rows; ++row, from += row_elements) {
        const RunCode code = run_epilogue(*parameters_.epilogue,
                                          {.sums = from,
                                           .first = result_offset(place, at, row),
                                           .count = row_elements,
                                           .channels = block * shape_.lanes,
                                           .lanes = shape_.lanes,
                                           .unused_lanes = shape_.lanes - used_lanes(block)},
                                          epilogue_.operands, result_, slots_);
        if (code != RunCode::ok) return code;
      }
    }
    return RunCode::ok;
  }

  const BlockConvolution& shape_;
  const BlockConvolution* window_ = &shape_;  // where the taps of the current tile are; its weights are those of shape_
  std::int64_t elements_of_copy_;             // of one block of the source
  bool exceeds_source_;                       // a window is wider or higher than the source
  const ConvolutionParameters& parameters_;
  const float* source_;
  const float* weights_;
  const float* bias_;
  float* result_;
  float* copy_;
  WindowFunction copy_window_;
  TileWork work_;
  std::optional<TilePlace> copied_;  // the tile whose source is in the copy
  BoundEpilogue epilogue_;
  FusedSlots slots_;
  alignas(64) std::array<float, 2 * kMostLanes> biases_{};
  alignas(64) std::array<float, kMostSums> sums_{};
};

}  // namespace

void set_functions(ConvolutionParameters& parameters) {
  const BlockConvolution& shape = parameters.shape;
  const int columns = static_cast<int>(shape.across.result / shape.column_tiles);
  for (int results = 1; results <= shape.tile_results; ++results) {
    for (int rows = 1; rows <= shape.tile_rows; ++rows) {
      auto& of = parameters.functions[static_cast<std::size_t>(results) - 1][static_cast<std::size_t>(rows) - 1];
      for (int wide = 0; wide <= (shape.across.result % shape.column_tiles == 0 ? 0 : 1); ++wide) {
        of[static_cast<std::size_t>(wide)] =
            tile_function(shape.lanes, shape.kind, {results, rows, columns + wide, shape.column_stride()});
      }
    }
  }
}

RunCode run_tiles(const ConvolutionParameters& parameters, const Operands& operands, std::byte* scratch,
                  Interval<std::int64_t> tiles) {
  TileRunner runner(parameters, operands, scratch);
  TileCursor cursor(parameters.shape, tiles.begin);
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile, cursor.advance()) {
    if (const RunCode code = runner.run(cursor.place()); code != RunCode::ok) return code;
  }
  return RunCode::ok;
}

}  // namespace lowtide::kernels_internal
