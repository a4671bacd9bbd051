// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/blocks/tile.h"

// For the sources that are compiled for one instruction set. These include nothing else: an inline function of another
// header, compiled with these instructions, might become the copy that the whole program calls.

namespace lowtide::kernels_internal {

// A tile whose sums are in registers. `Lanes` is a type of the source: a register and what it can do.
// NOLINTBEGIN(*-avoid-c-arrays): an array of registers, all of whose indices are constants after unrolling
template <typename Lanes, int results, int rows, int columns>
struct TileSums {
  using Vector = typename Lanes::Vector;
  Vector at[results][rows][columns];

  void begin(const TileWork& work) {
#pragma GCC unroll 4
    for (int b = 0; b < results; ++b) {
      const Vector bias = work.bias == nullptr ? Lanes::splat(0) : Lanes::load(work.bias + b * Lanes::kCount);
#pragma GCC unroll 2
      for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < columns; ++c) at[b][r][c] = bias;
      }
    }
    if (work.bias != nullptr) return;
#pragma GCC unroll 4
    for (int b = 0; b < results; ++b) {
#pragma GCC unroll 2
      for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < columns; ++c) at[b][r][c] = Lanes::load(place(work.sums, b, r, c));
      }
    }
  }

  void end(const TileWork& work) const {
    const Vector low = Lanes::splat(work.low);
    const Vector high = Lanes::splat(work.high);
#pragma GCC unroll 4
    for (int b = 0; b < results; ++b) {
#pragma GCC unroll 2
      for (int r = 0; r < rows; ++r) {
        const std::int64_t offset = b * work.result_block_step + r * work.result_row_step;
        float* const row = work.result == nullptr ? place(work.sums, b, r, 0) : work.result + offset;
        if (work.addend == nullptr) {
#pragma GCC unroll 16
          for (int c = 0; c < columns; ++c) {
            Lanes::store(row + c * Lanes::kCount, Lanes::bounded(at[b][r][c], low, high));
          }
        } else {
#pragma GCC unroll 16
          for (int c = 0; c < columns; ++c) {
            const Vector sum = at[b][r][c] + Lanes::load(work.addend + offset + c * Lanes::kCount);
            Lanes::store(row + c * Lanes::kCount, Lanes::bounded(sum, low, high));
          }
        }
      }
    }
  }

  // Adds the products of one channel, or of each lane with its own channel.
  template <TileKind kind, std::int64_t column_step>
  [[gnu::always_inline]] void add_products(const float* source, std::int64_t row_step, const float* weights,
                                           std::int64_t result_step) {
    Vector factors[results];
#pragma GCC unroll 4
    for (int b = 0; b < results; ++b) factors[b] = Lanes::load(weights + b * result_step);
#pragma GCC unroll 2
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
      for (int c = 0; c < columns; ++c) {
        const float* const from = source + r * row_step + c * column_step;
        const Vector x = kind == TileKind::channels ? Lanes::load(from) : Lanes::splat(*from);
#pragma GCC unroll 4
        for (int b = 0; b < results; ++b) at[b][r][c] = Lanes::add_product(factors[b], x, at[b][r][c]);
      }
    }
  }

 private:
  static float* place(float* sums, int b, int r, int c) {
    return sums + ((b * rows + r) * columns + c) * Lanes::kCount;
  }
};

// Asks for the weights of a tap that is used a few taps later, so that they come from memory in the meantime.
template <int lanes, int results>
void fetch_weights(const float* weights, std::int64_t result_step) {
  constexpr std::int64_t kAhead = 1024;  // elements: 4 taps with 16 lanes
  constexpr std::int64_t kLine = 16;     // elements of a line of a cache
  for (std::int64_t at = 0; at < std::int64_t{lanes} * lanes; at += kLine) {
    for (int b = 0; b < results; ++b) __builtin_prefetch(weights + b * result_step + kAhead + at, 0, 2);
  }
}

// Asks for as many places of a block of the source as a tile reads, so that a later tile finds them in a cache.
template <int lanes, int rows, int columns>
void fetch_source(const float* next, std::int64_t row_step) {
  constexpr std::int64_t kLine = 16;
  for (int r = 0; r < rows; ++r) {
    for (std::int64_t at = 0; at < std::int64_t{columns} * lanes; at += kLine) {
      __builtin_prefetch(next + r * row_step + at, 0, 3);
    }
  }
}

