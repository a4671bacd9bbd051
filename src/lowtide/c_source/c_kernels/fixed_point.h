// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

// Numbers with a binary point, as the reference kernels of TFLite compute with them. A number with n integer bits is
// stored as the number times 2^(31 - n).
namespace lowtide {

// x * multiplier * 2^(shift - 31)
struct QuantizedMultiplier {
  std::int32_t multiplier = 0;  // 0, or its magnitude is at least 2^30
  std::int32_t shift = 0;
  friend bool operator==(const QuantizedMultiplier&, const QuantizedMultiplier&) = default;
};

// The multiplier that stands for a factor. Factors below 2^-31 become 0. nullopt: |factor| is not below 2^31 after it
// has been rounded to 31 bits, or it is no number.
[[nodiscard]] std::optional<QuantizedMultiplier> quantized_multiplier(double factor);

// a + b, without the bits that 32 bits do not hold.
[[nodiscard]] std::int32_t wrapping_sum(std::int32_t a, std::int32_t b);

// a * b / 2^31, rounded to the nearest integer. The result saturates.
[[nodiscard]] std::int32_t high_product(std::int32_t a, std::int32_t b);

// x / 2^shift, rounded to the nearest integer, halves away from zero. Requires: 0 <= shift <= 31.
[[nodiscard]] std::int32_t rounded_shift(std::int32_t x, std::int32_t shift);

// x times a factor, rounded in two steps.
[[nodiscard]] std::int32_t scaled(std::int32_t x, QuantizedMultiplier by);

// The exponential of a number that is not above 0 and has `integer_bits`, as one without integer bits.
// Requires: x <= 0, integer_bits <= 5.
[[nodiscard]] std::int32_t exponential(std::int32_t x, int integer_bits);

// The logistic function and the hyperbolic tangent of a number with 4 integer bits, as one without integer bits.
[[nodiscard]] std::int32_t fixed_logistic(std::int32_t x);
[[nodiscard]] std::int32_t fixed_tanh(std::int32_t x);

}  // namespace lowtide
