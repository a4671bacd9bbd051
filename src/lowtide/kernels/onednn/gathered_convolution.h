// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lowtide/kernels/caches.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/onednn/integer_product.h"

namespace lowtide::kernels_internal {

// A QLinearConv as products of matrices. For a tile of places of the result, what the window covers is gathered, and
// oneDNN multiplies the weights of a group by it:
//
//   weights [M, C * h * w]  *  gathered [C * h * w, places]  =  sums [M, places]
//
// Sums of integers are exact, and become results as in the plain kernel. So both kernels give the same bits.

// One spatial axis.
struct GatheredAxis {
  std::int64_t in = 1;   // extent of the operand
  std::int64_t out = 1;  // extent of the result
  std::int64_t taps = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;  // before the first element
};

struct GatheredConvolution {
  std::int64_t images = 0;
  std::int64_t groups = 1;
  std::int64_t channels = 0;  // of the operand, per group
  std::int64_t results = 0;   // channels of the result, per group
  GatheredAxis rows;          // one row, if there is only one spatial axis
  GatheredAxis columns;

  [[nodiscard]] std::int64_t terms() const { return channels * rows.taps * columns.taps; }
  [[nodiscard]] std::int64_t places() const { return rows.out * columns.out; }
};

// A QLinearConv of the standard domain or of the domain "lowtide" (graph/lowered.h) with known extents and padding, and
// with scales of f32. Its groups must be large enough for products. `missing` gets the reason if there is none.
[[nodiscard]] std::optional<GatheredConvolution> gathered_convolution(const Graph& graph, NodeId node,
                                                                      std::string& missing);

// How the places of each image are divided into tiles, and what is in scratch.
struct GatheredTiles {
  std::int64_t tiles = 0;                  // per image and group
  std::int64_t places = 0;                 // of each tile, except perhaps the last one
  int threads = 1;                         // that run tiles at the same time
  std::array<IntegerProduct, 2> products;  // of all tiles but the last one, and of the last one
  Bytes weight_sums;                       // of all threads: the sum of the weights of each result
  Bytes sums;                              // of a thread, after its gathered matrix
  Bytes column_sums;                       // of a thread: the sum of each gathered column
  Bytes library;                           // of a thread: what oneDNN needs
  Bytes per_thread;
};
// The tiles for a number of threads. Returns nullopt if oneDNN has no suitable primitive.
[[nodiscard]] std::optional<GatheredTiles> gathered_tiles(const GatheredConvolution& convolution,
                                                          bool has_signed_weights, int threads,
                                                          const CacheSizes& caches);

// Errors: (unsupported) oneDNN cannot make a primitive.
[[nodiscard]] Result<std::unique_ptr<PreparedKernel>> prepare_gathered(const GatheredConvolution& convolution,
                                                                       const GatheredTiles& tiles);

}  // namespace lowtide::kernels_internal
