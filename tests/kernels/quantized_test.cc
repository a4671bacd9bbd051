// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::one_node;
using testing::OneNode;

testing::Elements elements_of(const std::vector<std::int64_t>& values) {
  testing::Elements elements({});
  elements.integers = values;
  return elements;
}

TEST(ConvInteger, HasPaddingOfTheZeroPoint) {
  OneNode node =
      one_node("x : u8[1,1,1], w : i8[1,1,3], z : u8[]", "ConvInteger(x, w, z) {pads = [1, 1]}", "i32[1,1,1]");
  node.run_ok({{7}, {100, -2, 100}, {5}});
  EXPECT_THAT(node.result<std::int32_t>(), ElementsAre((7 - 5) * -2));
}

TEST(QuantizeLinear, RoundsToEvenAndSaturates) {
  OneNode node = one_node("x : f32[5], s : f32[], z : i8[]", "QuantizeLinear(x, s, z)", "i8[5]");
  const float infinity = std::numeric_limits<float>::infinity();
  node.run_ok({floats({1, 3, -3, infinity, -infinity}), floats({2}), {1}});
  EXPECT_THAT(node.result<std::int8_t>(), ElementsAre(0 + 1, 2 + 1, -2 + 1, 127, -128));
}

TEST(MatMulInteger, HasAZeroPointPerColumn) {
  OneNode node = one_node("a : u8[1,2], b : u8[2,2], p : u8[], q : u8[2]", "MatMulInteger(a, b, p, q)", "i32[1,2]");
  node.run_ok({{3, 5}, {10, 20, 30, 40}, {1}, {10, 0}});
  EXPECT_THAT(node.result<std::int32_t>(), ElementsAre(2 * 0 + 4 * 20, 2 * 20 + 4 * 40));
}

// The sum of 16 products (x - 3) * (w - 1) per channel, with padding of the zero point: 2 * k + 1 of 3 taps are inside.
TEST(QLinearConv, GathersTheTermsOfTilesOfPlaces) {
  std::vector<std::int64_t> x(16 * 70);
  std::vector<std::int64_t> w(4 * 16 * 3);
  for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<std::int64_t>((at * 7919) % 256);
  for (std::size_t at = 0; at < w.size(); ++at) w[at] = static_cast<std::int64_t>((at * 104729) % 256) - 128;
  OneNode node = one_node(
      "x : u8[1,16,70], xs : f32[], xz : u8[], w : i8[4,16,3], ws : f32[4], wz : i8[4], ys : f32[], yz : i8[], "
      "b : f32[4]",
      "lowtide::QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b) {pads = [1, 1]}", "i8[1,4,70]");
  const std::vector<std::int64_t> w_zero = {0, 1, -2, 3};
  // Powers of two, so that no step rounds before the last one.
  node.run_ok({elements_of(x),
               floats({0.25}),
               {3},
               elements_of(w),
               floats({0.5, 0.25, 0.125, 1}),
               elements_of(w_zero),
               floats({512}),
               {5},
               floats({0, 256, -1024, 768})});
  std::vector<std::int8_t> expected;
  for (std::size_t out = 0; out < 4; ++out) {
    for (std::int64_t place = 0; place < 70; ++place) {
      std::int64_t sum = 0;
      for (std::size_t channel = 0; channel < 16; ++channel) {
        for (std::int64_t tap = 0; tap < 3; ++tap) {
          const std::int64_t at = place + tap - 1;
          if (at < 0 || at >= 70) continue;
          sum += (x[channel * 70 + static_cast<std::size_t>(at)] - 3) *
                 (w[(out * 16 + channel) * 3 + static_cast<std::size_t>(tap)] - w_zero[out]);
        }
      }
      const double scales[] = {0.5, 0.25, 0.125, 1};
      const double offsets[] = {0, 256, -1024, 768};
      const double value = (static_cast<double>(sum) * 0.25 * scales[out] + offsets[out]) / 512;
      expected.push_back(static_cast<std::int8_t>(std::clamp(std::nearbyint(value) + 5, -128.0, 127.0)));
    }
  }
  EXPECT_EQ(node.result<std::int8_t>(), expected);
}

// (7 - 5) * 4 = 8 and (9 - 5) * 4 = 16; 8 * 0.5 * 0.5 + 3 = 5, and 5 / 2 = 2.5 is rounded to the even 2.
TEST(QLinearConv, AddsABiasOfRealNumbers) {
  OneNode node = one_node(
      "x : u8[1,1,2], xs : f32[], xz : u8[], w : i8[1,1,1], ws : f32[], wz : i8[], ys : f32[], yz : u8[], b : f32[1]",
      "lowtide::QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b)", "u8[1,1,2]");
  node.run_ok({{7, 9}, floats({0.5}), {5}, {4}, floats({0.5}), {0}, floats({2}), {10}, floats({3})});
  EXPECT_THAT(node.result<std::uint8_t>(), ElementsAre(10 + 2, 10 + 4));  // 16 * 0.25 + 3 = 7, and 3.5 becomes 4
}

// The second operand has a row per column of the result.
TEST(QLinearMatMul, MultipliesByATransposedOperand) {
  OneNode node = one_node(
      "a : u8[2,3], as : f32[], az : u8[], b : i8[2,3], bs : f32[2], bz : i8[2], ys : f32[], yz : i8[], c : f32[2]",
      "lowtide::QLinearMatMul(a, as, az, b, bs, bz, ys, yz, c) {transB = 1}", "i8[2,2]");
  node.run_ok({{1, 2, 3, 4, 5, 6},
               floats({1}),
               {1},
               {1, 2, 3, -1, 0, 1},
               floats({1, 2}),
               {0, 1},
               floats({1}),
               {0},
               floats({10, 20})});
  // Rows less 1: 0 1 2 and 3 4 5. Columns: 1 2 3 and -2 -1 0.
  EXPECT_THAT(node.result<std::int8_t>(), ElementsAre(8 + 10, -1 * 2 + 20, 26 + 10, -10 * 2 + 20));
}

TEST(QLinearMatMul, MultipliesBatchesOfMatrices) {
  OneNode node =
      one_node("a : i8[2,1,2], as : f32[], az : i8[], b : u8[2,3], bs : f32[3], bz : u8[], ys : f32[], yz : u8[]",
               "QLinearMatMul(a, as, az, b, bs, bz, ys, yz)", "u8[2,1,3]");
  node.run_ok({{1, 2, 3, 4}, floats({1}), {0}, {1, 2, 3, 4, 5, 6}, floats({1, 2, 3}), {1}, floats({1}), {100}});
  // The second operand less 1 is 0 1 2 and 3 4 5: 6 9 12 and 12 19 26.
  EXPECT_THAT(node.result<std::uint8_t>(), ElementsAre(106, 118, 136, 112, 138, 178));
}

}  // namespace
}  // namespace lowtide
