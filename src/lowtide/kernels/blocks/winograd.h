// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "lowtide/base/bytes.h"
#include "lowtide/base/interval.h"
#include "lowtide/kernels/blocks/block_convolution.h"
#include "lowtide/kernels/blocks/block_epilogue.h"
#include "lowtide/kernels/blocks/winograd_step.h"
#include "lowtide/kernels/caches.h"
#include "lowtide/kernels/common/plain_kernel.h"

namespace lowtide::kernels_internal {

// Where a square is: its results are at `row` and `row + dilation`, and its columns likewise.
struct SquarePlace {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

// A convolution of 3 x 3 taps with steps of one, as squares of 2 x 2 results (winograd_step.h), and how they are
// divided. With a dilation d, the results whose rows and columns are d apart are an image of their own.
//
// A group of squares is computed at once: the source of all channels is transformed, and then, for one pair of blocks
// of results after another, the weights of a part of the channels. The sums of each point are products of matrices,
// whose tiles are those of a convolution with one tap.
//
//   512 channels of 28 x 28 and 512 results, 16 lanes: 196 squares in 7 groups of 28. For each of 16 pairs, 8 parts of
//   64 channels with 32 tiles of 14 squares: 16 points of 2 tiles each.
//
// Transformed weights would stay the same from run to run, but would be 16 / 9 times as large, so they are made again
// for each group. The sum of a point begins with zero and adds the channels in their order, with one rounding per
// product and sum, and the transforms are those of winograd_code.h. So no bit depends on groups, parts, tiles or
// threads.
struct WinogradConvolution {
  BlockConvolution shape;  // kind `blocks`, one group
  std::optional<BlockEpilogue> epilogue;
  int threads = 1;                // that have scratch
  std::int64_t squares_down = 1;  // of an image
  std::int64_t squares_across = 1;
  std::int64_t group = 1;  // squares; the last group may have fewer
  std::int64_t part = 1;   // blocks of channels; the last part may have fewer
  // For tiles with 1 and 2 blocks of results, by the number of squares.
  std::array<std::array<TileFunction, kAvx512Limits.columns + 1>, 2> tiles{};
  SquareFunctions transforms;

  [[nodiscard]] std::int64_t images() const { return shape.images * shape.down.dilation * shape.across.dilation; }
  [[nodiscard]] std::int64_t squares() const { return images() * squares_down * squares_across; }
  [[nodiscard]] std::int64_t groups() const { return (squares() + group - 1) / group; }
  [[nodiscard]] std::int64_t pairs() const {
    return (shape.result_blocks + shape.tile_results - 1) / shape.tile_results;
  }
  [[nodiscard]] std::int64_t units() const { return groups() * pairs(); }
  [[nodiscard]] SquarePlace place_of(std::int64_t square) const;
  // The elements of a thread's scratch, and where they begin: those of the source, the weights and the sums.
  [[nodiscard]] std::int64_t source_point() const { return (shape.source_blocks * group + 1) * shape.lanes; }
  [[nodiscard]] std::int64_t weights_point() const {
    return (shape.tile_results * part * shape.lanes + 1) * shape.lanes;
  }
  [[nodiscard]] std::int64_t sums() const { return std::int64_t{kPoints} * shape.tile_results * group * shape.lanes; }
  [[nodiscard]] Bytes scratch_per_thread() const;
};

// Returns nullopt if the window is another one, or if the transforms would take about as long as they save: images or
// channels are few. O(1).
[[nodiscard]] std::optional<WinogradConvolution> winograd_convolution(const BlockConvolution& shape);

// Chooses the size of groups and parts. `is_narrow`: as little scratch as a tile permits, which takes longer and has
// the same bits.
void set_groups(WinogradConvolution& made, int threads, const CacheSizes& caches, bool is_narrow);

// Finds the functions. Requires: has_tiles(shape.lanes).
void set_functions(WinogradConvolution& made);

// Computes these units on one thread: unit u is pair u % pairs() of group u / pairs(). `scratch` has the bytes of
// scratch_per_thread(). The operands are those of a lowtide::Conv.
[[nodiscard]] RunCode run_units(const WinogradConvolution& convolution, const Operands& operands, std::byte* scratch,
                                Interval<std::int64_t> units);

}  // namespace lowtide::kernels_internal
