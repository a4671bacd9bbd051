// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <limits>

#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using testing::Elements;
using ::testing::ElementsAre;
using testing::floats;
using testing::one_node;
using testing::OneNode;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TopK, TakesTheFirstOfEqualElements) {
  OneNode node = one_node("x : f32[4], k : i64[1]", "TopK(x, k)", "f32[2], i64[2]");
  node.run_ok({floats({1, 3, 3, 3}), {2}});
  EXPECT_THAT(node.result<std::int64_t>(1), ElementsAre(1, 2));
}

TEST(TopK, CountsNanAsTheLargest) {
  OneNode most = one_node("x : f32[3], k : i64[1]", "TopK(x, k)", "f32[1], i64[1]");
  most.run_ok({floats({5, kNan, 7}), {1}});
  EXPECT_THAT(most.result<std::int64_t>(1), ElementsAre(1));
  OneNode least = one_node("x : f32[3], k : i64[1]", "TopK(x, k) {largest = 0}", "f32[2], i64[2]");
  least.run_ok({floats({kNan, 7, 5}), {2}});
  EXPECT_THAT(least.result<float>(0), ElementsAre(5, 7));
}

TEST(TopK, RefusesMoreElementsThanThereAre) {
  OneNode node = one_node("x : f32[2], k : i64[1]", "TopK(x, k)", "f32[2], i64[2]");
  EXPECT_EQ(node.run({floats({1, 2}), {3}}), (RunStatus{RunCode::index_out_of_range, 1}));
  EXPECT_EQ(node.run({floats({1, 2}), {-1}}), (RunStatus{RunCode::index_out_of_range, 1}));
}

TEST(TopK, OrdersLinesOfAnInnerAxis) {
  OneNode node = one_node("x : i32[2,2], k : i64[1]", "TopK(x, k) {axis = 0}", "i32[1,2], i64[1,2]");
  node.run_ok({{1, 8, 4, 2}, {1}});
  EXPECT_THAT(node.result<std::int32_t>(0), ElementsAre(4, 8));
  EXPECT_THAT(node.result<std::int64_t>(1), ElementsAre(1, 0));
}

TEST(Unique, KeepsTheOrderOfFirstSlices) {
  OneNode node = one_node("x : i32[4,1]", "Unique(x) {axis = 0, sorted = 0}", "i32[<=4,1], i64[<=4], i64[4], i64[<=4]");
  node.run_ok({{7, 5, 7, 5}});
  EXPECT_THAT(node.extents(0), ElementsAre(2, 1));
  EXPECT_THAT(node.result<std::int32_t>(0), ElementsAre(7, 5));
  EXPECT_THAT(node.result<std::int64_t>(1), ElementsAre(0, 1));
  EXPECT_THAT(node.result<std::int64_t>(2), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(node.result<std::int64_t>(3), ElementsAre(2, 2));
}

const char* const kBoxes = "b : f32[1,3,4], s : f32[1,1,3], n : i64[1], t : f32[1]";

// Corners in any order: boxes 0 and 1 are the unit square, box 2 lies beside them.
const Elements kThreeBoxes = floats({0, 0, 1, 1, 1, 1, 0, 0, 0, 2, 1, 3});

TEST(NonMaxSuppression, SuppressesABoxThatOverlaps) {
  OneNode node = one_node(kBoxes, "NonMaxSuppression(b, s, n, t)", "i64[<=3,3]");
  node.run_ok({kThreeBoxes, floats({0.5F, 0.75F, 0.25F}), {3}, floats({0.5F})});
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(0, 0, 1, 0, 0, 2));
}

// The common part of boxes 0 and 1 is all of their union: 1 > 1 is false.
TEST(NonMaxSuppression, KeepsABoxAtTheThreshold) {
  OneNode node = one_node(kBoxes, "NonMaxSuppression(b, s, n, t)", "i64[<=3,3]");
  node.run_ok({kThreeBoxes, floats({0.5F, 0.5F, 0.25F}), {2}, floats({1})});
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(NonMaxSuppression, SelectsNothingWithoutALimit) {
  OneNode node = one_node("b : f32[1,3,4], s : f32[1,1,3]", "NonMaxSuppression(b, s)", "i64[<=3,3]");
  node.run_ok({kThreeBoxes, floats({1, 1, 1})});
  EXPECT_THAT(node.extents(), ElementsAre(0, 3));
}

TEST(NonMaxSuppression, StopsAtThePlannedSize) {
  OneNode node = one_node(kBoxes, "NonMaxSuppression(b, s, n, t)", "i64[<=1,3]");
  EXPECT_EQ(node.run({kThreeBoxes, floats({1, 1, 1}), {3}, floats({0})}).code, RunCode::size_exceeds_plan);
}

}  // namespace
}  // namespace lowtide
