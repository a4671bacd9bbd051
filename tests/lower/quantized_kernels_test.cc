// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/quantized_kernels.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "lowtide/graph/text.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/lowered_graphs.h"

namespace lowtide {
namespace {

using testing::with;

void expect_lowered(std::string_view text, std::string_view expected) {
  const Graph model = testing::graph_of(text);
  const Graph rewritten = testing::after_pass(model, use_quantized_kernels(model));
  EXPECT_EQ(print_graph(rewritten), print_graph(testing::graph_of(expected)));
  testing::expect_equal_work(model, rewritten);
}

constexpr std::string_view kConv = R"(graph "g" {
  input q : u8[1,3,8,8]
  constant w : i8[4,3,3,3]
  constant bias : f32[4]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[4]
  constant wz : i8[4]
  constant t : f32[]
  constant o : u8[]
  x = DequantizeLinear(q, s, z) "dx" : f32[1,3,8,8]
  v = DequantizeLinear(w, ws, wz) "dw" {axis = 0} : f32[4,3,3,3]
  c = Conv(x, v, bias) "conv" {pads = [1, 1, 1, 1]} : f32[1,4,8,8]
  p = QuantizeLinear(c, t, o) "k" : u8[1,4,8,8]
  output p
})";

constexpr std::string_view kQuantizedConv = R"(graph "g" {
  input q : u8[1,3,8,8]
  constant w : i8[4,3,3,3]
  constant bias : f32[4]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[4]
  constant wz : i8[4]
  constant t : f32[]
  constant o : u8[]
  p = lowtide::QLinearConv(q, s, z, w, ws, wz, t, o, bias) "conv" {pads = [1, 1, 1, 1]} : u8[1,4,8,8]
  output p
})";

TEST(UseQuantizedKernels, MakesAConvolutionOfIntegers) {
  expect_lowered(kConv, kQuantizedConv);
  const auto without_bias = [](std::string_view text, std::string_view words, std::string_view others) {
    return with(with(text, "  constant bias : f32[4]\n", ""), words, others);
  };
  expect_lowered(without_bias(kConv, ", bias", ""),
                 with(without_bias(kQuantizedConv, ", bias", ""), "lowtide::QLinearConv", "QLinearConv"));
}

TEST(UseQuantizedKernels, KeepsConvolutionsThatItMustNotReplace) {
  for (const auto& [words, others] : {
           std::pair("output p", "output p, c"),  // the result of the Conv is needed
           std::pair("output p", "r = Relu(c) : f32[1,4,8,8]\n output p, r"),
           std::pair("{axis = 0}", "{axis = 1}"),                      // per input channel
           std::pair("constant t", "input t"),                         // no constant
           std::pair("x = DequantizeLinear(q, s, z)", "x = Cast(q)"),  // no integers with a scale
           std::pair("\"k\"", "\"k\" after (x)"),
       }) {
    const std::string text = with(kConv, words, others);
    expect_lowered(text, text);
  }
}

// 3,700 * 9 = 33,300 products of at most 255 * 255 exceed 2^31.
TEST(UseQuantizedKernels, KeepsSumsThatMayOverflow) {
  std::string many(kConv);
  for (const auto& [words, others] :
       {std::pair("u8[1,3,8,8]", "u8[1,3700,8,8]"), std::pair("f32[1,3,8,8]", "f32[1,3700,8,8]"),
        std::pair("i8[4,3,3,3]", "i8[4,3700,3,3]"), std::pair("f32[4,3,3,3]", "f32[4,3700,3,3]")}) {
    many = with(many, words, others);
  }
  expect_lowered(many, many);
}

constexpr std::string_view kReluAndPool = R"(graph "g" {
  input q : u8[1,3,8,8]
  constant w : i8[4,3,1,1]
  constant s : f32[]
  constant z : u8[] = [7]
  constant ws : f32[]
  constant wz : i8[]
  x = DequantizeLinear(q, s, z) : f32[1,3,8,8]
  v = DequantizeLinear(w, ws, wz) : f32[4,3,1,1]
  c = Conv(x, v) "conv" : f32[1,4,8,8]
  r = Relu(c) "relu" : f32[1,4,8,8]
  m = MaxPool(r) "pool" {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,4,4,4]
  p = QuantizeLinear(m, s, z) "k" : u8[1,4,4,4]
  output p
})";

