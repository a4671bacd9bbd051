// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstdint>

#include "lowtide/kernels/onednn/description.h"

namespace lowtide::kernels_internal {

// Where the elements of a matrix lie, in elements.
struct Strides {
  std::int64_t row = 0;
  std::int64_t column = 0;
  friend auto operator<=>(const Strides&, const Strides&) = default;
};

// A product of two matrices that are parts of larger tensors: [rows, inner] * [inner, columns].
struct StridedProduct {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  Strides left;
  Strides right;
  Strides result;
  friend auto operator<=>(const StridedProduct&, const StridedProduct&) = default;
};

// The primitive for one thread. Returns nullptr if oneDNN has no suitable one, as for a matrix without elements.
[[nodiscard]] PrimitiveDescription describe(const StridedProduct& product);

}  // namespace lowtide::kernels_internal
