// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/kernels/one_node.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using testing::kInfinity;
using testing::kNan;
using testing::one_node;
using testing::OneNode;

constexpr auto kLowest = std::numeric_limits<std::int32_t>::min();

TEST(Div, OfIntegersTruncatesAndWraps) {
  OneNode div = one_node("x : i32[4], y : i32[4]", "Div(x, y)", "i32[4]");
  div.run_ok({{7, -7, kLowest, 7}, {2, 2, -1, -2}});
  EXPECT_THAT(div.result<std::int32_t>(), ElementsAre(3, -3, kLowest, -3));
}

TEST(Div, ByIntegerZeroIsAnError) {
  for (const char* op : {"Div(x, y)", "Mod(x, y)", "Mod(x, y) {fmod = 1}"}) {
    OneNode node = one_node("x : i32[2], y : i32[1]", op, "i32[2]");
    EXPECT_EQ(node.run({{1, 2}, {0}}).code, RunCode::division_by_zero) << op;
  }
}

TEST(Mod, HasTheSignOfTheDivisorUnlessFmodIsSet) {
  OneNode mod = one_node("x : i32[5], y : i32[5]", "Mod(x, y)", "i32[5]");
  mod.run_ok({{-4, 7, 5, 4, kLowest}, {3, -3, 5, 3, -1}});
  EXPECT_THAT(mod.result<std::int32_t>(), ElementsAre(2, -2, 0, 1, 0));
  OneNode fmod = one_node("x : i32[3], y : i32[3]", "Mod(x, y) {fmod = 1}", "i32[3]");
  fmod.run_ok({{-4, 7, kLowest}, {3, -3, -1}});
  EXPECT_THAT(fmod.result<std::int32_t>(), ElementsAre(-1, 1, 0));
}

TEST(BitShift, ByTheWidthOrMoreLeavesTheSign) {
  OneNode left = one_node("x : i32[3], y : i32[3]", "BitShift(x, y) {direction = \"LEFT\"}", "i32[3]");
  left.run_ok({{1, 1, 3}, {31, 32, 1}});
  EXPECT_THAT(left.result<std::int32_t>(), ElementsAre(kLowest, 0, 6));
  OneNode right = one_node("x : i32[3], y : i32[3]", "BitShift(x, y) {direction = \"RIGHT\"}", "i32[3]");
  right.run_ok({{-8, -8, 8}, {1, 32, 32}});
  EXPECT_THAT(right.result<std::int32_t>(), ElementsAre(-4, -1, 0));
}

TEST(Pow, HasTheTypeOfTheBase) {
  OneNode integers = one_node("x : i32[5], y : i32[5]", "Pow(x, y)", "i32[5]");
  integers.run_ok({{3, 2, -1, 2, 5}, {4, 31, -3, -1, 0}});
  EXPECT_THAT(integers.result<std::int32_t>(), ElementsAre(81, kLowest, -1, 0, 1));
  OneNode floats = one_node("x : f32[3], y : i32[]", "Pow(x, y)", "f32[3]");
  floats.run_ok({testing::floats({3, -1.5F, 0}), {2}});
  EXPECT_THAT(floats.result<float>(), ElementsAre(9, 2.25F, 0));
}

TEST(Cast, ToIntegersAndBooleans) {
  OneNode integers = one_node("x : f32[4]", "Cast(x) {to = 6}", "i32[4]");
  integers.run_ok({testing::floats({-1.9F, kNan, 3e9F, 1.9F})});
  EXPECT_THAT(integers.result<std::int32_t>(), ElementsAre(-1, kLowest, kLowest, 1));
  OneNode booleans = one_node("x : f32[4]", "Cast(x) {to = 9}", "bool[4]");
  booleans.run_ok({testing::floats({0.1F, kNan, -0.0F, -1})});
  EXPECT_THAT(booleans.result<std::uint8_t>(), ElementsAre(1, 1, 0, 1));
}

