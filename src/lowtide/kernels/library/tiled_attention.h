// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "lowtide/kernels/common/fused_attention.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/library/strided_product.h"

namespace lowtide::kernels_internal {

// A lowtide::Attention that computes some queries of one head at a time: their scores, a tile of [rows, keys], are in
// scratch. All tiles of a head have the same number of rows, except perhaps the last one.

// The products of a tile.
struct TileProducts {
  std::int64_t rows = 0;
  StridedProduct scores;  // queries * keys
  StridedProduct result;  // weights * values
};

struct AttentionTiles {
  std::int64_t tiles = 0;                // of each head
  std::array<TileProducts, 2> products;  // of all tiles but the last one, and of the last one
  Bytes scores;                          // of the largest tile, in whole units of 64 bytes
  Bytes scratch;                         // with what the library needs
};

// Returns nullopt if the library has no suitable primitive.
[[nodiscard]] std::optional<AttentionTiles> attention_tiles(const FusedAttention& attention);

// Errors: (unsupported) the library cannot make a primitive.
[[nodiscard]] Result<std::unique_ptr<PreparedKernel>> tiled_attention(const FusedAttention& attention,
                                                                      const AttentionTiles& tiles);

}  // namespace lowtide::kernels_internal
