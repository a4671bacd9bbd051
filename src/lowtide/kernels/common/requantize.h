// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "lowtide/kernels/common/tensor_view.h"

namespace lowtide::kernels_internal {

// The nearest integer (a tie to the even one) plus the zero point, limited to the range of T. NaN gives the zero point.
// Adding and subtracting kTie rounds as the processor does, and a compiler makes vector code of it.
template <typename T>
[[nodiscard]] T quantized(float value, std::int32_t zero_point) {
  constexpr float kLimit = 1 << 20;  // beyond all ranges together with a zero point
  constexpr float kTie = 3 << 22;
  const float number = value == value ? value : 0.0F;  // NOLINT(misc-redundant-expression)
  const float above = number < -kLimit ? -kLimit : number;
  const float limited = above > kLimit ? kLimit : above;
  const auto sum = static_cast<std::int32_t>((limited + kTie) - kTie) + zero_point;
  return static_cast<T>(std::clamp<std::int32_t>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

// How sums become integers of 8 bits: (sum * factor + offset) / scale, rounded, plus the zero point.
struct Requantization {
  float factor = 1;
  float offset = 0;
  float scale = 1;
  std::int32_t zero = 0;
};
// Writes the elements begin, begin + step, ... of a result of i8 or u8.
void requantize(const BoundTensor& result, std::int64_t begin, std::int64_t step, std::span<const std::int32_t> sums,
                const Requantization& with);

// How the sums of a row of a product become integers of 8 bits. Each pointer has one element per column:
//   ((sum + correction - zero point of the column * sum of the row) * factor + offset) / scale, rounded, plus the zero
//   point.
struct ColumnRequantization {
  const std::int32_t* corrections = nullptr;
  const std::int32_t* zeros = nullptr;  // nullptr: all are zero
  const float* factors = nullptr;
  const float* offsets = nullptr;
  float scale = 1;
  std::int32_t zero = 0;
};
// Writes the elements from `begin` on of a result of i8 or u8. Integers wrap around in 32 bits.
void requantize_columns(const BoundTensor& result, std::int64_t begin, std::span<const std::int32_t> sums,
                        std::int32_t row_sum, const ColumnRequantization& with);

// Rows of QuantizeLinear and DequantizeLinear with one scale and one zero point.
struct ScaleAndZero {
  float scale = 1;
  std::int32_t zero = 0;
};
void quantize_row(std::span<const float> x, const ScaleAndZero& by, std::int8_t* y);
void quantize_row(std::span<const float> x, const ScaleAndZero& by, std::uint8_t* y);
void dequantize_row(std::span<const std::int8_t> x, const ScaleAndZero& by, float* y);
void dequantize_row(std::span<const std::uint8_t> x, const ScaleAndZero& by, float* y);

}  // namespace lowtide::kernels_internal
