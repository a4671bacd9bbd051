// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/tile.h"

#include <algorithm>

#include "lowtide/base/check.h"
#include "lowtide/kernels/blocks/winograd_step.h"

namespace lowtide::kernels_internal {

bool has_tiles(int lanes) {
#if defined(__x86_64__)
  if (lanes == 16) return __builtin_cpu_supports("avx512f") != 0;
  if (lanes == 8) return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  static_cast<void>(lanes);
#endif
  return false;
}

int most_columns(int lanes, int results, int rows) {
  const TileLimits& limits = lanes == 16 ? kAvx512Limits : kAvx2Limits;
  return std::min(limits.columns, limits.sums / (results * rows));
}

bool has_column_stride(TileKind kind, std::int64_t stride) {
  return stride <= 2 || (kind == TileKind::planes && stride == 4);
}

TileFunction tile_function(int lanes, TileKind kind, const TileExtents& extents) {
  LOWTIDE_CHECK(has_tiles(lanes), "a kernel in blocks is offered only where its instructions exist");
  return lanes == 16 ? tile_avx512(kind, extents) : tile_avx2(kind, extents);
}

WindowFunction window_function(int lanes) {
  LOWTIDE_CHECK(has_tiles(lanes), "a kernel in blocks is offered only where its instructions exist");
  return lanes == 16 ? window_avx512() : window_avx2();
}

SquareFunctions square_functions(int lanes) {
  LOWTIDE_CHECK(has_tiles(lanes), "a kernel in blocks is offered only where its instructions exist");
  return lanes == 16 ? squares_avx512() : squares_avx2();
}

}  // namespace lowtide::kernels_internal
