// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cmath>

#include "tests/kernels/kernel_run.h"
#include "tests/kernels/one_node.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;
using testing::floats;
using testing::halves;
using testing::one_node;
using testing::OneNode;

// Bits of f16: 0x3C00 is 1, 0x4000 is 2, 0x4200 is 3, 0x4600 is 6, 0x4900 is 10, 0xBC00 is -1.
constexpr std::uint16_t kOne = 0x3C00;
constexpr std::uint16_t kTwo = 0x4000;
constexpr std::uint16_t kThree = 0x4200;

TEST(BatchNormalization, OverwritesItsOperand) {
  OneNode node = one_node("x : f32[2,2], s : f32[2], b : f32[2], m : f32[2], v : f32[2]",
                          "BatchNormalization(x, s, b, m, v) {epsilon = 1.0}", "f32[2,2]");
  node.over = 0;
  // (x - mean) * scale / sqrt(variance + 1) + bias: channel 0 is (x - 1) * 2 / 2 + 10, channel 1 is x * 1 / 1.
  node.run_ok({floats({1, 5, 3, 6}), floats({2, 1}), floats({10, 0}), floats({1, 0}), floats({3, 0})});
  EXPECT_THAT(node.result<float>(), ElementsAre(10, 5, 12, 6));
}

TEST(BatchNormalization, UpdatesMeanAndVarianceInTraining) {
  OneNode node = one_node("x : f32[2,1], s : f32[1], b : f32[1], m : f32[1], v : f32[1]",
                          "BatchNormalization(x, s, b, m, v) {epsilon = 0.0, momentum = 0.75, training_mode = 1}",
                          "f32[2,1], f32[1], f32[1]");
  // The batch has mean 2 and variance 1.
  node.run_ok({floats({1, 3}), floats({1}), floats({0}), floats({6}), floats({9})});
  EXPECT_THAT(node.result<float>(0), ElementsAre(-1, 1));
  EXPECT_THAT(node.result<float>(1), ElementsAre(6 * 0.75F + 2 * 0.25F));
  EXPECT_THAT(node.result<float>(2), ElementsAre(9 * 0.75F + 1 * 0.25F));
}

TEST(BatchNormalization, OfOpset9WithMoreResultsIsRefused) {
  OneNode node = one_node("x : f32[2,1], s : f32[1], b : f32[1], m : f32[1], v : f32[1]",
                          "BatchNormalization(x, s, b, m, v) {lowtide_since = 9}", "f32[2,1], f32[1], f32[1]");
  EXPECT_EQ(node.missing(), "no kernel trains as opset 13 and older do");
}

// A variance in f32 would be 0, because 1e8 + 1 rounds to 1e8.
TEST(LayerNormalization, KeepsAVarianceBesideALargeMean) {
  OneNode node = one_node("x : f32[1,2], s : f32[2]", "LayerNormalization(x, s) {epsilon = 0.0}", "f32[1,2]");
  node.over = 0;
  node.run_ok({floats({1e8F, 1e8F + 8}), floats({1, 2})});
  EXPECT_THAT(node.result<float>(), ElementsAre(-1, 2));
}

TEST(LayerNormalization, BroadcastsItsScale) {
  OneNode node = one_node("x : f32[2,1,2], s : f32[2,1,1], b : f32[1]",
                          "LayerNormalization(x, s, b) {axis = 2, epsilon = 0.0}", "f32[2,1,2]");
  node.run_ok({floats({0, 2, 0, 4}), floats({1, 10}), floats({0.5F})});
  EXPECT_THAT(node.result<float>(), ElementsAre(-0.5F, 1.5F, -9.5F, 10.5F));
}

TEST(LayerNormalization, WritesMeanAndInverseDeviation) {
  OneNode node =
      one_node("x : f32[1,2], s : f32[2]", "LayerNormalization(x, s) {epsilon = 0.0}", "f32[1,2], f32[1,1], f32[1,1]");
  node.run_ok({floats({1, 5}), floats({1, 1})});
  EXPECT_THAT(node.result<float>(1), ElementsAre(3));
  EXPECT_THAT(node.result<float>(2), ElementsAre(0.5F));
}

TEST(GroupNormalization, HasAScalePerGroupInOpset18) {
  OneNode node = one_node("x : f32[1,4,1], s : f32[2], b : f32[2]",
                          "GroupNormalization(x, s, b) {epsilon = 0.0, num_groups = 2}", "f32[1,4,1]");
  node.run_ok({floats({1, 3, 10, 30}), floats({1, 2}), floats({0, 100})});
  EXPECT_THAT(node.result<float>(), ElementsAre(-1, 1, 98, 102));
}

