// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lowtide::kernels_internal {

// Functions of one f32 without branches, so that a loop over them becomes vector code. A scalar and a vector loop give
// the same bits, because nothing but IEEE arithmetic takes part. The error is at most 2 units in the last place. NaN
// gives NaN. Coefficients are those of the polynomial through the Chebyshev points of the interval (tests/kernels/
// math_test.cc measures the error). Range reduction follows Cody and Waite, Software Manual for the Elementary
// Functions (1980).

inline constexpr std::uint32_t kExponentOfOne = 127;  // in the bits of an f32
inline constexpr int kMantissaBits = 23;

// e^x = mantissa * 2^n, with the mantissa near 1. A NaN has a mantissa that is NaN, and any n.
struct PowerOfE {
  float mantissa = 1;
  std::uint32_t n = 0;  // in the last 9 bits, as a complement to two
};

// Requires: x is in [-104, 89], or NaN.
[[nodiscard]] inline PowerOfE power_of_e(float x) {
  constexpr float kToInteger = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer, in the last bits
  const float shifted = x * 1.44269504F + kToInteger;
  const float whole = shifted - kToInteger;
  const float r = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;  // minus n * log(2), in two parts
  float q = 0.00139269268F;
  q = q * r + 0.00836377405F;
  q = q * r + 0.0416665487F;
  q = q * r + 0.166665733F;
  q = q * r + 0.5F;
  return {1.0F + (r + r * r * q), std::bit_cast<std::uint32_t>(shifted)};
}

// e^x. Overflows to infinity above 88.7, and to 0 below -103.9. Scales in two steps, because 2^n may not be an f32.
[[nodiscard]] inline float exp_f32(float x) {
  const float low = x < -104.0F ? -104.0F : x;
  const PowerOfE power = power_of_e(low > 89.0F ? 89.0F : low);
  const std::int32_t n = static_cast<std::int32_t>(power.n << kMantissaBits) >> kMantissaBits;
  const auto half = static_cast<std::uint32_t>(n >> 1);
  const std::uint32_t rest = power.n - half;
  return power.mantissa * std::bit_cast<float>((half + kExponentOfOne) << kMantissaBits) *
         std::bit_cast<float>((rest + kExponentOfOne) << kMantissaBits);
}

// exp_f32() with fewer steps. Requires: x <= 0, or NaN.
[[nodiscard]] inline float exp_of_negative_f32(float x) {
  constexpr std::uint32_t kMore = 64;  // 2^(n + 64) is an f32 for each n >= -151
  const PowerOfE power = power_of_e(x < -104.0F ? -104.0F : x);
  return power.mantissa * std::bit_cast<float>((power.n + kMore + kExponentOfOne) << kMantissaBits) * 0x1p-64F;
}

// exp_f32() with fewer steps, where it is not above e^88. Requires: x >= 0, or NaN.
[[nodiscard]] inline float exp_up_to_88_f32(float x) {
  const PowerOfE power = power_of_e(x > 88.0F ? 88.0F : x);
  return power.mantissa * std::bit_cast<float>((power.n + kExponentOfOne) << kMantissaBits);
}

// The natural logarithm. -infinity for 0, NaN below.
[[nodiscard]] inline float log_f32(float x) {
  const bool is_tiny = x < 1.17549435e-38F;
  const float scaled = is_tiny ? x * 8388608.0F : x;  // 2^23: no longer subnormal
  const auto bits = std::bit_cast<std::uint32_t>(scaled);
  // Subtracting sqrt(1/2) moves the boundary between two exponents there, so that m is in [sqrt(1/2), sqrt(2)). The
  // bits are unsigned, because those of a negative x wrap around.
  const std::int32_t exponent = static_cast<std::int32_t>(bits - 0x3F3504F3U) >> 23;
  const auto m = std::bit_cast<float>(bits - static_cast<std::uint32_t>(exponent) * 0x800000U);
  const float e = static_cast<float>(exponent) - (is_tiny ? 23.0F : 0.0F);
  const float f = m - 1.0F;
  const float s = f * f;
  float p = 0.0697161183F;
  p = p * f - 0.114797339F;
  p = p * f + 0.116854198F;
  p = p * f - 0.124256872F;
  p = p * f + 0.142490581F;
  p = p * f - 0.166678026F;
  p = p * f + 0.200007156F;
  p = p * f - 0.24999997F;
  p = p * f + 0.333333313F;
  const float tail = f * s * p - 0.5F * s - e * 2.12194440e-4F;
  const float finite = e * 0.693359375F + (f + tail);
  const float positive = x <= 3.40282347e38F ? finite : x;  // infinity and NaN stay
  return x > 0.0F ? positive : (x == 0.0F ? -INFINITY : NAN);
}

[[nodiscard]] inline float tanh_f32(float x) {
  const float t = std::fabs(x);
  const float s = x * x;
  float p = -0.00609671418F;
  p = p * s + 0.0209971797F;
  p = p * s - 0.0538509078F;
  p = p * s + 0.133327693F;
  p = p * s - 0.333333284F;
  const float small = x + x * s * p;
  const float large = 1.0F - 2.0F / (exp_up_to_88_f32(2.0F * t) + 1.0F);
  return t < 0.625F ? small : std::copysign(large, x);
}

// 1 / (1 + e^-x)
[[nodiscard]] inline float sigmoid_f32(float x) {
  const float e = exp_of_negative_f32(-std::fabs(x));
  return (x < 0.0F ? e : 1.0F) / (1.0F + e);
}

// The error function. From |x| = 0.92 on it is 1 - q^-4, where q is a polynomial whose coefficients give erf(x) the
// same absolute error everywhere. There is no limit for |x|: q grows to infinity.
[[nodiscard]] inline float erf_f32(float x) {
  const float t = std::fabs(x);
  const float s = x * x;
  float p = -0.000596731086F;
  p = p * s + 0.00498890597F;
  p = p * s - 0.0267639942F;
  p = p * s + 0.112817541F;
  p = p * s - 0.376124889F;
  p = p * s + 0.128379151F;
  const float small = x + x * p;
  const float z = t - 1.0F;
  float q = 0.00246328604F;
  q = q * z - 0.00706546148F;
  q = q * z + 0.0187524185F;
  q = q * z + 0.00209418498F;
  q = q * z + 0.0521862246F;
  q = q * z + 0.12621066F;
  q = q * z + 0.313380152F;
  q = q * z + 0.680269539F;
  q = q * z + 1.04759192F;
  q = q * z + 1.58788252F;
  const float square = q * q;
  const float large = 1.0F - 1.0F / (square * square);
  return t < 0.92F ? small : std::copysign(large, x);
}

}  // namespace lowtide::kernels_internal
