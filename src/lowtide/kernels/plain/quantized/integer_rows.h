// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "lowtide/base/bytes.h"
#include "lowtide/kernels/common/requantize.h"
#include "lowtide/kernels/plain/quantized/quantized.h"

namespace lowtide::kernels_internal {

// Products of integers of 8 bits, for QLinearConv and QLinearMatMul. Both sum products of two rows of integers of 16
// bits, from which the zero points are already subtracted. The compiler makes vector code of such sums.

inline constexpr std::int64_t kDotsAtOnce = 4;  // rows of a tile that are multiplied by a row together

// The rows of a tile: about 64 KiB, and a multiple of kDotsAtOnce.
[[nodiscard]] constexpr std::int64_t tile_rows(std::int64_t terms) {
  return std::clamp<std::int64_t>(32'768 / std::max<std::int64_t>(terms, 1), kDotsAtOnce, 64) / kDotsAtOnce *
         kDotsAtOnce;
}
// The scratch of a Tile with at most `most_terms` terms. tile_rows(n) * n is at most the larger of 32,768 and 4 * n.
[[nodiscard]] inline Bytes tile_bytes(std::int64_t most_terms) {
  const std::int64_t tile = std::min(64 * most_terms, std::max<std::int64_t>(32'768, kDotsAtOnce * most_terms));
  return Bytes(4) * 64 + Bytes(2) * (tile + most_terms);
}

// The rows of one operand, and one row of the other one.
struct Tile {
  Tile(std::byte* scratch, std::int64_t of_terms) : terms(of_terms), rows(tile_rows(of_terms)) {
    sums = reinterpret_cast<std::int32_t*>(scratch);
    tile = reinterpret_cast<std::int16_t*>(sums + rows);
    row = tile + rows * terms;
  }
  [[nodiscard]] std::int16_t* at(std::int64_t which) const { return tile + which * terms; }
  // sums[i] = the sum of at(i)[k] * row[k], for the first `count` rows of the tile. Reads whole groups of kDotsAtOnce.
  void multiply(std::int64_t count) const {
    for (std::int64_t first = 0; first < count; first += kDotsAtOnce) add_dots(first);
  }

  std::int64_t terms;
  std::int64_t rows;
  std::int32_t* sums;
  std::int16_t* tile;
  std::int16_t* row;

 private:
  // A part of 32,768 terms fits into i32, because a product is at most 255 * 255. Sums of parts wrap around.
  void add_dots(std::int64_t first) const {
    constexpr std::int64_t kPart = 32'768;
    std::array<std::int32_t, kDotsAtOnce> all{};
    for (std::int64_t begin = 0; begin < terms; begin += kPart) {
      const std::int64_t count = std::min(kPart, terms - begin);
      const std::int16_t* with = row + begin;
      const std::array from{at(first) + begin, at(first + 1) + begin, at(first + 2) + begin, at(first + 3) + begin};
      std::int32_t a = 0;
      std::int32_t b = 0;
      std::int32_t c = 0;
      std::int32_t d = 0;
      for (std::int64_t k = 0; k < count; ++k) {
        a += static_cast<std::int32_t>(with[k]) * from[0][k];
        b += static_cast<std::int32_t>(with[k]) * from[1][k];
        c += static_cast<std::int32_t>(with[k]) * from[2][k];
        d += static_cast<std::int32_t>(with[k]) * from[3][k];
      }
      add_wrapped(all[0], a);
      add_wrapped(all[1], b);
      add_wrapped(all[2], c);
      add_wrapped(all[3], d);
    }
    std::copy(all.begin(), all.end(), sums + first);
  }
};

// to[i] = from[i * step] - zero
template <typename T>
void widen(const T* from, std::int64_t step, std::int64_t count, std::int32_t zero, std::int16_t* to) {
  if (step == 1) {
    for (std::int64_t at = 0; at < count; ++at) to[at] = static_cast<std::int16_t>(from[at] - zero);
  } else {
    for (std::int64_t at = 0; at < count; ++at) to[at] = static_cast<std::int16_t>(from[at * step] - zero);
  }
}

// Calls visit(first) with a pointer of the type of an operand, which is i8 or u8, to the given element.
template <typename Visit>
void dispatch_byte(const BoundTensor& operand, std::int64_t element, Visit visit) {
  if (operand.dtype == DType::i8) {
    visit(elements<std::int8_t>(operand) + element);
  } else {
    visit(elements<std::uint8_t>(operand) + element);
  }
}

}  // namespace lowtide::kernels_internal
