// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstdint>

#include "lowtide/kernels/library/description.h"

namespace lowtide::kernels_internal {

// A product of dense matrices of integers: [rows, inner] of u8 or i8, times [inner, columns] of i8, is [rows, columns]
// of i32. All sums are exact.
struct IntegerProduct {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  bool is_left_signed = false;
  friend auto operator<=>(const IntegerProduct&, const IntegerProduct&) = default;
};

// The primitive for one thread. Returns nullptr if the library has no suitable one, or if the processor has no
// instructions for it: the others limit sums of two products to 16 bits.
[[nodiscard]] PrimitiveDescription describe(const IntegerProduct& product);

}  // namespace lowtide::kernels_internal