// Each number is a little above the middle of two results. A f32 in between would be the middle itself, and its even
// neighbor is the lower result.
TEST(Cast, ToNarrowFloatsRoundsOnce) {
  const auto cast = [](const std::string& type, int to, const std::string& result, const testing::Elements& x) {
    OneNode node = one_node("x : " + type + "[2]", "Cast(x) {to = " + std::to_string(to) + "}", result + "[2]");
    node.run_ok({x});
    return node.result<std::uint16_t>();
  };
  const double above_half = 1 + 0x1p-11 + 0x1p-40;
  const double above_brain = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_THAT(cast("f64", 10, "f16", testing::raw_elements(std::vector<double>{above_half, -above_half})),
              ElementsAre(0x3C01, 0xBC01));
  EXPECT_THAT(cast("f64", 16, "bf16", testing::raw_elements(std::vector<double>{above_brain, 1e300})),
              ElementsAre(0x3F81, 0x7F80));
  constexpr std::int64_t kSmall = (std::int64_t{1} << 30) + (1 << 22) + 1;
  constexpr std::int64_t kLarge = (std::int64_t{1} << 60) + (std::int64_t{1} << 52) + 1;
  EXPECT_THAT(cast("i32", 16, "bf16", {kSmall, -kSmall}), ElementsAre(0x4E81, 0xCE81));
  EXPECT_THAT(cast("i64", 16, "bf16", {kLarge, -kLarge}), ElementsAre(0x5D81, 0xDD81));
}

TEST(Cast, ToHalfRoundsToEven) {
  OneNode cast = one_node("x : f32[4]", "Cast(x) {to = 10}", "f16[4]");
  cast.run_ok({testing::floats({2049, 2051, 65520, 1e-8F})});  // 2048 and above: steps of 2
  EXPECT_THAT(cast.result<std::uint16_t>(), ElementsAre(0x6800, 0x6802, 0x7C00, 0));
}

TEST(Round, TiesGoToTheEvenNumber) {
  OneNode round = one_node("x : f32[6]", "Round(x)", "f32[6]");
  round.run_ok({testing::floats({0.5F, 1.5F, 2.5F, -0.5F, -2.5F, 8388609})});
  EXPECT_THAT(round.result<float>(), ElementsAre(0, 2, 2, -0.0F, -2, 8388609));
}

TEST(MaxAndMin, KeepNan) {
  for (const char* op : {"Max(x, y)", "Min(x, y)"}) {
    OneNode node = one_node("x : f32[3], y : f32[3]", op, "f32[3]");
    node.run_ok({testing::floats({kNan, 1, 1}), testing::floats({1, kNan, 1})});
    const std::vector<float> result = node.result<float>();
    EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]) && result[2] == 1) << op;
  }
}

TEST(Max, MayOverwriteAnyOfThreeOperands) {
  for (int over = 0; over < 3; ++over) {
    OneNode max = one_node("x : i32[3], y : i32[3], z : i32[3]", "Max(x, y, z)", "i32[3]");
    max.over = over;
    max.run_ok({{1, 5, 3}, {4, 2, 1}, {0, 0, 9}});
    EXPECT_THAT(max.result<std::int32_t>(), ElementsAre(4, 5, 9)) << over;
  }
}

TEST(Mean, OfHalvesIsRoundedOnce) {
  OneNode mean = one_node("x : f16[1], y : f16[1], z : f16[1]", "Mean(x, y, z)", "f16[1]");
  const std::uint16_t large = 0x7BFF;  // 65504: the sum of three overflows an f16
  mean.run_ok({testing::halves({large}), testing::halves({large}), testing::halves({large})});
  EXPECT_THAT(mean.result<std::uint16_t>(), ElementsAre(large));
}

TEST(Clip, GivesTheUpperBoundIfTheLowerOneIsHigher) {
  OneNode clip = one_node("x : i32[3], low : i32[], high : i32[]", "Clip(x, low, high)", "i32[3]");
  clip.run_ok({{-5, 0, 5}, {2}, {1}});
  EXPECT_THAT(clip.result<std::int32_t>(), ElementsAre(1, 1, 1));
}

TEST(Clip, KeepsNanAndTakesBoundsFromAttributes) {
  OneNode clip = one_node("x : f32[4]", "Clip(x) {max = 2.0}", "f32[4]");
  clip.run_ok({testing::floats({kNan, 3, -kInfinity, 1})});
  const std::vector<float> result = clip.result<float>();
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_THAT(std::span(result).subspan(1), ElementsAre(2, -kInfinity, 1));
}

// ONNX: x + bias below -lambd, x - bias above lambd, and 0 otherwise. A comparison with NaN is false.
TEST(Shrink, IsZeroWhereNothingElseHolds) {
  OneNode shrink = one_node("x : f32[5]", "Shrink(x) {bias = 0.5, lambd = 1.0}", "f32[5]");
  shrink.run_ok({testing::floats({kNan, -kInfinity, kInfinity, 1, -3})});
  EXPECT_THAT(shrink.result<float>(), ElementsAre(0, -kInfinity, kInfinity, 0, -2.5F));
}

