// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "lowtide/kernels/blocks/winograd.h"
#include "lowtide/kernels/common/ceil_div.h"

namespace lowtide::kernels_internal {
namespace {

// Squares of one line, which are neighbors in the image and in the group.
struct SquareRun {
  SquarePlace place;       // of the first
  std::int64_t first = 0;  // in the group
  std::int64_t count = 0;
};

// Computes units on one thread.
class WinogradRunner {
 public:
  WinogradRunner(const WinogradConvolution& made, const Operands& operands, std::byte* scratch)
      : made_(made),
        shape_(made.shape),
        source_(reinterpret_cast<const float*>(*operands.reads[0].bytes)),
        weights_(reinterpret_cast<const float*>(*operands.reads[1].bytes)),
        bias_(shape_.has_bias ? reinterpret_cast<const float*>(*operands.reads[2].bytes) : nullptr),
        result_(reinterpret_cast<float*>(*operands.writes[0].bytes)),
        source_points_(reinterpret_cast<float*>(scratch)),
        weights_points_(source_points_ + kPoints * made.source_point()),
        sums_(weights_points_ + kPoints * made.weights_point()),
        epilogue_(made.epilogue, operands.reads) {}

  RunCode run(std::int64_t group, std::int64_t pair) {
    if (group != group_) load_group(group);
    first_block_ = pair * shape_.tile_results;
    results_ = static_cast<int>(std::min<std::int64_t>(shape_.tile_results, shape_.result_blocks - first_block_));
    for (std::int64_t block = 0; block < shape_.source_blocks; block += made_.part) {
      add_part(block, std::min(made_.part, shape_.source_blocks - block));
    }
    for (int result = 0; result < results_; ++result) {
      if (const RunCode code = finish(result); code != RunCode::ok) return code;
    }
    return RunCode::ok;
  }

 private:
  [[nodiscard]] std::int64_t source_places() const { return shape_.down.source * shape_.across.source; }
  [[nodiscard]] std::int64_t result_places() const { return shape_.down.result * shape_.across.result; }

  // The run that begins with a square of the group. It has at most `most` squares and ends before `end`.
  [[nodiscard]] SquareRun run_at(std::int64_t at, std::int64_t end, std::int64_t most) const {
    const std::int64_t square = group_ * made_.group + at;
    const std::int64_t left = made_.squares_across - square % made_.squares_across;
    return {made_.place_of(square), at, std::min({left, most, end - at})};
  }

  // Transforms the source of a group.
  void load_group(std::int64_t group) {
    group_ = group;
    squares_ = std::min(made_.group, made_.squares() - group * made_.group);
    tiles_ = ceil_div(squares_, most_columns(shape_.lanes, shape_.tile_results, 1));
    narrow_ = squares_ / tiles_;
    wide_tiles_ = squares_ % tiles_;
    for (std::int64_t first = 0; first < squares_;) {
      const SquareRun run = run_at(first, squares_, squares_);
      for (std::int64_t at = 0; at < run.count;) at += load_squares(run, at);
      first += run.count;
    }
  }

  // The places [first, end) of the four that a square has along an axis which are not padding.
  static Interval<int> useful_places(const BlockAxis& axis, std::int64_t at) {
    const auto place = [&](int reach) { return at - axis.pad + reach * axis.dilation; };
    Interval<int> useful{0, kReach};
    while (useful.begin < kReach && place(useful.begin) < 0) ++useful.begin;
    while (useful.end > useful.begin && place(useful.end - 1) >= axis.source) --useful.end;
    return useful;
  }

