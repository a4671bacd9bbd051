// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>

namespace lowtide {

// An element of dtype f16 in memory. Kernels convert it to f32, compute, and convert the result back.
struct Half {
  std::uint16_t bits = 0;
};

[[nodiscard]] inline float to_float(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = half.bits & 0x7FFFU;
  // 2^-24 is the unit of subnormal numbers. The product is exact.
  const float subnormal = static_cast<float>(magnitude) * 5.9604644775390625e-8F;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);
  const std::uint32_t special = (magnitude << 13) | 0x7F800000U;  // infinity and NaN
  const std::uint32_t bits =
      magnitude < 0x0400U ? std::bit_cast<std::uint32_t>(subnormal) : (magnitude < 0x7C00U ? normal : special);
  return std::bit_cast<float>(bits | sign);
}

// Rounds to the nearest f16, and a tie to the even one. Overflows to infinity; a NaN stays a quiet NaN.
[[nodiscard]] inline Half to_half(float value) {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (all >> 16) & 0x8000U;
  const std::uint32_t magnitude = all & 0x7FFFFFFFU;
  // Adding 0.5 makes the last bit of the sum 2^-24, so the addition rounds as an f16 does.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  std::uint32_t bits = magnitude < (113U << 23) ? subnormal : normal;
  if (magnitude >= 0x477FF000U) bits = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;  // 65520 and above; NaN
  return {static_cast<std::uint16_t>(bits | sign)};
}

// An element of dtype bf16 in memory: the upper half of an f32.
struct BrainFloat {
  std::uint16_t bits = 0;
};

[[nodiscard]] inline float to_float(BrainFloat brain) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(brain.bits) << 16);
}

// Rounds to the nearest bf16, and a tie to the even one. Overflows to infinity; a NaN stays a quiet NaN.
[[nodiscard]] inline BrainFloat to_brain_float(float value) {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (all & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t rounded = all + 0x7FFFU + ((all >> 16) & 1U);
  return {static_cast<std::uint16_t>((is_nan ? all | 0x00400000U : rounded) >> 16)};
}

inline void to_floats(const Half* from, std::int64_t count, float* to) {
  for (std::int64_t at = 0; at < count; ++at) to[at] = to_float(from[at]);
}
inline void to_halves(const float* from, std::int64_t count, Half* to) {
  for (std::int64_t at = 0; at < count; ++at) to[at] = to_half(from[at]);
}
inline void to_floats(const BrainFloat* from, std::int64_t count, float* to) {
  for (std::int64_t at = 0; at < count; ++at) to[at] = to_float(from[at]);
}
inline void to_brain_floats(const float* from, std::int64_t count, BrainFloat* to) {
  for (std::int64_t at = 0; at < count; ++at) to[at] = to_brain_float(from[at]);
}

}  // namespace lowtide
