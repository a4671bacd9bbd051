// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace lowtide {

// The f32 next to a number in the direction of 0, with its last bit set, unless an f32 is the number. Rounded to f16 or
// bf16, it gives what one rounding of the number gives (Boldo and Melquiond, 2008, "Emulation of FMA and Correctly
// Rounded Sums: Proved Algorithms Using Rounding to Odd").
[[nodiscard]] inline float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(value)) return nearest;
  const bool is_beyond = std::abs(static_cast<double>(nearest)) > std::abs(value);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(is_beyond ? std::nextafter(nearest, 0.0F) : nearest) | 1U);
}
template <typename From>
[[nodiscard]] float rounded_to_odd(From value) {
  if constexpr (sizeof(From) == 8 && std::is_integral_v<From>) {
    // One bit stands for the lowest ones of a number that has more bits than an f64.
    constexpr From kLow = 0xFFF;
    constexpr From kExact = From{1} << 53;
    const bool is_exact = value <= kExact && (std::is_unsigned_v<From> || value >= From{0} - kExact);
    if (!is_exact) value = static_cast<From>((value & ~kLow) | ((value & kLow) == 0 ? From{0} : From{0x800}));
  }
  return rounded_to_odd(static_cast<double>(value));
}

}  // namespace lowtide
