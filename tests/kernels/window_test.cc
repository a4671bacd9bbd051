// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <limits>

#include "lowtide/base/random.h"
#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::kInfinity;
using testing::one_node;
using testing::OneNode;

TEST(Conv, MultipliesGroupsWithStridesAndDilations) {
  // Group g reads channel g. Taps at distance 2 over 5 elements with one of padding: positions -1, 1 and 1, 3.
  OneNode conv = one_node("x : f32[1,2,5], w : f32[2,1,2], b : f32[2]",
                          "Conv(x, w, b) {group = 2, dilations = [2], strides = [2], pads = [1, 0]}", "f32[1,2,2]");
  conv.run_ok({{1, 2, 3, 4, 5, 10, 20, 30, 40, 50}, {1, 10, 1, -1}, {100, 0}});
  EXPECT_THAT(conv.result<float>(), ElementsAre(100 + 20, 100 + 2 + 40, -20, 20 - 40));
}

TEST(Conv, RefusesAWindowThatTheWeightsDoNotHave) {
  const auto missing = [](const std::string& window, const std::string& result) {
    return one_node("x : f32[1,2,5,5], w : f32[3,2,3,2]", "Conv(x, w) {kernel_shape = " + window + "}", result)
        .missing();
  };
  EXPECT_EQ(missing("[3, 2]", "f32[1,3,3,4]"), "");
  EXPECT_EQ(missing("[3, 3]", "f32[1,3,3,3]"),
            "attribute 'kernel_shape' is [3,3], and the weights have a window of [3,2]");
  EXPECT_EQ(missing("[3]", "f32[1,3,3,4]"), "attribute 'kernel_shape' is [3], and the weights have a window of [3,2]");
}

TEST(Conv, OfOneTapIsAProductOverChannels) {
  OneNode conv = one_node("x : f32[1,2,2,2], w : f32[1,2,1,1]", "Conv(x, w)", "f32[1,1,2,2]");
  conv.run_ok({{1, 2, 3, 4, 5, 6, 7, 8}, {10, 1}});
  EXPECT_THAT(conv.result<float>(), ElementsAre(15, 26, 37, 48));
}

TEST(Conv, RefusesWeightsOfOtherChannels) {
  OneNode conv = one_node("x : f32[1,3,2,2], w : f32[1,2,1,1]", "Conv(x, w)", "f32[1,1,2,2]");
  EXPECT_EQ(conv.missing(), "input 'w' is f32[1,2,1,1], and has to have the channels of [1,3,2,2] in its groups");
  // A run checks what only it knows.
  OneNode dynamic = one_node("x : f32[<=2,3,2,2], w : f32[1,<=3,1,1]", "Conv(x, w)", "f32[<=2,1,2,2]");
  EXPECT_EQ(dynamic.missing(), "");
}

std::vector<float> pooled(const std::string& op, std::int64_t results) {
  OneNode node = one_node("x : f32[1,1,5]", op, "f32[1,1," + std::to_string(results) + "]");
  node.run_ok({{1, 2, 3, 4, 5}});
  return node.result<float>();
}

