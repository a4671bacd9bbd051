// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/kernels/blocks/block_matrix.h"
#include "lowtide/kernels/blocks/tile.h"
#include "lowtide/kernels/caches.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/chains/fused_steps.h"

namespace lowtide::kernels_internal {

// The epilogue of a matrix product (graph/epilogue.h), which runs on whole rows of the result.
struct RowEpilogue {
  // Which elements of an operand belong to a row of the result.
  enum class Reach : std::uint8_t {
    one,    // its only element
    row,    // its only row, which has the columns of the result
    whole,  // those at the same place: it has the shape of the result
  };
  FusedSteps steps;
  std::vector<Reach> operands;  // without the result of the product
};
// nullopt: some tensor is not f32, an operand has another shape, or a node has no function.
[[nodiscard]] std::optional<RowEpilogue> row_epilogue(const Graph& program);

// Rows times a matrix in blocks of columns, and how the work is divided.
//
//   197 rows, 768 inner, 3072 columns, 16 lanes: one group of 197 rows, whose elements are copied into blocks so that
//   a tile reads neighboring bytes. For each of 96 pairs of blocks of columns, 15 tiles of 13 or 14 rows.
//   3136 rows, 96 inner, 384 columns, 16 lanes: tile by tile, because the matrix stays in the second cache. Each of 224
//   tiles of 14 rows is copied, multiplied with 12 pairs of blocks, and has its epilogue, before the next one begins.
struct BlockProduct {
  BlockMatrix matrix;
  std::int64_t rows = 1;
  bool has_bias = false;
  std::optional<RowEpilogue> epilogue;
  int threads = 1;              // of a run
  int tile_columns = 1;         // the most blocks of columns in a tile: 1, 2, or kMostResults for tiles of one row
  int tile_rows = 1;            // the most rows of a tile
  bool is_by_tile = false;      // all columns of a tile of rows come before the next one; a thread has its own tiles
  std::int64_t group_rows = 1;  // that are copied at once, unless is_by_tile; the last group may have fewer
  std::int64_t chunk = 1;       // inner blocks that are copied at once; the last chunk may have fewer
  // For tiles with 1 and 2 blocks of columns, by the number of rows.
  std::array<std::array<TileFunction, kAvx512Limits.columns + 1>, 2> functions{};
  TileFunction row_function = nullptr;  // for one row and kMostResults blocks

  [[nodiscard]] std::int64_t pairs() const { return (matrix.blocks() + tile_columns - 1) / tile_columns; }
  // Whether the rows are read where they are: a single one is in blocks already.
  [[nodiscard]] bool is_direct() const { return tile_rows == 1 && has_full_blocks(); }
  [[nodiscard]] bool has_full_blocks() const { return matrix.inner % matrix.lanes == 0; }
  // The elements of the copy of a group, or of a tile.
  [[nodiscard]] std::int64_t elements_of_copy() const;
  // For the copy of a group, or of a tile per thread.
  [[nodiscard]] Bytes scratch() const;
};

// Chooses how the work is divided. Sets everything that follows from the first four members. `is_by_row`: a tile has
// one row, which takes several times longer and needs no scratch. Requires for it: has_full_blocks(). The results have
// the same bits.
void set_division(BlockProduct& product, int threads, const CacheSizes& caches, bool is_by_row = false);

// Computes all rows. `operands` are those of a lowtide::PackedMatMul.
[[nodiscard]] RunCode run_product(const BlockProduct& product, const Operands& operands, Team& team);

}  // namespace lowtide::kernels_internal
