// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/tile_runner.h"

#include <algorithm>

#include "lowtide/kernels/blocks/source_copier.h"

namespace lowtide::kernels_internal {
namespace {

// Computes tiles on one thread.
class TileRunner {
 public:
  TileRunner(const ConvolutionParameters& parameters, const Operands& operands, std::byte* scratch)
      : shape_(parameters.shape),
        rows_left_(shape_),
        elements_of_copy_(shape_.elements_of_copy()),
        leaves_out_taps_(shape_.across.reach(1) > shape_.across.source ||
                         (shape_.kind != TileKind::channels && shape_.down.reach(1) > shape_.down.source)),
        parameters_(parameters),
        source_(reinterpret_cast<const float*>(*operands.reads[0].bytes)),
        weights_(reinterpret_cast<const float*>(*operands.reads[1].bytes)),
        bias_(shape_.has_bias ? reinterpret_cast<const float*>(*operands.reads[2].bytes) : nullptr),
        result_(reinterpret_cast<float*>(*operands.writes[0].bytes)),
        copy_(reinterpret_cast<float*>(scratch)),
        copier_(parameters.shape),
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
    if (leaves_out_taps_ && add_useful_taps(place, source, function)) return;
    work_.blocks = shape_.source_blocks;
    if (shape_.kind == TileKind::channels) leave_out_rows(place);
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

  // Leaves out the rows of taps that are in the padding for all results of the tile. The other rows of weights follow
  // one another.
  void leave_out_rows(const TilePlace& place) {
    if (place.row != row_of_window_) choose_rows(place);
    work_.weights += rows_left_out_ * shape_.across.taps * shape_.lanes;
  }

  // Sets the window for the tiles of a row. All of them have the same rows.
  void choose_rows(const TilePlace& place) {
    row_of_window_ = place.row;
    rows_left_out_ = 0;
    window_ = &shape_;
    work_.taps_down = shape_.down.taps;
    const std::int64_t first = shape_.down.first(place.row);
    if (first >= 0 && first + shape_.down.reach(place.extents.rows) <= shape_.down.source) return;
    const Interval<std::int64_t> rows = shape_.down.useful_taps(place.row, place.extents.rows);
    if (rows.empty()) return;
    rows_left_.down = shape_.down;
    rows_left_.down.crop(rows);
    window_ = &rows_left_;
    work_.taps_down = rows_left_.down.taps;
    rows_left_out_ = rows.begin;
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
    const Interval<std::int64_t> down = shape_.down.useful_taps(place.row, place.extents.rows);
    const Interval<std::int64_t> across = shape_.across.useful_taps(place.column, place.extents.columns);
    const std::int64_t useful = (down.end - down.begin) * (across.end - across.begin);
    if (useful == 0 || useful * 2 > shape_.down.taps * shape_.across.taps) return false;
    BlockConvolution cropped = shape_;
    cropped.down.crop(down);
    cropped.across.crop(across);
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
      if (copies) copier_.copy(*window_, place, of_block, copy_);
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
    row_of_window_ = -1;
    return true;
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
      copier_.copy(*window_, place, source + block * source_places() * shape_.lanes, copy_);
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
      const float* const of_block = source + block * source_places() * shape_.lanes;
      copier_.copy(*window_, place, of_block, copy_ + block * elements_of_copy_);
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

  RunCode finish(const TilePlace& place) {
    const std::int64_t row_elements = std::int64_t{place.extents.columns} * shape_.lanes;
    const float* from = sums_.data();
    for (int at = 0; at < place.extents.results; ++at) {
      const std::int64_t block = first_block(place) + at;
      for (int row = 0; row < place.extents.rows; ++row, from += row_elements) {
        const RunCode code = run_epilogue(*parameters_.epilogue, epilogue_,
                                          {.sums = from,
                                           .first = result_offset(place, at, row),
                                           .count = row_elements,
                                           .channels = block * shape_.lanes,
                                           .lanes = shape_.lanes,
                                           .unused_lanes = shape_.lanes - used_lanes(block)},
                                          result_, slots_);
        if (code != RunCode::ok) return code;
      }
    }
    return RunCode::ok;
  }

  const BlockConvolution& shape_;
  const BlockConvolution* window_ = &shape_;  // where the taps of the current tile are; its weights are those of shape_
  BlockConvolution rows_left_;                // the window of a tile without some rows of taps
  std::int64_t row_of_window_ = -1;           // the row of the tiles for which choose_rows() has set the window
  std::int64_t rows_left_out_ = 0;            // of taps, before those of the window
  std::int64_t elements_of_copy_;             // of one block of the source
  bool leaves_out_taps_;  // a window is wider than the source, or higher and leave_out_rows() is not for it
  const ConvolutionParameters& parameters_;
  const float* source_;
  const float* weights_;
  const float* bias_;
  float* result_;
  float* copy_;
  SourceCopier copier_;
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