// A window of 2 over 4 elements leaves one element of padding: at the end, or at the begin.
TEST(AutoPad, PutsTheOddElementAtTheEndOrTheBegin) {
  EXPECT_THAT(pooled("MaxPool(x) {kernel_shape = [2], auto_pad = \"SAME_UPPER\"}", 5), ElementsAre(2, 3, 4, 5, 5));
  EXPECT_THAT(pooled("MaxPool(x) {kernel_shape = [2], auto_pad = \"SAME_LOWER\"}", 5), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(pooled("MaxPool(x) {kernel_shape = [2], auto_pad = \"VALID\"}", 4), ElementsAre(2, 3, 4, 5));
}

// Windows of 3 at -1, 1, 3 and, rounded up, 5. The last one begins in the padding at the end, so it is left out.
TEST(MaxPool, LeavesOutAWindowThatBeginsInThePaddingAtTheEnd) {
  const std::string with = "{kernel_shape = [3], strides = [2], pads = [1, 2], ceil_mode = 1}";
  EXPECT_THAT(pooled("MaxPool(x) " + with, 3), ElementsAre(2, 4, 5));
}

// A window of 6 or 7 over 5 elements: (5 - 6) / 2 + 1 is 0.5, and (5 - 7) / 2 + 1 is 0. Rounded up, 0.5 is one result.
TEST(Pools, HaveNoResultIfTheWindowIsTooLargeByLessThanAStride) {
  for (const char* pool : {"MaxPool(x) {", "AveragePool(x) {", "LpPool(x) {"}) {
    EXPECT_THAT(pooled(std::string(pool) + "kernel_shape = [6], strides = [2]}", 0), ElementsAre());
    EXPECT_THAT(pooled(std::string(pool) + "kernel_shape = [7], strides = [2]}", 0), ElementsAre());
    EXPECT_THAT(pooled(std::string(pool) + "kernel_shape = [7], strides = [2], ceil_mode = 1}", 0), ElementsAre());
  }
  EXPECT_THAT(pooled("MaxPool(x) {kernel_shape = [6], strides = [2], ceil_mode = 1}", 1), ElementsAre(5));
  EXPECT_THAT(pooled("AveragePool(x) {kernel_shape = [6], strides = [2], ceil_mode = 1}", 1), ElementsAre(3));
  // Three taps with a dilation of 3 reach over 7 elements: (5 - 7) / 3 + 1 is 0.33.
  EXPECT_THAT(pooled("MaxPool(x) {kernel_shape = [3], strides = [3], dilations = [3]}", 0), ElementsAre());
}

// (8 - 3) / 3 + 1 is 2 rows, and (1 - 3) / 3 + 1 is 0.33, so there is no column.
TEST(Convolutions, HaveNoResultIfTheWindowIsTooLargeByLessThanAStride) {
  const std::string with = "{strides = [3, 3]}";
  const Elements x = {1, 2, 3, 4, 5, 6, 7, 8};
  const Elements w = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  OneNode conv = one_node("x : f32[1,1,8,1], w : f32[1,1,3,3]", "Conv(x, w) " + with, "f32[1,1,2,0]");
  conv.run_ok({floats({1, 2, 3, 4, 5, 6, 7, 8}), floats(std::vector<float>(9, 1))});
  EXPECT_THAT(conv.result<float>(), ElementsAre());
  OneNode integer = one_node("x : u8[1,1,8,1], w : u8[1,1,3,3]", "ConvInteger(x, w) " + with, "i32[1,1,2,0]");
  integer.run_ok({x, w});
  EXPECT_THAT(integer.result<std::int32_t>(), ElementsAre());
  OneNode quantized =
      one_node("x : u8[1,1,8,1], xs : f32[], xz : u8[], w : u8[1,1,3,3], ws : f32[], wz : u8[], ys : f32[], yz : u8[]",
               "QLinearConv(x, xs, xz, w, ws, wz, ys, yz) " + with, "u8[1,1,2,0]");
  quantized.run_ok({x, floats({1}), {0}, w, floats({1}), {0}, floats({1}), {0}});
  EXPECT_THAT(quantized.result<std::uint8_t>(), ElementsAre());
  OneNode deformed =
      one_node("x : f32[1,1,8,1], w : f32[1,1,3,3], o : f32[1,18,2,0]", "DeformConv(x, w, o) " + with, "f32[1,1,2,0]");
  deformed.run_ok({floats({1, 2, 3, 4, 5, 6, 7, 8}), floats(std::vector<float>(9, 1)), {}});
  EXPECT_THAT(deformed.result<float>(), ElementsAre());
}

// Windows of 3 at 0, 2 and, rounded up, 4: it has element 4, one of padding, and one beyond.
TEST(AveragePool, CountsPaddingButNothingBeyondIt) {
  const std::string with = "kernel_shape = [3], strides = [2], pads = [0, 1], ceil_mode = 1}";
  EXPECT_THAT(pooled("AveragePool(x) {count_include_pad = 1, " + with, 3), ElementsAre(2, 4, 2.5F));
  EXPECT_THAT(pooled("AveragePool(x) {" + with, 3), ElementsAre(2, 4, 5));
}

// Two taps at -1 and 1 around one element.
TEST(AveragePool, OfNoElementIsZero) {
  for (const char* counted : {"0", "1"}) {
    OneNode pool = one_node("x : f32[1,1,1]",
                            std::string("AveragePool(x) {kernel_shape = [2], dilations = [2], pads = [1, 1], "
                                        "count_include_pad = ") +
                                counted + "}",
                            "f32[1,1,1]");
    pool.run_ok({floats({5})});
    EXPECT_THAT(pool.result<float>(), ElementsAre(0));
  }
}

TEST(MaxPool, PadsWithTheLowestNumber) {
  OneNode f32 = one_node("x : f32[1,1,2]", "MaxPool(x) {kernel_shape = [2], pads = [1, 0]}", "f32[1,1,2]");
  f32.run_ok({floats({-kInfinity, -5})});
  EXPECT_THAT(f32.result<float>(), ElementsAre(-kInfinity, -5));
  OneNode i8 = one_node("x : i8[1,1,2]", "MaxPool(x) {kernel_shape = [2], pads = [1, 0]}", "i8[1,1,2]");
  i8.run_ok({{-128, -5}});
  EXPECT_THAT(i8.result<std::int8_t>(), ElementsAre(-128, -5));
}

TEST(MaxPool, IndexesInTheStorageOrder) {
  for (const auto& [order, index] : {std::pair("0", 2), std::pair("1", 1)}) {  // row 1, column 0 of 2 x 2
    OneNode node =
        one_node("x : f32[1,1,2,2]", std::string("MaxPool(x) {kernel_shape = [2, 2], storage_order = ") + order + "}",
                 "f32[1,1,1,1], i64[1,1,1,1]");
    node.run_ok({{1, 2, 9, 3}});
    EXPECT_THAT(node.result<float>(), ElementsAre(9));
    EXPECT_THAT(node.result<std::int64_t>(1), ElementsAre(index));
  }
}

TEST(GlobalPools, CoverWholePlanes) {
  OneNode average = one_node("x : f32[1,2,1,2]", "GlobalAveragePool(x)", "f32[1,2,1,1]");
  average.run_ok({{1, 2, 3, 5}});
  EXPECT_THAT(average.result<float>(), ElementsAre(1.5F, 4));
  OneNode norm = one_node("x : f32[1,1,2]", "GlobalLpPool(x)", "f32[1,1,1]");
  norm.run_ok({{3, -4}});
  EXPECT_THAT(norm.result<float>(), ElementsAre(5));
}

// a is 2 x 3 and b is 3 x 2, in the order that the attributes say.
TEST(Gemm, TransposesAndAddsABroadcastBias) {
  OneNode gemm = one_node("a : i32[3,2], b : i32[2,3], c : i32[2,1]",
                          "Gemm(a, b, c) {transA = 1, transB = 1, alpha = 2.0, beta = 3.0}", "i32[2,2]");
  gemm.run_ok({{1, 4, 2, 5, 3, 6}, {1, 0, 1, 0, 1, 0}, {100, 200}});
  EXPECT_THAT(gemm.result<std::int32_t>(), ElementsAre(2 * 4 + 300, 2 * 2 + 300, 2 * 10 + 600, 2 * 5 + 600));
}

TEST(MatMul, BroadcastsTheAxesOfBatches) {
  OneNode matmul = one_node("a : i32[2,1,1,2], b : i32[2,2,1]", "MatMul(a, b)", "i32[2,2,1,1]");
  matmul.run_ok({{1, 2, 3, 4}, {1, 0, 0, 1}});
  EXPECT_THAT(matmul.result<std::int32_t>(), ElementsAre(1, 2, 3, 4));
}

TEST(MatMul, TreatsVectorsAsARowAndAColumn) {
  OneNode dot = one_node("a : i32[3], b : i32[3]", "MatMul(a, b)", "i32[]");
  dot.run_ok({{1, 2, 3}, {4, 5, 6}});
  EXPECT_THAT(dot.result<std::int32_t>(), ElementsAre(32));
  OneNode row = one_node("a : i32[2], b : i32[2,2]", "MatMul(a, b)", "i32[2]");
  row.run_ok({{1, 2}, {1, 2, 3, 4}});
  EXPECT_THAT(row.result<std::int32_t>(), ElementsAre(7, 10));
}

// Blocks of columns and of products are 256, so 300 needs two of each.
TEST(MatMul, OfSeveralBlocksEqualsANaiveProduct) {
  constexpr std::int64_t kSize = 300;
  Random random(1);
  std::vector<float> a(3 * kSize);
  std::vector<float> b(kSize * kSize);
  for (std::vector<float>* values : {&a, &b}) {
    for (float& value : *values) value = static_cast<float>(random.below(9)) - 4.0F;
  }
  OneNode matmul = one_node("a : f32[3,300], b : f32[300,300]", "MatMul(a, b)", "f32[3,300]");
  matmul.run_ok({floats(a), floats(b)});
  const std::vector<float> result = matmul.result<float>();
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t column = 0; column < kSize; ++column) {
      float sum = 0;  // of small integers, so it is exact
      for (std::int64_t at = 0; at < kSize; ++at) sum += a[row * kSize + at] * b[at * kSize + column];
      EXPECT_EQ(result[static_cast<std::size_t>(row * kSize + column)], sum);
    }
  }
}

}  // namespace
}  // namespace lowtide
