// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/kernels/caches.h"

// The numbers by which kernels were tuned: how much of a cache they fill, and when work is worth dividing. All were
// measured, on processors with caches of 32 KiB and 1 MiB, and of 48 KiB and 2 MiB. None changes the bits of a result,
// except where a row says so.
namespace lowtide::kernels_internal {

// A part of a cache of one core.
struct CacheShare {
  Bytes CacheSizes::*cache;
  std::int64_t numerator;
  std::int64_t denominator;

  [[nodiscard]] constexpr std::int64_t bytes(const CacheSizes& of) const {
    return (of.*cache).count() * numerator / denominator;
  }
  [[nodiscard]] constexpr std::int64_t floats(const CacheSizes& of) const {
    return bytes(of) / static_cast<std::int64_t>(sizeof(float));
  }
};

// Convolutions in blocks: what is copied for a tile before its products; the weights that stay for all rectangles of a
// source; and a source that does not stay for all blocks of its results.
inline constexpr CacheShare kConvolutionCopy{&CacheSizes::first, 1, 2};
inline constexpr CacheShare kConvolutionWeights{&CacheSizes::second, 5, 8};
inline constexpr CacheShare kConvolutionSource{&CacheSizes::second, 1, 1};

// Winograd's algorithm: the transformed places of a group of squares.
inline constexpr CacheShare kWinogradSource{&CacheSizes::second, 1, 2};

// Products in blocks: the copy of a group of rows. It is smaller if the chunk of the matrix stays as well, because each
// group may read all of it again.
inline constexpr CacheShare kMostProductCopy{&CacheSizes::second, 5, 8};
inline constexpr CacheShare kLeastProductCopy{&CacheSizes::second, 1, 8};
// A matrix that stays for all tiles of rows, with one tile beside it.
inline constexpr CacheShare kProductMatrix{&CacheSizes::second, 5, 8};

// Kernels of oneDNN that Lowtide divides into tiles: a gathered matrix with its sums; a second operand of 8 bits
// with its sums; the scores of an attention, beside the keys and values of a head. oneDNN may round the products
// of other tiles of an attention otherwise.
inline constexpr CacheShare kGatheredTile{&CacheSizes::second, 1, 2};
inline constexpr CacheShare kQuantizedTile{&CacheSizes::second, 1, 2};
inline constexpr CacheShare kAttentionScores{&CacheSizes::second, 1, 4};

// Below this many operations, a second thread costs more than it saves: a share begins after about a microsecond. With
// more threads, each one has at least half of this.
inline constexpr std::int64_t kLeastSharedOperations = 1 << 15;
// The same for products that oneDNN computes: about 5 us.
inline constexpr std::int64_t kLeastSharedProducts = 1 << 18;
// Products that kernels in blocks compute in the time of one operation of other kernels.
inline constexpr double kProductsPerOperation = 2;

// A model of one core and of a share, by which kernels of oneDNN are divided.
inline constexpr double kProductsPerSecond = 50e9;
inline constexpr double kBytesPerSecond = 20e9;
inline constexpr double kSecondsOfSharing = 3e-6;  // its end is seen as late as its begin

}  // namespace lowtide::kernels_internal
