// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_kernels/fixed_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lowtide {
namespace {

constexpr std::int32_t kOne = std::numeric_limits<std::int32_t>::max();

double real(std::int32_t x, int integer_bits) { return std::ldexp(static_cast<double>(x), integer_bits - 31); }

TEST(QuantizedMultiplier, HasItsHighestBitSet) {
  EXPECT_EQ(quantized_multiplier(0.5), (QuantizedMultiplier{.multiplier = 1 << 30, .shift = 0}));
  EXPECT_EQ(quantized_multiplier(1), (QuantizedMultiplier{.multiplier = 1 << 30, .shift = 1}));
  EXPECT_EQ(quantized_multiplier(0.75 / 8), (QuantizedMultiplier{.multiplier = 3 << 29, .shift = -3}));
  EXPECT_EQ(quantized_multiplier(0), QuantizedMultiplier{});
}

TEST(QuantizedMultiplier, CarriesWhenItRoundsUp) {
  // 1 - 2^-40 has more bits than the multiplier, and rounds to 2^31.
  EXPECT_EQ(quantized_multiplier(1 - 0x1p-40), (QuantizedMultiplier{.multiplier = 1 << 30, .shift = 1}));
}

TEST(QuantizedMultiplier, IsZeroForTinyFactors) {
  EXPECT_EQ(quantized_multiplier(0x1p-32)->shift, -31);
  EXPECT_EQ(quantized_multiplier(0x1p-33), QuantizedMultiplier{});
}

TEST(QuantizedMultiplier, IsOnlyForFactorsBelow2To31) {
  EXPECT_EQ(quantized_multiplier(0x1p31 - 1), (QuantizedMultiplier{.multiplier = kOne, .shift = 31}));
  // 2^31 - 1/4 is below 2^31 and rounds to it.
  for (double factor : {0x1p31 - 0.25, 0x1p31, -0x1p31, 1e300, std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(quantized_multiplier(factor), std::nullopt) << factor;
  }
  EXPECT_EQ(quantized_multiplier(std::numeric_limits<double>::denorm_min()), QuantizedMultiplier{});
}

TEST(WrappingSum, KeepsTheLowest32Bits) {
  EXPECT_EQ(wrapping_sum(kOne, 1), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(wrapping_sum(-3, 2), -1);
}

TEST(HighProduct, RoundsHalvesUp) {
  EXPECT_EQ(high_product(1 << 30, 1 << 30), 1 << 29);
  EXPECT_EQ(high_product(1, 1 << 30), 1);   // 1/2
  EXPECT_EQ(high_product(-1, 1 << 30), 0);  // -1/2
  EXPECT_EQ(high_product(-3, 1 << 30), -1);
  EXPECT_EQ(high_product(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::min()), kOne);
}

TEST(RoundedShift, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(rounded_shift(5, 1), 3);
  EXPECT_EQ(rounded_shift(-5, 1), -3);
  EXPECT_EQ(rounded_shift(-4, 1), -2);
  EXPECT_EQ(rounded_shift(7, 0), 7);
  EXPECT_EQ(rounded_shift(std::numeric_limits<std::int32_t>::min(), 31), -1);
  EXPECT_EQ(rounded_shift(kOne, 31), 1);
}

TEST(Scaled, MultipliesByTheFactor) {
  EXPECT_EQ(scaled(1000, *quantized_multiplier(0.25)), 250);
  EXPECT_EQ(scaled(-1000, *quantized_multiplier(0.0015)), -2);  // -1.5, halves away from zero
  EXPECT_EQ(scaled(100, *quantized_multiplier(12.5)), 1250);
}

TEST(Exponential, IsCloseToTheReal) {
  for (int integer_bits : {4, 5}) {
    for (double x : {-0.01, -0.25, -0.3, -1.0, -2.71, -7.9, -15.5}) {
      const auto fixed = static_cast<std::int32_t>(std::ldexp(x, 31 - integer_bits));
      EXPECT_NEAR(real(exponential(fixed, integer_bits), 0), std::exp(x), 1e-6) << x;
    }
  }
  EXPECT_EQ(exponential(0, 5), kOne);
}

TEST(FixedLogistic, IsCloseToTheReal) {
  for (double x : {-7.5, -1.0, -0.2, 0.0, 0.2, 1.0, 7.5}) {
    const auto fixed = static_cast<std::int32_t>(std::ldexp(x, 27));
    EXPECT_NEAR(real(fixed_logistic(fixed), 0), 1 / (1 + std::exp(-x)), 1e-6) << x;
  }
}

TEST(FixedTanh, IsCloseToTheRealAndOdd) {
  for (double x : {0.0, 0.01, 0.2, 1.0, 3.3, 7.5}) {
    const auto fixed = static_cast<std::int32_t>(std::ldexp(x, 27));
    EXPECT_NEAR(real(fixed_tanh(fixed), 0), std::tanh(x), 1e-6) << x;
    EXPECT_EQ(fixed_tanh(-fixed), -fixed_tanh(fixed)) << x;
  }
}

}  // namespace
}  // namespace lowtide