  // Transforms the source of one square, or of neighbors that reach no padding. Returns how many.
  std::int64_t load_squares(const SquareRun& run, std::int64_t at) {
    const std::int64_t step = kSquare * shape_.across.dilation;
    const std::int64_t column = run.place.column + at * step;
    const Interval<int> down = useful_places(shape_.down, run.place.row);
    const Interval<int> across = useful_places(shape_.across, column);
    std::int64_t count = 1;
    if (down.end - down.begin == kReach && across.end - across.begin == kReach) {
      const std::int64_t last = shape_.across.source - 1 - (column - shape_.across.pad + 3 * shape_.across.dilation);
      count = std::min(run.count - at, 1 + last / step);
    }
    const std::int64_t lanes = shape_.lanes;
    const std::int64_t row = shape_.across.source * lanes;
    // Its place may be in the padding, where there is no element, so it is added as a number.
    const std::int64_t first = run.place.image * shape_.source_blocks * source_places() * lanes +
                               (run.place.row - shape_.down.pad) * row + (column - shape_.across.pad) * lanes;
    made_.transforms.source({.source = source_ + first,
                             .row_step = shape_.down.dilation * row,
                             .column_step = shape_.across.dilation * lanes,
                             .block_step = source_places() * lanes,
                             .blocks = shape_.source_blocks,
                             .count = count,
                             .first_row = down.begin,
                             .end_row = down.end,
                             .first_column = across.begin,
                             .end_column = across.end,
                             .points = source_points_ + (run.first + at) * lanes,
                             .point_step = made_.source_point(),
                             .points_block_step = made_.group * lanes});
    return count;
  }

  // The sums of a tile are at [point][result][square][lane], behind those of the tiles before it.
  struct Tile {
    std::int64_t first = 0;  // square of the group
    std::int64_t count = 0;
  };
  [[nodiscard]] Tile tile(std::int64_t at) const {
    return {at * narrow_ + std::min(at, wide_tiles_), narrow_ + (at < wide_tiles_ ? 1 : 0)};
  }
  [[nodiscard]] float* sums_of(const Tile& tile, std::int64_t point) const {
    return sums_ + (kPoints * tile.first + point * tile.count) * results_ * shape_.lanes;
  }

  // Adds the products of some blocks of channels to all sums.
  void add_part(std::int64_t block, std::int64_t blocks) {
    const std::int64_t lanes = shape_.lanes;
    made_.transforms.weights(
        {.weights = weights_ + first_block_ * shape_.weights_of_block() + block * 9 * lanes * lanes,
         .result_step = shape_.weights_of_block(),
         .results = results_,
         .blocks = blocks,
         .points = weights_points_,
         .point_step = made_.weights_point()});
    TileWork work;
    work.blocks = blocks;
    work.block_step = made_.group * lanes;
    work.result_step = blocks * lanes * lanes;
    work.bias = block == 0 ? zeros_.data() : nullptr;
    for (std::int64_t point = 0; point < kPoints; ++point) {
      work.weights = weights_points_ + point * made_.weights_point();
      const float* const source = source_points_ + point * made_.source_point() + block * made_.group * lanes;
      for (std::int64_t at = 0; at < tiles_; ++at) {
        const Tile of = tile(at);
        work.source = source + of.first * lanes;
        work.sums = sums_of(of, point);
        made_.tiles[static_cast<std::size_t>(results_) - 1][static_cast<std::size_t>(of.count)](work);
      }
    }
  }

  // The lanes of a block of the result that have a channel.
  [[nodiscard]] std::int64_t used_lanes(std::int64_t block) const {
    return std::min<std::int64_t>(shape_.lanes, shape_.results - block * shape_.lanes);
  }

  // Writes one block of results.
  RunCode finish(int result) {
    const std::int64_t block = first_block_ + result;
    const std::int64_t used = used_lanes(block);
    if (bias_ != nullptr) {
      biases_.fill(0);
      std::copy_n(bias_ + block * shape_.lanes, used, biases_.data());
    }
    const bool is_direct = epilogue_.is_in_tile(used == shape_.lanes);
    for (std::int64_t at = 0; at < tiles_; ++at) {
      const Tile of = tile(at);
      for (std::int64_t first = of.first; first < of.first + of.count;) {
        const SquareRun run = run_at(first, of.first + of.count, kStagedSquares);
        if (const RunCode code = write(run, of, result, is_direct); code != RunCode::ok) return code;
        first += run.count;
      }
    }
    return RunCode::ok;
  }

  // How many results, a dilation apart, a square has along an axis.
  static int results_along(const BlockAxis& axis, std::int64_t at) {
    return at >= axis.result ? 0 : at + axis.dilation >= axis.result ? 1 : kSquare;
  }

