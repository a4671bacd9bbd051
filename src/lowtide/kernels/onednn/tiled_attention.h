// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "lowtide/kernels/caches.h"
#include "lowtide/kernels/common/fused_attention.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/onednn/strided_product.h"

namespace lowtide::kernels_internal {

// A lowtide::Attention that computes some queries of one head at a time: their scores, a tile of [rows, keys], are in
// scratch. All tiles of a head have the same number of rows, except perhaps the last one.
//
// oneDNN's fast products need dense matrices. A matrix that is a part of a larger tensor, such as the keys of one
// head among those of all heads, is copied to scratch first, and a result from there.

// The products of a tile.
struct TileProducts {
  std::int64_t rows = 0;
  StridedProduct scores;  // queries * keys
  StridedProduct result;  // weights * values
};

// Where a matrix of a tile is in scratch. nullopt: it is used where it lies.
using CopyPlace = std::optional<Bytes>;

struct AttentionTiles {
  std::int64_t tiles = 0;                // of each head
  std::array<TileProducts, 2> products;  // of all tiles but the last one, and of the last one
  CopyPlace query;                       // the scores come first, and then these
  CopyPlace key;
  CopyPlace value;
  CopyPlace result;
  Bytes library;  // the begin of what oneDNN needs
  Bytes scratch;  // all that one thread needs
};

// How many threads share the heads of an attention: as many as given, or one if there is too little work.
[[nodiscard]] int attention_threads(const FusedAttention& attention, int threads);

// Returns nullopt if oneDNN has no suitable primitive.
[[nodiscard]] std::optional<AttentionTiles> attention_tiles(const FusedAttention& attention, const CacheSizes& caches);

// The kernel has scratch for each of the threads, one after another. Errors: (unsupported) oneDNN cannot make a
// primitive.
[[nodiscard]] Result<std::unique_ptr<PreparedKernel>> tiled_attention(const FusedAttention& attention,
                                                                      const AttentionTiles& tiles, int threads);

}  // namespace lowtide::kernels_internal
