// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/tile_code.h"
#include "lowtide/kernels/blocks/window_code.h"
#include "lowtide/kernels/blocks/winograd_code.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace lowtide::kernels_internal {
namespace {

struct Avx512 {
  using Vector = __m512;
  static constexpr int kCount = 16;
  static constexpr TileLimits kLimits = kAvx512Limits;
  static constexpr __mmask16 kAll = 0xFFFF;
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static Vector splat(float value) { return _mm512_set1_ps(value); }
  static Vector add_product(Vector a, Vector b, Vector sum) { return _mm512_fmadd_ps(a, b, sum); }
  // The second operand stays if one is NaN, or if both are zero. GCC 12 warns of its own functions without masks.
  static Vector bounded(Vector value, Vector low, Vector high) {
    return _mm512_maskz_min_ps(kAll, high, _mm512_maskz_max_ps(kAll, low, value));
  }
  static void store(float* to, Vector value) { _mm512_storeu_ps(to, value); }
};

}  // namespace

TileFunction tile_avx512(TileKind kind, const TileExtents& extents) { return tile_in<Avx512>(kind, extents); }
WindowFunction window_avx512() { return &copy_window<Avx512>; }
SquareFunctions squares_avx512() { return squares_in<Avx512>(); }

}  // namespace lowtide::kernels_internal

#else

namespace lowtide::kernels_internal {

TileFunction tile_avx512(TileKind /*kind*/, const TileExtents& /*extents*/) { return nullptr; }
WindowFunction window_avx512() { return nullptr; }
SquareFunctions squares_avx512() { return {}; }

}  // namespace lowtide::kernels_internal

#endif
