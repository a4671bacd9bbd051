// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/caches.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/onednn/integer_product.h"

namespace lowtide::kernels_internal {

// A QLinearMatMul in tiles of rows and columns of each matrix: oneDNN sums products of a tile, and the sums become
// results as in the plain kernel. So both kernels give the same bits.
struct QuantizedProduct {
  struct Matrices {  // where a product begins, in matrices of each operand
    std::int64_t left = 0;
    std::int64_t right = 0;
  };
  std::vector<Matrices> matrices;  // for each matrix of the result
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  bool is_left_signed = false;
  bool is_right_signed = false;
  bool is_transposed = false;  // the second operand is [columns, inner]

  // Whether a part of the columns of the second operand is copied. oneDNN multiplies signed integers by the first
  // ones, so 128 is subtracted from unsigned ones. It has no generated code for a part of the columns of dense rows.
  [[nodiscard]] bool copies_right() const { return !is_right_signed || !is_transposed; }
};

// A QLinearMatMul of the standard domain or of the domain "lowtide" (graph/lowered.h) with known extents and scales of
// f32, whose first operand has one zero point. `missing` gets the reason if there is none.
[[nodiscard]] std::optional<QuantizedProduct> quantized_product(const Graph& graph, NodeId node, std::string& missing);

// How the matrices are divided, and what is in the scratch of a thread.
struct QuantizedTiles {
  static constexpr std::size_t kKinds = 2;
  std::array<std::int64_t, kKinds> rows{};     // of all tiles but the last one in a column, and of the last one
  std::array<std::int64_t, kKinds> columns{};  // the same in a row
  std::int64_t row_tiles = 0;
  std::int64_t column_tiles = 0;
  int threads = 1;
  [[nodiscard]] IntegerProduct product_of(const QuantizedProduct& of, std::size_t row_kind,
                                          std::size_t column_kind) const;
  Bytes sums;     // after the copy of a part of the second operand
  Bytes of_rows;  // the sum of each row of the first operand
  Bytes of_columns;
  Bytes library;
  Bytes per_thread;
};
// The tiles for a number of threads. Returns nullopt if oneDNN has no suitable primitive.
[[nodiscard]] std::optional<QuantizedTiles> quantized_tiles(const QuantizedProduct& of, int threads,
                                                            const CacheSizes& caches);

// Errors: (unsupported) oneDNN cannot make a primitive.
[[nodiscard]] Result<std::unique_ptr<PreparedKernel>> prepare_quantized_product(const QuantizedProduct& of,
                                                                                const QuantizedTiles& tiles);

}  // namespace lowtide::kernels_internal
