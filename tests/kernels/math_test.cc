// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/math/functions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lowtide/base/half.h"
#include "lowtide/kernels/common/convert.h"

namespace lowtide::kernels_internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The distance of a result from the exact value, in units in the last place of the exact value as f32.
double units_off(float got, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (got == nearest || (std::isnan(got) && std::isnan(exact))) return 0;
  const float magnitude = std::fabs(nearest);
  const double unit = static_cast<double>(std::nextafter(magnitude, kInfinity)) - static_cast<double>(magnitude);
  return std::fabs(static_cast<double>(got) - exact) / unit;
}

// The largest error over all exponents and both signs, with 997 values per exponent.
double worst_error(float (*function)(float), double (*exact)(double)) {
  double worst = 0;
  for (std::uint32_t bits = 0; bits < 0x7F800000U; bits += 8413) {  // 2^23 / 997
    for (const std::uint32_t sign : {0U, 0x80000000U}) {
      const float x = std::bit_cast<float>(bits | sign);
      const double error = units_off(function(x), exact(static_cast<double>(x)));
      if (error > worst) worst = error;
      if (std::isnan(error)) return error;
    }
  }
  return worst;
}

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(MathFunctions, AreWithinTwoUnitsOverAllExponents) {
  EXPECT_LE(worst_error(&exp_f32, &std::exp), 2);
  EXPECT_LE(worst_error(&log_f32, &std::log), 2);
  EXPECT_LE(worst_error(&tanh_f32, &std::tanh), 2);
  EXPECT_LE(worst_error(&sigmoid_f32, &exact_sigmoid), 2.5);  // a quotient of two rounded numbers
  EXPECT_LE(worst_error(&erf_f32, &std::erf), 2);
}

TEST(MathFunctions, HandleInfinityAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (float (*function)(float) : {&exp_f32, &log_f32, &tanh_f32, &sigmoid_f32, &erf_f32}) {
    EXPECT_TRUE(std::isnan(function(nan)));
    EXPECT_TRUE(std::isnan(function(-nan)));
  }
  EXPECT_EQ(exp_f32(kInfinity), kInfinity);
  EXPECT_EQ(exp_f32(-kInfinity), 0);
  EXPECT_EQ(log_f32(kInfinity), kInfinity);
  EXPECT_EQ(log_f32(0), -kInfinity);
  EXPECT_TRUE(std::isnan(log_f32(-1)));
  EXPECT_EQ(tanh_f32(-kInfinity), -1);
  EXPECT_EQ(erf_f32(kInfinity), 1);
  EXPECT_EQ(sigmoid_f32(-kInfinity), 0);
}

TEST(Half, SurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    if (std::isnan(to_float(half))) {
      EXPECT_GT(bits & 0x7FFFU, 0x7C00U);
      EXPECT_TRUE(std::isnan(to_float(to_half(to_float(half)))));
    } else {
      EXPECT_EQ(to_half(to_float(half)).bits, bits);
    }
  }
  EXPECT_EQ(to_float(Half{0x3C00}), 1);
  EXPECT_EQ(to_float(Half{0x0001}), std::ldexp(1.0F, -24));
  EXPECT_EQ(to_float(Half{0xFC00}), -kInfinity);
}

// Between two neighbours, the middle goes to the even one, and other numbers to the nearest.
TEST(Half, RoundsToTheNearestAndTiesToEven) {
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const float low = to_float(Half{bits});
    const float high = to_float(Half{static_cast<std::uint16_t>(bits + 1)});
    const float middle = (low + high) / 2;  // exact
    EXPECT_EQ(to_half(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(to_half(std::nextafter(middle, 0.0F)).bits, bits);
    EXPECT_EQ(to_half(-std::nextafter(middle, kInfinity)).bits, (bits + 1) | 0x8000);
  }
  EXPECT_EQ(to_half(65519.0F).bits, 0x7BFF);
  EXPECT_EQ(to_half(65520.0F).bits, 0x7C00);
}

TEST(Convert, FloatsOutOfRangeBecomeTheLowestInteger) {
  constexpr auto kLowest32 = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(converted<std::int32_t>(std::nanf("")), kLowest32);
  EXPECT_EQ(converted<std::int32_t>(2147483648.0F), kLowest32);
  EXPECT_EQ(converted<std::int32_t>(-2147483648.0F), kLowest32);
  EXPECT_EQ(converted<std::int32_t>(2147483520.0F), 2147483520);
  EXPECT_EQ(converted<std::int64_t>(-1e30F), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(converted<std::uint8_t>(-1.5F), 255);  // the low bits of -1
  EXPECT_EQ(converted<std::int8_t>(300.0F), 44);   // 300 - 256
  EXPECT_EQ(converted<std::uint8_t>(std::int64_t{257}), 1);
}

}  // namespace
}  // namespace lowtide::kernels_internal