TEST(UseQuantizedKernels, MovesQuantizationBeforeReluAndPools) {
  expect_lowered(kReluAndPool, R"(graph "g" {
  input q : u8[1,3,8,8]
  constant w : i8[4,3,1,1]
  constant s : f32[]
  constant z : u8[] = [7]
  constant ws : f32[]
  constant wz : i8[]
  tensor p : u8[1,4,4,4]
  c.1 = QLinearConv(q, s, z, w, ws, wz, s, z) "conv" : u8[1,4,8,8]
  r.1 = Max(c.1, z) "relu" : u8[1,4,8,8]
  p = MaxPool(r.1) "pool" {kernel_shape = [2, 2], strides = [2, 2]}
  output p
})");
}

// No integer is below a zero point of 0.
TEST(UseQuantizedKernels, LeavesOutReluOfUnsignedIntegers) {
  const std::string model =
      with(with(kReluAndPool, "u8[] = [7]", "u8[] = [0]"),
           "  m = MaxPool(r) \"pool\" {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,4,4,4]\n", "");
  const std::string text = with(with(model, "QuantizeLinear(m", "QuantizeLinear(r"), "u8[1,4,4,4]", "u8[1,4,8,8]");
  expect_lowered(text, R"(graph "g" {
  input q : u8[1,3,8,8]
  constant w : i8[4,3,1,1]
  constant s : f32[]
  constant z : u8[] = [0]
  constant ws : f32[]
  constant wz : i8[]
  p = QLinearConv(q, s, z, w, ws, wz, s, z) "conv" : u8[1,4,8,8]
  output p
})");
}

TEST(UseQuantizedKernels, MakesProductsOfIntegers) {
  const std::string_view model = R"(graph "g" {
  input q : u8[2,8]
  constant w : i8[5,8]
  constant u : i8[5,3]
  constant bias : f32[5]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[5]
  constant wz : i8[5]
  constant us : f32[]
  constant uz : i8[]
  x = DequantizeLinear(q, s, z) : f32[2,8]
  v = DequantizeLinear(w, ws, wz) {axis = 0} : f32[5,8]
  g = Gemm(x, v, bias) "gemm" {transB = 1} : f32[2,5]
  h = QuantizeLinear(g, s, z) : u8[2,5]
  i = DequantizeLinear(h, s, z) : f32[2,5]
  j = DequantizeLinear(u, us, uz) : f32[5,3]
  k = MatMul(i, j) "matmul" : f32[2,3]
  p = QuantizeLinear(k, s, z) : u8[2,3]
  output p
})";
  expect_lowered(model, R"(graph "g" {
  input q : u8[2,8]
  constant w : i8[5,8]
  constant u : i8[5,3]
  constant bias : f32[5]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[5]
  constant wz : i8[5]
  constant us : f32[]
  constant uz : i8[]
  h = lowtide::QLinearMatMul(q, s, z, w, ws, wz, s, z, bias) "gemm" {transB = 1} : u8[2,5]
  p = QLinearMatMul(h, s, z, u, us, uz, s, z) "matmul" : u8[2,3]
  output p
})");
  for (std::string_view attribute : {"{alpha = 0.5, transB = 1}", "{transA = 0, beta = 2.0, transB = 1}"}) {
    const Graph changed = testing::graph_of(with(model, "{transB = 1}", attribute));
    const Graph kept = testing::after_pass(changed, use_quantized_kernels(changed));
    EXPECT_EQ(kept.op(NodeId(2)).type, "Gemm") << attribute;
  }
}

