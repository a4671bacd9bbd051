// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/winograd.h"

#include <algorithm>

#include "lowtide/kernels/common/ceil_div.h"
#include "lowtide/kernels/common/tuning.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kTaps = 3;

bool is_small_window(const BlockAxis& axis) { return axis.taps == kTaps && axis.stride == 1; }

std::int64_t squares_of(const BlockAxis& axis) { return ceil_div(ceil_div(axis.result, axis.dilation), kSquare); }

// Operations on vectors that a convolution needs: products, and what the transforms load, add and store.
double direct_operations(const WinogradConvolution& made) {
  const BlockConvolution& shape = made.shape;
  const double places =
      static_cast<double>(shape.images * shape.down.result) * static_cast<double>(shape.across.result);
  return places * static_cast<double>(kTaps * kTaps * shape.source_blocks * shape.lanes * shape.result_blocks);
}

double square_operations(const WinogradConvolution& made) {
  constexpr double kOfSource = 72;
  constexpr double kOfWeights = 100;  // they come from memory, once per group
  constexpr double kOfResult = 60;
  const BlockConvolution& shape = made.shape;
  const auto squares = static_cast<double>(made.squares());
  const auto channels = static_cast<double>(shape.source_blocks * shape.lanes);
  const auto results = static_cast<double>(shape.result_blocks);
  return squares * (kPoints * channels * results + kOfSource * static_cast<double>(shape.source_blocks) +
                    kOfResult * results) +
         static_cast<double>(made.groups()) * kOfWeights * channels * results;
}

}  // namespace

SquarePlace WinogradConvolution::place_of(std::int64_t square) const {
  SquarePlace place;
  place.column = square % squares_across * kSquare * shape.across.dilation;
  square /= squares_across;
  place.row = square % squares_down * kSquare * shape.down.dilation;
  square /= squares_down;
  place.column += square % shape.across.dilation;
  square /= shape.across.dilation;
  place.row += square % shape.down.dilation;
  place.image = square / shape.down.dilation;
  return place;
}

Bytes WinogradConvolution::scratch_per_thread() const {
  const std::int64_t elements = kPoints * (source_point() + weights_point()) + sums();
  return Bytes(ceil_div(elements, 16) * 64);
}

std::optional<WinogradConvolution> winograd_convolution(const BlockConvolution& shape) {
  if (shape.kind != TileKind::blocks || shape.groups != 1) return std::nullopt;
  if (!is_small_window(shape.down) || !is_small_window(shape.across)) return std::nullopt;
  WinogradConvolution made{.shape = shape, .epilogue = {}};
  made.shape.tile_results = shape.result_blocks == 1 ? 1 : 2;
  made.squares_down = squares_of(shape.down);
  made.squares_across = squares_of(shape.across);
  // Far more than any network has, so no product below overflows.
  constexpr double kMostSquares = 1e12;
  constexpr std::int64_t kMostChannels = 1 << 16;
  if (shape.channels > kMostChannels || shape.results > kMostChannels) return std::nullopt;
  const double images = static_cast<double>(shape.images) * static_cast<double>(shape.down.dilation) *
                        static_cast<double>(shape.across.dilation);
  if (images * static_cast<double>(made.squares_down) * static_cast<double>(made.squares_across) > kMostSquares)
    return std::nullopt;
  set_groups(made, 1, {}, false);  // lowering asks, and makes the same graph for all caches
  constexpr double kWorthwhile = 0.85;
  if (square_operations(made) > kWorthwhile * direct_operations(made)) return std::nullopt;
  return made;
}

void set_groups(WinogradConvolution& made, int threads, const CacheSizes& caches, bool is_narrow) {
  constexpr std::int64_t kMostSquares = 56;
  constexpr std::int64_t kMostChannels = 64;  // of a part
  made.threads = threads;
  const std::int64_t tile = most_columns(made.shape.lanes, made.shape.tile_results, 1);
  const std::int64_t channels = made.shape.source_blocks * made.shape.lanes;
  const std::int64_t fitting = kWinogradSource.floats(caches) / (kPoints * channels) / tile * tile;
  const std::int64_t most = is_narrow ? tile : std::clamp(fitting, 2 * tile, kMostSquares);
  const std::int64_t groups = ceil_div(made.squares(), most);
  made.group = ceil_div(made.squares(), groups);
  made.part = is_narrow ? 1 : std::min(made.shape.source_blocks, kMostChannels / made.shape.lanes);
}

void set_functions(WinogradConvolution& made) {
  made.transforms = square_functions(made.shape.lanes);
  for (int results = 1; results <= made.shape.tile_results; ++results) {
    auto& of = made.tiles[static_cast<std::size_t>(results) - 1];
    const int most = most_columns(made.shape.lanes, made.shape.tile_results, 1);
    for (int columns = 1; columns <= most; ++columns) {
      of[static_cast<std::size_t>(columns)] =
          tile_function(made.shape.lanes, TileKind::blocks, {results, 1, columns, 1});
    }
  }
}

}  // namespace lowtide::kernels_internal