  RunCode write(const SquareRun& run, const Tile& of, int result, bool is_direct) {
    const std::int64_t lanes = shape_.lanes;
    const std::int64_t step = kSquare * shape_.across.dilation;
    const int rows = results_along(shape_.down, run.place.row);
    const int last = results_along(shape_.across, run.place.column + (run.count - 1) * step);
    if (rows == 0 || (last == 0 && run.count == 1)) return RunCode::ok;  // of a dilation that does not divide the image
    SquareResult work{.points = sums_of(of, 0) + (result * of.count + run.first - of.first) * lanes,
                      .point_step = results_ * of.count * lanes,
                      .square_step = lanes,
                      .count = run.count,
                      .bias = biases_.data(),
                      .result = staged_.data(),
                      .row_step = kStagedSquares * kSquare * lanes,
                      .column_step = lanes,
                      .rows = rows,
                      .last_columns = last};
    const std::int64_t block = first_block_ + result;
    const std::int64_t first = ((run.place.image * shape_.result_blocks + block) * result_places() +
                                run.place.row * shape_.across.result + run.place.column) *
                               lanes;
    if (is_direct) {
      work.result = result_ + first;
      work.addend = epilogue_.addend == nullptr ? nullptr : epilogue_.addend + first;
      work.row_step = shape_.down.dilation * shape_.across.result * lanes;
      work.column_step = shape_.across.dilation * lanes;
      work.low = epilogue_.bounds.low;
      work.high = epilogue_.bounds.high;
      made_.transforms.result(work);
      return RunCode::ok;
    }
    made_.transforms.result(work);
    return run_program(rows, (run.count - 1) * kSquare + last, block, first);
  }

  // Applies the epilogue to the staged results: `columns` of each row.
  RunCode run_program(int rows, std::int64_t columns, std::int64_t block, std::int64_t first) {
    const std::int64_t lanes = shape_.lanes;
    const bool are_neighbors = shape_.across.dilation == 1;
    const std::int64_t at_once = are_neighbors ? columns : 1;
    for (int row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; column += at_once) {
        const std::int64_t place = row * shape_.down.dilation * shape_.across.result + column * shape_.across.dilation;
        const RunCode code = run_epilogue(*made_.epilogue, epilogue_,
                                          {.sums = staged_.data() + (row * kStagedSquares * kSquare + column) * lanes,
                                           .first = first + place * lanes,
                                           .count = at_once * lanes,
                                           .channels = block * lanes,
                                           .lanes = lanes,
                                           .unused_lanes = lanes - used_lanes(block)},
                                          result_, slots_);
        if (code != RunCode::ok) return code;
      }
    }
    return RunCode::ok;
  }

  // A row of them has at most kFusedBlock elements.
  static constexpr std::int64_t kStagedSquares = kFusedBlock / kMostLanes / kSquare;

  const WinogradConvolution& made_;
  const BlockConvolution& shape_;
  const float* source_;
  const float* weights_;
  const float* bias_;
  float* result_;
  float* source_points_;   // [point][block][square][lane] of the group
  float* weights_points_;  // [point][result][block][channel][lane] of a part
  float* sums_;
  std::int64_t group_ = -1;
  // The squares and the tiles of the group. The first tiles have one square more than the others.
  std::int64_t squares_ = 0;
  std::int64_t tiles_ = 0;
  std::int64_t narrow_ = 0;
  std::int64_t wide_tiles_ = 0;
  std::int64_t first_block_ = 0;
  int results_ = 1;
  BoundEpilogue epilogue_;
  FusedSlots slots_;
  alignas(64) std::array<float, 2 * kMostLanes> zeros_{};
  alignas(64) std::array<float, kMostLanes> biases_{};
  alignas(64) std::array<float, kSquare * kFusedBlock> staged_{};
};

}  // namespace

RunCode run_units(const WinogradConvolution& convolution, const Operands& operands, std::byte* scratch,
                  Interval<std::int64_t> units) {
  WinogradRunner runner(convolution, operands, scratch);
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
    const RunCode code = runner.run(unit / convolution.pairs(), unit % convolution.pairs());
    if (code != RunCode::ok) return code;
  }
  return RunCode::ok;
}

}  // namespace lowtide::kernels_internal
