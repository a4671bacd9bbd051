// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {

// The loops of element-wise operators over one row. Those of f32 have the widest registers of the processor.

// What an operator has from its attributes, such as alpha and beta.
using Numbers = std::array<double, 2>;

// The steps of both operands, 1, or 0 if one element is repeated, and the elements of the result, > 0.
struct RowSteps {
  std::int64_t first = 1;
  std::int64_t second = 1;
  std::int64_t count = 0;
};

// y[i] = compute(x[i], numbers)
template <auto compute, typename T, typename R>
inline void unary_loop(const T* x, R* y, std::int64_t count, const Numbers& numbers) {
  using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
  if constexpr (std::is_invocable_v<decltype(compute), T, Number, Number>) {
    // Attributes of ONNX are f32, and so are their default values.
    const auto a = static_cast<Number>(static_cast<float>(numbers[0]));
    const auto b = static_cast<Number>(static_cast<float>(numbers[1]));
    for (std::int64_t at = 0; at < count; ++at) y[at] = compute(x[at], a, b);
  } else {
    for (std::int64_t at = 0; at < count; ++at) y[at] = compute(x[at]);
  }
}
template <auto compute>
LOWTIDE_VECTOR_CLONES void unary_float_loop(const float* x, float* y, std::int64_t count, const Numbers& numbers) {
  unary_loop<compute>(x, y, count, numbers);
}

// z[i] = compute(x[i], y[i]), where one of both may be repeated
template <auto compute, typename T, typename R>
inline void binary_loop(const T* x, const T* y, R* z, const RowSteps& row) {
  const auto value = [](T a, T b) { return static_cast<R>(compute(a, b)); };
  if (row.second == 0) {
    const T b = *y;
    if (row.first == 1) {
      for (std::int64_t at = 0; at < row.count; ++at) z[at] = value(x[at], b);
    } else {
      z[0] = value(*x, b);
    }
  } else if (row.first == 0) {
    const T a = *x;
    for (std::int64_t at = 0; at < row.count; ++at) z[at] = value(a, y[at]);
  } else {
    for (std::int64_t at = 0; at < row.count; ++at) z[at] = value(x[at], y[at]);
  }
}
template <auto compute>
LOWTIDE_VECTOR_CLONES void binary_float_loop(const float* x, const float* y, float* z, const RowSteps& row) {
  binary_loop<compute>(x, y, z, row);
}

}  // namespace lowtide::kernels_internal
