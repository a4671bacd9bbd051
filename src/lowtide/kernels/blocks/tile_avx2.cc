// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/tile_code.h"
#include "lowtide/kernels/blocks/window_code.h"
#include "lowtide/kernels/blocks/winograd_code.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace lowtide::kernels_internal {
namespace {

struct Avx2 {
  using Vector = __m256;
  static constexpr int kCount = 8;
  static constexpr TileLimits kLimits = kAvx2Limits;
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static Vector splat(float value) { return _mm256_set1_ps(value); }
  static Vector add_product(Vector a, Vector b, Vector sum) { return _mm256_fmadd_ps(a, b, sum); }
  // The second operand stays if one of them is NaN, or if both are zero.
  static Vector bounded(Vector value, Vector low, Vector high) {
    return _mm256_min_ps(high, _mm256_max_ps(low, value));
  }
  static void store(float* to, Vector value) { _mm256_storeu_ps(to, value); }
};

}  // namespace

TileFunction tile_avx2(TileKind kind, const TileExtents& extents) { return tile_in<Avx2>(kind, extents); }
WindowFunction window_avx2() { return &copy_window<Avx2>; }
SquareFunctions squares_avx2() { return squares_in<Avx2>(); }

}  // namespace lowtide::kernels_internal

#else

namespace lowtide::kernels_internal {

TileFunction tile_avx2(TileKind /*kind*/, const TileExtents& /*extents*/) { return nullptr; }
WindowFunction window_avx2() { return nullptr; }
SquareFunctions squares_avx2() { return {}; }

}  // namespace lowtide::kernels_internal

#endif