TEST(LpNormalization, LeavesZerosAsTheyAre) {
  OneNode node = one_node("x : f32[2,2]", "LpNormalization(x) {axis = 1, p = 1}", "f32[2,2]");
  node.run_ok({floats({0, 0, -1, 3})});
  EXPECT_THAT(node.result<float>(), ElementsAre(0, 0, -0.25F, 0.75F));
}

TEST(Half, IsComputedInF32AndRoundedOnce) {
  // 2048 + 1 + 1 is 2050 in f32; in f16 2048 + 1 rounds to 2048. 0x6800 is 2048, 0x6801 is 2050.
  OneNode sum = one_node("x : f16[3]", "ReduceSum(x) {keepdims = 0}", "f16[]");
  sum.run_ok({halves({0x6800, kOne, kOne})});
  EXPECT_THAT(sum.result<std::uint16_t>(), ElementsAre(0x6801));
}

TEST(Half, IsStoredByProductsPoolsAndConvolutions) {
  OneNode product = one_node("a : f16[1,2], b : f16[2,1]", "MatMul(a, b)", "f16[1,1]");
  product.run_ok({halves({kOne, kTwo}), halves({kTwo, kTwo})});
  EXPECT_THAT(product.result<std::uint16_t>(), ElementsAre(0x4600));  // 1 * 2 + 2 * 2 = 6
  OneNode pool = one_node("x : f16[1,1,2]", "MaxPool(x) {kernel_shape = [2]}", "f16[1,1,1]");
  pool.run_ok({halves({kThree, kOne})});
  EXPECT_THAT(pool.result<std::uint16_t>(), ElementsAre(kThree));
  OneNode convolution = one_node("x : f16[1,1,2], w : f16[1,1,1], b : f16[1]", "Conv(x, w, b)", "f16[1,1,2]");
  convolution.run_ok({halves({kOne, kTwo}), halves({kTwo}), halves({kTwo})});
  EXPECT_THAT(convolution.result<std::uint16_t>(), ElementsAre(0x4400, 0x4600));  // 1 * 2 + 2 = 4, 2 * 2 + 2 = 6
}

TEST(Half, MayOverwriteTheOperand) {
  OneNode softmax = one_node("x : f16[2]", "Softmax(x)", "f16[2]");
  softmax.over = 0;
  softmax.run_ok({halves({kOne, kOne})});
  EXPECT_THAT(softmax.result<std::uint16_t>(), ElementsAre(0x3800, 0x3800));  // 0.5
}

// 3 channels in a block of 8 lanes, at 2 places. The bits are those of the plain kernel, and other lanes are 0.
TEST(BatchNormalization, KeepsTheBitsInBlocks) {
  const std::string operands = "s, h, m, v) {epsilon = 0.5";
  const std::string inputs = "input s : f32[3]\n input h : f32[3]\n input m : f32[3]\n input v : f32[3]\n";
  const Graph plain = testing::graph_of("graph \"g\" { input x : f32[1,3,2]\n " + inputs +
                                        "y = BatchNormalization(x, " + operands + "} : f32[1,3,2]\n output y }");
  const Graph blocks =
      testing::graph_of("graph \"g\" { input x : f32[1,1,2,8]\n " + inputs + "y = lowtide::BatchNormalization(x, " +
                        operands + ", format = \"nchw8c\", channels = 3} : f32[1,1,2,8]\n output y }");
  const auto tensor = [](std::vector<std::int64_t> extents, const std::vector<float>& values) {
    return testing::tensor_data(DType::f32, std::move(extents), values);
  };
  const std::vector<testing::TensorData> constants = {tensor({3}, {1.5F, -2, 0.1F}), tensor({3}, {0.3F, 7, -1}),
                                                      tensor({3}, {0.7F, 0, 3}), tensor({3}, {0.9F, 2, 0.01F})};
  const auto run = [&](const Graph& graph, testing::TensorData x) {
    std::vector<testing::TensorData> reads = {std::move(x)};
    reads.insert(reads.end(), constants.begin(), constants.end());
    testing::KernelRun kernel(graph);
    EXPECT_EQ(kernel.run(std::move(reads)), RunStatus());
    return testing::values_of<float>(kernel.writes[0]);
  };
  const std::vector<float> y = run(plain, tensor({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
  const std::vector<float> of_blocks =
      run(blocks, tensor({1, 1, 2, 8}, {1, 3, 5, 0, 0, 0, 0, 0, 2, 4, 6, 0, 0, 0, 0, 0}));
  EXPECT_EQ(of_blocks, (std::vector<float>{y[0], y[2], y[4], 0, 0, 0, 0, 0, y[1], y[3], y[5], 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace lowtide