// The second operand of the Concat has another scale, so it gets the scale of the result first.
TEST(UseQuantizedKernels, GivesOperandsOfAConcatOneScale) {
  expect_lowered(R"(graph "g" {
  input q : u8[1,4]
  input r : i8[1,4]
  constant s : f32[]
  constant z : u8[]
  constant t : f32[]
  constant o : i8[]
  a = DequantizeLinear(q, s, z) : f32[1,4]
  b = DequantizeLinear(r, t, o) : f32[1,4]
  c = Concat(a, b) "concat" {axis = 0} : f32[2,4]
  d = Transpose(c) "turn" {perm = [1, 0]} : f32[4,2]
  p = QuantizeLinear(d, s, z) "k" : u8[4,2]
  output p
})",
                 R"(graph "g" {
  input q : u8[1,4]
  input r : i8[1,4]
  constant s : f32[]
  constant z : u8[]
  constant t : f32[]
  constant o : i8[]
  b = DequantizeLinear(r, t, o) : f32[1,4]
  tensor p : u8[4,2]
  b.1 = QuantizeLinear(b, s, z) "k" : u8[1,4]
  c.1 = Concat(q, b.1) "concat" {axis = 0} : u8[2,4]
  p = Transpose(c.1) "turn" {perm = [1, 0]}
  output p
})");
}

void expect_correct(std::string_view text, std::size_t nodes) {
  const Graph model = testing::graph_of(text);
  const Graph rewritten = testing::after_pass(model, use_quantized_kernels(model));
  EXPECT_EQ(rewritten.nodes().size(), nodes) << print_graph(rewritten);
  testing::expect_equal_work(model, rewritten);
}

// The convolution gives integers, so the other operand of the Concat is quantized before it. Of 7 nodes, the
// DequantizeLinears of the convolution disappear.
TEST(UseQuantizedKernels, QuantizesTheRealOperandOfAConcat) {
  expect_correct(R"(graph "g" {
  input q : u8[1,3,8,8]
  input r : f32[1,4,8,8]
  constant w : i8[4,3,1,1]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[]
  constant wz : i8[]
  x = DequantizeLinear(q, s, z) "dx" : f32[1,3,8,8]
  v = DequantizeLinear(w, ws, wz) "dw" : f32[4,3,1,1]
  c = Conv(x, v) "conv" : f32[1,4,8,8]
  e = Sigmoid(r) "e" : f32[1,4,8,8]
  j = Concat(c, e) "join" {axis = 1} : f32[1,8,8,8]
  p = QuantizeLinear(j, s, z) "k" : u8[1,8,8,8]
  output p
})",
                 4);
}

// A Max with a zero point of shape [1] would give the scalar an axis.
TEST(UseQuantizedKernels, KeepsAReluWhoseZeroPointHasMoreAxes) {
  expect_correct(R"(graph "g" {
  input q : u8[4]
  constant w : i8[4]
  constant s : f32[1]
  constant z : u8[1]
  constant ws : f32[]
  constant wz : i8[]
  x = DequantizeLinear(q, s, z) "dx" : f32[4]
  v = DequantizeLinear(w, ws, wz) "dw" : f32[4]
  m = MatMul(x, v) "product" : f32[]
  r = Relu(m) "relu" : f32[]
  p = QuantizeLinear(r, s, z) "k" : u8[]
  output p
})",
                 5);
}

TEST(UseQuantizedKernels, LeavesOutPairsThatCancel) {
  expect_lowered(R"(graph "g" {
  input q : u8[4]
  constant s : f32[]
  constant z : u8[]
  a = DequantizeLinear(q, s, z) : f32[4]
  b = QuantizeLinear(a, s, z) : u8[4]
  c = DequantizeLinear(b, s, z) : f32[4]
  y = Exp(c) : f32[4]
  output y
})",
                 R"(graph "g" {
  input q : u8[4]
  constant s : f32[]
  constant z : u8[]
  c = DequantizeLinear(q, s, z) : f32[4]
  y = Exp(c) : f32[4]
  output y
})");
}

}  // namespace
}  // namespace lowtide