// With a constant stride, all columns of a row are at constant distances from the first.
template <typename Lanes, TileKind kind, int stride, int results, int rows, int columns>
void run_tile(const TileWork& work) {
  constexpr int kLanes = Lanes::kCount;
  constexpr std::int64_t kColumnStep = std::int64_t{stride} * (kind == TileKind::planes ? 1 : kLanes);
  TileSums<Lanes, results, rows, columns> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init): begin() sets it
  sums.begin(work);
  constexpr int kGroup = kind == TileKind::blocks ? 4 : 1;  // channels in one turn of the loop
  const std::int64_t of_each = kind == TileKind::blocks ? kLanes : kind == TileKind::planes ? work.channels : 1;
  const std::int64_t channel_step = kind == TileKind::planes ? work.channel_step : 1;
  const float* weights = work.weights;
  for (std::int64_t block = 0; block < work.blocks; ++block) {
    const float* const first = work.source + block * work.block_step;
    const std::int64_t unused = kind == TileKind::blocks && block + 1 == work.blocks ? work.unused_channels : 0;
    const std::int64_t channels = of_each - unused;
    for (std::int64_t down = 0; down < work.taps_down; ++down) {
      const float* source = first + down * work.tap_row;
      for (std::int64_t across = 0; across < work.taps_across; ++across, source += work.tap_column) {
        const float* of_channel = source;
        if (kind == TileKind::blocks && work.fetches_weights) fetch_weights<kLanes, results>(weights, work.result_step);
        if (kind == TileKind::blocks && work.fetches_source) {
          fetch_source<kLanes, rows, columns>(source + columns * kColumnStep, work.row_step);
        }
        for (std::int64_t channel = 0; channel < channels; channel += kGroup) {
#pragma GCC unroll 4
          for (int one = 0; one < kGroup; ++one, of_channel += channel_step, weights += kLanes) {
            sums.template add_products<kind, kColumnStep>(of_channel, work.row_step, weights, work.result_step);
          }
        }
        weights += unused * kLanes;
      }
    }
  }
  sums.end(work);
}
// NOLINTEND(*-avoid-c-arrays)

template <typename Lanes, TileKind kind, int stride, int results, int rows, int columns = 1>
TileFunction tile_with(int wanted) {
  if constexpr (columns > Lanes::kLimits.columns || results * rows * columns > Lanes::kLimits.sums) {
    return nullptr;
  } else {
    if (wanted == columns) return &run_tile<Lanes, kind, stride, results, rows, columns>;
    return tile_with<Lanes, kind, stride, results, rows, columns + 1>(wanted);
  }
}

template <typename Lanes, TileKind kind, int stride>
TileFunction tile_of(const TileExtents& extents) {
  if (extents.results == 1) {
    return extents.rows == 1 ? tile_with<Lanes, kind, stride, 1, 1>(extents.columns)
                             : tile_with<Lanes, kind, stride, 1, 2>(extents.columns);
  }
  if (extents.results == kMostResults) {
    if constexpr (kind == TileKind::blocks && stride == 1) {
      const bool is_one_place = extents.rows == 1 && extents.columns == 1;
      return is_one_place ? &run_tile<Lanes, kind, stride, kMostResults, 1, 1> : nullptr;
    }
    return nullptr;
  }
  if constexpr (kind == TileKind::channels) {
    return nullptr;
  } else {
    return extents.rows == 1 ? tile_with<Lanes, kind, stride, 2, 1>(extents.columns)
                             : tile_with<Lanes, kind, stride, 2, 2>(extents.columns);
  }
}

template <typename Lanes, int stride>
TileFunction tile_of_stride(TileKind kind, const TileExtents& extents) {
  switch (kind) {
    case TileKind::blocks: return tile_of<Lanes, TileKind::blocks, stride>(extents);
    case TileKind::planes: return tile_of<Lanes, TileKind::planes, stride>(extents);
    case TileKind::channels: return tile_of<Lanes, TileKind::channels, stride>(extents);
  }
  return nullptr;
}

template <typename Lanes>
TileFunction tile_in(TileKind kind, const TileExtents& extents) {
  if (extents.stride == 1) return tile_of_stride<Lanes, 1>(kind, extents);
  if (extents.stride == 2) return tile_of_stride<Lanes, 2>(kind, extents);
  if (extents.stride == 4 && kind == TileKind::planes) return tile_of<Lanes, TileKind::planes, 4>(extents);
  return nullptr;
}

}  // namespace lowtide::kernels_internal
