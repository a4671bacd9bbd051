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
template <typename T>
void requantize_to(T* to, std::int64_t step, std::span<const std::int32_t> sums, const Requantization& with) {
  for (std::size_t at = 0; at < sums.size(); ++at) {
    to[static_cast<std::int64_t>(at) * step] =
        quantized<T>((static_cast<float>(sums[at]) * with.factor + with.offset) / with.scale, with.zero);
  }
}
// Writes the elements begin, begin + step, ... of a result.
inline void requantize(const BoundTensor& result, std::int64_t begin, std::int64_t step,
                       std::span<const std::int32_t> sums, const Requantization& with) {
  if (result.dtype == DType::i8) {
    requantize_to(mutable_elements<std::int8_t>(result) + begin, step, sums, with);
  } else {
    requantize_to(mutable_elements<std::uint8_t>(result) + begin, step, sums, with);
  }
}

}  // namespace lowtide::kernels_internal
