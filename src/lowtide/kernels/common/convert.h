// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace lowtide::kernels_internal {

// Converts a number to another type. A float that is NaN or out of range becomes the lowest i64 or i32, as the
// processor does. Smaller integers take the low bits of that i32, and unsigned ones of 32 or 64 bits those of an i64,
// except that a u64 has its own range. Integers keep their low bits.
template <typename To, typename From>
[[nodiscard]] constexpr To converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr bool kIsLong = sizeof(To) == 8 || (sizeof(To) == 4 && std::is_unsigned_v<To>);
    using Whole = std::conditional_t<kIsLong, std::int64_t, std::int32_t>;
    constexpr From kLowest = static_cast<From>(std::numeric_limits<Whole>::min());  // a power of 2, so it is exact
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      if (value >= -kLowest && value < -2 * kLowest) return static_cast<To>(value);
    }
    const bool is_in_range = value > kLowest - 1 && value < -kLowest;
    return static_cast<To>(is_in_range ? static_cast<Whole>(value) : std::numeric_limits<Whole>::min());
  } else {
    return static_cast<To>(value);
  }
}

// False for integers.
template <typename T>
[[nodiscard]] bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

}  // namespace lowtide::kernels_internal
