// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/multiply_accumulates.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "lowtide/graph/text.h"

namespace lowtide::testing {
namespace {

// The multiply-accumulates of node 0 of a graph with these lines.
std::optional<std::int64_t> macs(const std::string& lines) {
  const Result<Graph> graph = parse_graph("graph \"g\" {\n" + lines + "\n}", "test");
  if (!graph) throw std::runtime_error(graph.error().describe());
  return multiply_accumulates(*graph, NodeId(0));
}

TEST(MultiplyAccumulates, OfConvolutions) {
  // 2 x 6 x 8 x 8 results, each of 4 x 3 x 3 products.
  EXPECT_EQ(macs("input x : f32[2,4,8,8]; constant w : f32[6,4,3,3]; y = Conv(x, w) : f32[2,6,8,8]; output y"),
            2 * 6 * 64 * 36);
  // Two groups: each filter reads half of the channels.
  EXPECT_EQ(macs("input x : f32[1,4,8,8]; constant w : f32[6,2,3,3]; y = Conv(x, w) {group = 2} : f32[1,6,6,6]; "
                 "output y"),
            6 * 36 * 18);
  // Depthwise in one dimension, with stride 2.
  EXPECT_EQ(macs("input x : f32[1,4,9]; constant w : f32[4,1,3]; y = Conv(x, w) {group = 4, strides = [2]} : "
                 "f32[1,4,4]; output y"),
            4 * 4 * 3);
  EXPECT_EQ(macs("input x : u8[1,2,4]; constant s : f32[]; constant z : u8[]; constant w : i8[3,2,1]; "
                 "y = QLinearConv(x, s, z, w, s, z, s, z) : u8[1,3,4]; output y"),
            3 * 4 * 2);
  EXPECT_EQ(macs("input x : f32[1,2,4]; constant w : f32[3,2,1]; "
                 "y = com.microsoft::FusedConv(x, w) : f32[1,3,4]; output y"),
            3 * 4 * 2);
}

TEST(MultiplyAccumulates, OfProductsWithAnEpilogue) {
  EXPECT_EQ(macs("input x : f32[4,8]; input w : f32[8,6]; y = lowtide::MatMul(x, w, _) {product = \"p\", epilogue = "
                 "[\"input t : f32[4,6]\", \"y = Relu(t) : f32[4,6]\", \"output y\"]} : f32[4,6]; output y"),
            4 * 6 * 8);
}

// 1 x 20 x 8 x 8 results, each of 4 x 3 x 3 products. The 12 lanes without a channel are not counted.
TEST(MultiplyAccumulates, OfConvolutionsInBlocks) {
  EXPECT_EQ(macs("input x : f32[1,4,8,8]; constant w : f32[1152]; y = lowtide::Conv(x, w) {weights = [20, 4, 3, 3], "
                 "output_format = \"nchw16c\"} : f32[1,2,8,8,16]; output y"),
            20 * 64 * 36);
  EXPECT_EQ(macs("input x : f32[1,4,8,8]; constant w : f32[720]; y = lowtide::Conv(x, w) {weights = [20, 4, 3, 3], "
                 "output_format = \"nhwc\"} : f32[1,8,8,20]; output y"),
            20 * 64 * 36);
  EXPECT_EQ(macs("input x : f32[1,4,8,8]; constant w : f32[720]; y = lowtide::Conv(x, w) : f32[1,8,8,20]; output y"),
            std::nullopt);
}

// The padding of the packed matrix, which is [6, 8] in the model, is not counted.
TEST(MultiplyAccumulates, OfPackedProducts) {
  EXPECT_EQ(macs("input x : f32[4,8]; constant w : f32[128]; y = lowtide::PackedMatMul(x, w) {weights = [6, 8], "
                 "transB = 1, order = \"blocks16\"} : f32[4,6]; output y"),
            4 * 6 * 8);
}

// Each of the 4 x 5 x 5 elements of the input is multiplied with 3 filters of 2 x 2.
TEST(MultiplyAccumulates, OfTransposedConvolutions) {
  EXPECT_EQ(macs("input x : f32[1,4,5,5]; constant w : f32[4,3,2,2]; y = ConvTranspose(x, w) : f32[1,3,6,6]; output y"),
            4 * 25 * 3 * 4);
}

TEST(MultiplyAccumulates, OfMatrixProducts) {
  // The batch of the first operand is repeated: 5 x 2 matrices of 3 x 7, each element of 4 products.
  EXPECT_EQ(macs("input a : f32[2,3,4]; input b : f32[5,1,4,7]; y = MatMul(a, b) : f32[5,2,3,7]; output y"),
            5 * 2 * 3 * 7 * 4);
  EXPECT_EQ(macs("input a : f32[4]; input b : f32[4]; y = MatMul(a, b) : f32[]; output y"), 4);
  EXPECT_EQ(macs("input a : f32[3,4]; constant b : f32[4,7]; y = Gemm(a, b) : f32[3,7]; output y"), 3 * 7 * 4);
  EXPECT_EQ(macs("input a : f32[4,3]; constant b : f32[4,7]; y = Gemm(a, b) {transA = 1} : f32[3,7]; output y"),
            3 * 7 * 4);
  EXPECT_EQ(macs("input a : i8[3,4]; input b : i8[4,7]; y = MatMulInteger(a, b) : i32[3,7]; output y"), 3 * 7 * 4);
  // transBatchA gives a the shape [3,5,4], and transA swaps its last axes, so the sums are over 5 elements.
  EXPECT_EQ(macs("input a : f32[5,3,4]; input b : f32[3,5,7]; "
                 "y = com.microsoft::FusedMatMul(a, b) {transBatchA = 1, transA = 1} : f32[3,4,7]; output y"),
            3 * 4 * 7 * 5);
}

// 10 steps of 2 sequences. In each of the two directions, 4 gates of 5 cells read 3 inputs and 5 states.
// 5 rows, and 2 x 4 coefficients. An operand with one axis is one row.
TEST(MultiplyAccumulates, OfLinearModels) {
  const std::string node = "ai.onnx.ml::LinearRegressor(x) {coefficients = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]}";
  EXPECT_EQ(macs("input x : f32[5,4]; y = " + node + " : f32[5,2]; output y"), 5 * 8);
  EXPECT_EQ(macs("input x : f32[4]; y = " + node + " : f32[1,2]; output y"), 8);
  EXPECT_EQ(macs("input x : f32[5,4]; y = ai.onnx.ml::TreeEnsembleRegressor(x) : f32[5,2]; output y"), 0);
}

TEST(MultiplyAccumulates, OfRecurrentCells) {
  EXPECT_EQ(macs("input x : f32[10,2,3]; constant w : f32[2,20,3]; constant r : f32[2,20,5]; "
                 "y = LSTM(x, w, r) {hidden_size = 5} : f32[10,2,2,5]; output y"),
            10 * 2 * 2 * 20 * (3 + 5));
}

// 3 heads; 4 queries of 8 elements and 6 keys; values of 2 elements.
TEST(MultiplyAccumulates, OfAttention) {
  constexpr std::int64_t kExpected = 3 * 4 * 6 * (8 + 2);
  EXPECT_EQ(macs("input q : f32[1,3,4,8]; input k : f32[1,3,6,8]; input v : f32[1,3,6,2]; "
                 "y = Attention(q, k, v) : f32[1,3,4,2]; output y"),
            kExpected);
  EXPECT_EQ(macs("input q : f32[1,4,24]; input k : f32[1,6,24]; input v : f32[1,6,6]; "
                 "y = Attention(q, k, v) {q_num_heads = 3, kv_num_heads = 3} : f32[1,4,6]; output y"),
            kExpected);
  // 4 of the 6 keys are from earlier runs.
  EXPECT_EQ(macs("input q : f32[1,3,4,8]; input k : f32[1,3,2,8]; input v : f32[1,3,2,2]; "
                 "input pk : f32[1,3,4,8]; input pv : f32[1,3,4,2]; "
                 "y = Attention(q, k, v, _, pk, pv) : f32[1,3,4,2]; output y"),
            kExpected);
}

TEST(MultiplyAccumulates, OfEinsumWithTwoOperands) {
  EXPECT_EQ(macs("input a : f32[2,3,4]; input b : f32[2,4,5]; "
                 "y = Einsum(a, b) {equation = \"bij, bjk -> bik\"} : f32[2,3,5]; output y"),
            2 * 3 * 4 * 5);
  EXPECT_EQ(macs("input a : f32[2,3]; y = Einsum(a) {equation = \"ij->ji\"} : f32[3,2]; output y"), 0);
  EXPECT_EQ(macs("input a : f32[2,3]; input b : f32[3,2]; "
                 "y = Einsum(a, b) {equation = \"...i,ij->...j\"} : f32[2,2]; output y"),
            std::nullopt);
}

// The products of an outer product are not summed, like those of Mul.
TEST(MultiplyAccumulates, EinsumWithoutASumHasNone) {
  const auto einsum = [](const std::string& equation, const std::string& shape) {
    return macs("input a : f32[2,3]; input b : f32[3,5]; y = Einsum(a, b) {equation = \"" + equation + "\"} : f32[" +
                shape + "]; output y");
  };
  EXPECT_EQ(einsum("ab,bc->abc", "2,3,5"), 0);
  EXPECT_EQ(einsum("ab,cd", "2,3,3,5"), 0);  // without an arrow, letters that occur once are in the result
  EXPECT_EQ(einsum("ab,bc->ac", "2,5"), 2 * 3 * 5);
  EXPECT_EQ(einsum("ab , bc", "2,5"), 2 * 3 * 5);
  EXPECT_EQ(macs("input a : f32[2,3]; y = Mul(a, a) : f32[2,3]; output y"), 0);
  EXPECT_EQ(macs("input a : f32[2,3]; y = Einsum(a) {equation = \"ij->i\"} : f32[2]; output y"), 0) << "no products";
}

// With three operands, the number of products depends on the order in which they are multiplied.
TEST(MultiplyAccumulates, OfEinsumWithThreeOperands) {
  const std::string inputs = "input a : f32[2]; input b : f32[3]; input c : f32[5]; ";
  EXPECT_EQ(macs(inputs + "y = Einsum(a, b, c) {equation = \"a,b,c->abc\"} : f32[2,3,5]; output y"), 0);
  EXPECT_EQ(macs(inputs + "y = Einsum(a, b, c) {equation = \"a,b,c->ac\"} : f32[2,5]; output y"), std::nullopt);
}

TEST(MultiplyAccumulates, ZeroDiffersFromUnknown) {
  EXPECT_EQ(macs("input x : f32[4]; y = Relu(x) : f32[4]; output y"), 0);
  EXPECT_EQ(macs("input x : f32[1,1,4,4]; y = AveragePool(x) : f32[1,1,2,2]; output y"), 0);
  EXPECT_EQ(macs("input x : f32[4]; y = com.example::Mystery(x) : f32[4]; output y"), std::nullopt);
  EXPECT_EQ(macs("input x : f32[1,4,1]; y = DFT(x) : f32[1,4,2]; output y"), std::nullopt);
  EXPECT_EQ(macs("input x : f32[4]; y = Conv(x) : f32[4]; output y"), std::nullopt);  // no weights
}

// 2^62 products fit, 2^64 do not.
TEST(MultiplyAccumulates, AreNotKnownBeyond64Bits) {
  EXPECT_EQ(macs("input a : u4[2097152,2097152]; input b : u4[2097152,1048576]; "
                 "y = MatMul(a, b) : u4[2097152,1048576]; output y"),
            std::int64_t{1} << 62);
  EXPECT_EQ(macs("input a : u4[4194304,4194304]; input b : u4[4194304,1048576]; "
                 "y = MatMul(a, b) : u4[4194304,1048576]; output y"),
            std::nullopt);
}

}  // namespace
}  // namespace lowtide::testing