TEST(Sign, KeepsNanAndZero) {
  OneNode sign = one_node("x : f32[4]", "Sign(x)", "f32[4]");
  sign.run_ok({testing::floats({kNan, 0, -3, 1e-40F})});
  const std::vector<float> result = sign.result<float>();
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_THAT(std::span(result).subspan(1), ElementsAre(0, -1, 1));
}

// x has elements 0 .. 5, and y repeats one of its elements in each row.
TEST(Broadcast, RepeatsAxesOfBothOperands) {
  OneNode add = one_node("x : i32[2,1,3], y : i32[2,1]", "Add(x, y)", "i32[2,2,3]");
  add.run_ok({{0, 1, 2, 3, 4, 5}, {10, 20}});
  EXPECT_THAT(add.result<std::int32_t>(), ElementsAre(10, 11, 12, 20, 21, 22, 13, 14, 15, 23, 24, 25));
}

// One row of 40,001 elements, of which each thread computes a part.
TEST(Elementwise, SharesOneRow) {
  std::vector<float> x;
  std::vector<float> expected;
  for (int i = 0; i < 40001; ++i) {
    x.push_back(static_cast<float>(i));
    expected.push_back(static_cast<float>(i) + 0.5F);
  }
  OneNode add = one_node("x : f32[40001], y : f32[]", "Add(x, y)", "f32[40001]");
  for (const int threads : testing::kThreadCounts) {
    testing::ReversedTeam team(threads);
    add.team = &team;
    add.run_ok({testing::floats(x), testing::floats({0.5F})});
    EXPECT_EQ(add.result<float>(), expected);
    EXPECT_EQ(team.calls, threads == 1 ? 0 : 1);
  }
}

// Rows of 3 elements are joined: the second operand begins again in each. 300 rows of the third axis are several parts.
TEST(Broadcast, BeginsAgainInShortRows) {
  std::vector<float> x;
  const std::vector<float> gate = {1, 2, 3, 4, 5, 6};
  std::vector<float> expected;
  for (std::size_t i = 0; i < 2 * 300 * 3; ++i) {
    x.push_back(static_cast<float>(i));
    expected.push_back(static_cast<float>(i) * gate[i / 900 * 3 + i % 3]);
  }
  OneNode mul = one_node("x : f32[2,300,3], g : f32[2,1,3]", "Mul(x, g)", "f32[2,300,3]");
  mul.run_ok({testing::floats(x), testing::floats(gate)});
  EXPECT_EQ(mul.result<float>(), expected);
  // The first half of the result ends in the middle of a row.
  std::vector<float> large;
  std::vector<float> products;
  for (int i = 0; i < 13000 * 3; ++i) {
    large.push_back(static_cast<float>(i % 100));
    products.push_back(static_cast<float>(i % 100) * gate[static_cast<std::size_t>(i % 3)]);
  }
  for (const auto& [over, threads] : {std::pair(-1, 2), {0, 2}, {-1, 3}, {0, 8}}) {
    OneNode shared = one_node("x : f32[1,13000,3], g : f32[1,1,3]", "Mul(x, g)", "f32[1,13000,3]");
    testing::ReversedTeam team(threads);
    shared.team = &team;
    if (over == 0) shared.over = 0;
    shared.run_ok({testing::floats(large), testing::floats({1, 2, 3})});
    EXPECT_EQ(shared.result<float>(), products);
    EXPECT_EQ(team.calls, 1);
  }
}

TEST(Broadcast, DecidesDynamicExtentsAndRefusesOthers) {
  OneNode add = one_node("x : i32[<=4], y : i32[3]", "Add(x, y)", "i32[<=4]");
  add.run_ok({{5}, {1, 2, 3}});
  EXPECT_THAT(add.extents(), ElementsAre(3));
  EXPECT_THAT(add.result<std::int32_t>(), ElementsAre(6, 7, 8));
  EXPECT_EQ(add.run({{5, 6}, {1, 2, 3}}).code, RunCode::bad_extents);
}

TEST(Elementwise, RefusesOperandsOfDifferentTypes) {
  const OneNode add = one_node("x : i32[3], y : i64[3]", "Add(x, y)", "i32[3]");
  EXPECT_EQ(add.missing(), "input 'y' is i64, and has to have the type of input 'x', which is i32");
}

}  // namespace
}  // namespace lowtide
