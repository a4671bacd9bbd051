// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/blocks/block_convolution.h"
#include "lowtide/kernels/blocks/block_epilogue.h"
#include "lowtide/kernels/blocks/tile_cursor.h"
#include "lowtide/kernels/common/plain_kernel.h"

namespace lowtide::kernels_internal {

struct ConvolutionParameters {
  BlockConvolution shape;
  bool has_winograd = false;  // then the kernel is that of winograd.h
  std::optional<BlockEpilogue> epilogue;
  int threads = 1;  // that have scratch
  // By the blocks and rows of a tile, counted from 0, and by TilePlace::is_wide.
  std::array<std::array<std::array<TileFunction, 2>, 2>, 2> functions{};

  [[nodiscard]] TileFunction function_of(const TilePlace& place) const {
    return functions[static_cast<std::size_t>(place.extents.results) - 1]
                    [static_cast<std::size_t>(place.extents.rows) - 1][place.is_wide ? 1 : 0];
  }
};
// Finds the functions of all tiles that the convolution has.
void set_functions(ConvolutionParameters& parameters);

// Computes the tiles with these indices, on one thread. `scratch` has the bytes of scratch_per_thread().
[[nodiscard]] RunCode run_tiles(const ConvolutionParameters& parameters, const Operands& operands, std::byte* scratch,
                                Interval<std::int64_t> tiles);

}  // namespace lowtide::kernels_internal
