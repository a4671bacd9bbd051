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
using testing::floats;
using testing::kInfinity;
using testing::kNan;
using testing::one_node;
using testing::OneNode;

TEST(Reduce, KeepsOrRemovesAxes) {
  OneNode inner = one_node("x : i32[2,3]", "ReduceSum(x) {axes = [-1], keepdims = 0}", "i32[2]");
  inner.run_ok({{0, 1, 2, 3, 4, 5}});
  EXPECT_THAT(inner.result<std::int32_t>(), ElementsAre(3, 12));
  OneNode outer = one_node("x : i32[2,3], axes : i64[1]", "ReduceMax(x, axes)", "i32[1,3]");
  outer.run_ok({{0, 5, 2, 3, 4, 1}, {0}});
  EXPECT_THAT(outer.result<std::int32_t>(), ElementsAre(3, 5, 2));
  OneNode both = one_node("x : i32[2,2,2]", "ReduceSum(x) {axes = [0, 2], keepdims = 0}", "i32[2]");
  both.run_ok({{0, 1, 2, 3, 4, 5, 6, 7}});
  EXPECT_THAT(both.result<std::int32_t>(), ElementsAre(0 + 1 + 4 + 5, 2 + 3 + 6 + 7));
}

// 19 results of 40 x 200 elements: several at a time, the last ones alone, and a part of them on each thread.
TEST(Reduce, SumsInTheSameOrderForAllResults) {
  std::vector<float> x;
  for (int i = 0; i < 19 * 40 * 200; ++i) x.push_back(static_cast<float>((i * 7919) % 1009) / 64.0F - 7.0F);
  std::vector<float> means;
  for (std::size_t result = 0; result < 19; ++result) {
    double sum = 0;
    for (std::size_t i = 0; i < 8000; ++i) sum += static_cast<double>(x[result * 8000 + i]);
    means.push_back(static_cast<float>(sum / 8000));
  }
  for (const int threads : testing::kThreadCounts) {
    testing::ReversedTeam team(threads);
    OneNode mean = one_node("x : f32[19,40,200]", "ReduceMean(x) {axes = [1, 2], keepdims = 0}", "f32[19]");
    mean.team = &team;
    mean.run_ok({floats(x)});
    EXPECT_EQ(mean.result<float>(), means);
  }
}

TEST(Reduce, ReducesNothingOrAllWithoutAxes) {
  OneNode all = one_node("x : i32[2,2]", "ReduceSum(x) {keepdims = 0}", "i32[]");
  all.run_ok({{1, 2, 3, 4}});
  EXPECT_THAT(all.result<std::int32_t>(), ElementsAre(10));
  OneNode none = one_node("x : i32[2,2]", "ReduceSum(x) {noop_with_empty_axes = 1}", "i32[2,2]");
  none.run_ok({{1, 2, 3, 4}});
  EXPECT_THAT(none.result<std::int32_t>(), ElementsAre(1, 2, 3, 4));
}

float reduced(const std::string& op, const std::vector<float>& values) {
  OneNode node = one_node("x : f32[" + std::to_string(values.size()) + "]", op + "(x) {keepdims = 0}", "f32[]");
  node.run_ok({floats(values)});
  return node.result<float>()[0];
}

TEST(Reduce, HasANeutralResultForNoElements) {
  EXPECT_EQ(reduced("ReduceSum", {}), 0);
  EXPECT_EQ(reduced("ReduceProd", {}), 1);
  EXPECT_EQ(reduced("ReduceMax", {}), -kInfinity);
  EXPECT_EQ(reduced("ReduceMin", {}), kInfinity);
  EXPECT_TRUE(std::isnan(reduced("ReduceMean", {})));
  EXPECT_EQ(reduced("ReduceLogSumExp", {}), -kInfinity);
}

TEST(ReduceMaxAndMin, KeepNan) {
  for (const std::vector<float>& values : {std::vector{kNan, 1.0F}, std::vector{1.0F, kNan, 2.0F}}) {
    EXPECT_TRUE(std::isnan(reduced("ReduceMax", values)));
    EXPECT_TRUE(std::isnan(reduced("ReduceMin", values)));
  }
}

TEST(ReduceLogSumExp, DoesNotOverflow) {
  EXPECT_FLOAT_EQ(reduced("ReduceLogSumExp", {1000, 1000}), 1000 + std::log(2.0F));
  EXPECT_EQ(reduced("ReduceLogSumExp", {-kInfinity, -kInfinity}), -kInfinity);
  EXPECT_EQ(reduced("ReduceLogSumExp", {kInfinity, 0}), kInfinity);
  EXPECT_TRUE(std::isnan(reduced("ReduceLogSumExp", {kNan, 0})));
}

TEST(ReduceL1, OfIntegersAddsMagnitudes) {
  OneNode node = one_node("x : i32[3]", "ReduceL1(x) {keepdims = 0}", "i32[]");
  node.run_ok({{-4, 3, -1}});
  EXPECT_THAT(node.result<std::int32_t>(), ElementsAre(8));
  EXPECT_EQ(reduced("ReduceL1", {-4, 3}), 7);
}

TEST(ReduceMin, OfBooleansIsABoolean) {
  OneNode node = one_node("x : bool[0,2]", "ReduceMin(x) {axes = [0], keepdims = 0}", "bool[2]");
  node.run_ok({{}});
  EXPECT_THAT(node.result<std::uint8_t>(), ElementsAre(1, 1));
}

TEST(Softmax, IsStableAndNormalizesOneAxis) {
  OneNode softmax = one_node("x : f32[2,2]", "Softmax(x) {axis = 0}", "f32[2,2]");
  softmax.run_ok({floats({1000, 0, 1000, -kInfinity})});
  EXPECT_THAT(softmax.result<float>(), ElementsAre(0.5F, 1, 0.5F, 0));
}

TEST(Softmax, OfMinusInfinityAloneIsNan) {
  OneNode softmax = one_node("x : f32[2]", "Softmax(x)", "f32[2]");
  softmax.run_ok({floats({-kInfinity, -kInfinity})});
  EXPECT_TRUE(std::isnan(softmax.result<float>()[0]));
}

// Four elements in one line, because the older meaning covers all axes from 1 on.
TEST(Softmax, BeforeOpset13CoversAllLaterAxes) {
  OneNode softmax = one_node("x : f32[1,2,2]", "Softmax(x) {lowtide_since = 11}", "f32[1,2,2]");
  softmax.over = 0;
  softmax.run_ok({floats({5, 5, 5, 5})});
  EXPECT_THAT(softmax.result<float>(), ElementsAre(0.25F, 0.25F, 0.25F, 0.25F));
}

TEST(Hardmax, ChoosesTheFirstMaximum) {
  OneNode hardmax = one_node("x : f32[4]", "Hardmax(x)", "f32[4]");
  hardmax.run_ok({floats({1, 3, 3, 2})});
  EXPECT_THAT(hardmax.result<float>(), ElementsAre(0, 1, 0, 0));
}

}  // namespace
}  // namespace lowtide
