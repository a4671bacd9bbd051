// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_kernels/fixed_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lowtide/base/check.h"

namespace lowtide {
namespace {

constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

std::int32_t saturated(std::int64_t x) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(x, std::numeric_limits<std::int32_t>::min(), kMost));
}

// exp(x) for x in [-1/4, 0), by a Taylor series around -1/8. Numbers have no integer bits.
std::int32_t exponential_of_part(std::int32_t x) {
  constexpr std::int32_t kExpOfMinusEighth = 1895147668;
  constexpr std::int32_t kThird = 715827883;
  const std::int32_t x1 = x + (1 << 28);
  const std::int32_t x2 = high_product(x1, x1);
  const std::int32_t x3 = high_product(x2, x1);
  const std::int32_t x4 = high_product(x2, x2);
  const std::int32_t tail = rounded_shift(high_product(rounded_shift(x4, 2) + x3, kThird) + x2, 1);
  return kExpOfMinusEighth + high_product(kExpOfMinusEighth, x1 + tail);
}

// A Newton iteration for 1 / d with d = (1 + x) / 2, of which x has no integer bits. The result has 2 integer bits.
std::int32_t reciprocal_of_half_sum(std::int32_t x) {
  constexpr std::int32_t k48Over17 = 1515870810;
  constexpr std::int32_t kMinus32Over17 = -1010580540;
  const auto half = static_cast<std::int32_t>((std::int64_t{x} + kMost + 1) / 2);
  std::int32_t guess = k48Over17 + high_product(half, kMinus32Over17);
  for (int step = 0; step < 3; ++step) {
    const std::int32_t rest = (1 << 29) - high_product(half, guess);
    guess += saturated(std::int64_t{high_product(guess, rest)} * 4);
  }
  return guess;
}

}  // namespace

std::optional<QuantizedMultiplier> quantized_multiplier(double factor) {
  if (factor == 0) return QuantizedMultiplier{};
  if (!std::isfinite(factor)) return std::nullopt;
  int shift = 0;
  const double fraction = std::frexp(factor, &shift);
  auto multiplier = static_cast<std::int64_t>(std::round(fraction * static_cast<double>(std::int64_t{1} << 31)));
  if (multiplier == std::int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift > 31) return std::nullopt;
  if (shift < -31) return QuantizedMultiplier{};
  return QuantizedMultiplier{.multiplier = static_cast<std::int32_t>(multiplier), .shift = shift};
}

std::int32_t wrapping_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

std::int32_t high_product(std::int32_t a, std::int32_t b) {
  return saturated((std::int64_t{a} * b + (std::int64_t{1} << 30)) >> 31);
}

std::int32_t rounded_shift(std::int32_t x, std::int32_t shift) {
  const std::int64_t mask = (std::int64_t{1} << shift) - 1;
  const std::int64_t rest = x & mask;
  const std::int64_t half = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> shift) + (rest > half ? 1 : 0);
}

std::int32_t scaled(std::int32_t x, QuantizedMultiplier by) {
  const std::int32_t left = std::max(by.shift, 0);
  const auto raised = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << left);
  return rounded_shift(high_product(raised, by.multiplier), left - by.shift);
}

std::int32_t exponential(std::int32_t x, int integer_bits) {
  // exp(-2^k) for k = -2, -1, ..., 4
  constexpr std::array<std::int32_t, 7> kFactors = {1672461947, 1302514674, 790015084, 290630308,
                                                    39332535,   720401,     242};
  LOWTIDE_CHECK(x <= 0 && integer_bits <= 5, "an exponential is of a number that is not above 0");
  if (x == 0) return kMost;
  const int fraction_bits = 31 - integer_bits;
  const std::int32_t quarter = std::int32_t{1} << (fraction_bits - 2);
  const std::int32_t part = (x & (quarter - 1)) - quarter;
  std::int32_t result = exponential_of_part(saturated(std::int64_t{part} << integer_bits));
  const std::int32_t rest = part - x;  // a multiple of 1/4
  for (int bit = 0; bit < static_cast<int>(kFactors.size()) && bit - 2 < integer_bits; ++bit) {
    if ((rest & (std::int32_t{1} << (fraction_bits + bit - 2))) != 0) result = high_product(result, kFactors[bit]);
  }
  return result;
}

std::int32_t fixed_logistic(std::int32_t x) {
  if (x == 0) return std::int32_t{1} << 30;
  const std::int32_t below = exponential(x > 0 ? -x : x, 4);
  // With one integer bit less, 1 / d is 2 / (1 + exp), so its half is wanted.
  const std::int32_t positive = saturated(std::int64_t{reciprocal_of_half_sum(below)} * 2);
  return x > 0 ? positive : kMost - positive;
}

std::int32_t fixed_tanh(std::int32_t x) {
  if (x == 0) return 0;
  // 2x has one integer bit more and the same bits.
  const std::int32_t below = exponential(x > 0 ? -x : x, 5);
  const std::int32_t magnitude = saturated((std::int64_t{reciprocal_of_half_sum(below)} - (1 << 29)) * 4);
  return x > 0 ? magnitude : -magnitude;
}

}  // namespace lowtide
