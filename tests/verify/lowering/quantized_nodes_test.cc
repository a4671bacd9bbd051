// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "tests/testing/lowered_graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kConstants = R"(graph "g" {
  input q : u8[1,4,8,8]
  input other : u8[1,4,8,8]
  constant w : i8[4,4,1,1]
  constant bias : f32[4]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[]
  constant wz : i8[]
  constant t : f32[]
  constant o : u8[]
)";

const std::string kModel = std::string(kConstants) + R"(
  x = DequantizeLinear(q, s, z) "dx" : f32[1,4,8,8]
  v = DequantizeLinear(w, ws, wz) "dw" : f32[4,4,1,1]
  c = Conv(x, v, bias) "conv" {group = 1} : f32[1,4,8,8]
  r = Relu(c) "relu" : f32[1,4,8,8]
  m = MaxPool(r) "pool" {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,4,4,4]
  p = QuantizeLinear(m, t, o) "k" : u8[1,4,4,4]
  a = DequantizeLinear(p, t, o) "dp" : f32[1,4,4,4]
  y = Softmax(a) "soft" : f32[1,4,4,4]
  output y
})";

const std::string kLowered = std::string(kConstants) + R"(
  c.1 = lowtide::QLinearConv(q, s, z, w, ws, wz, t, o, bias) "conv" {group = 1} : u8[1,4,8,8]
  r.1 = Max(c.1, o) "relu" : u8[1,4,8,8]
  p = MaxPool(r.1) "pool" {kernel_shape = [2, 2], strides = [2, 2]} : u8[1,4,4,4]
  a = DequantizeLinear(p, t, o) "dp" : f32[1,4,4,4]
  y = Softmax(a) "soft" : f32[1,4,4,4]
  output y
})";

TEST(VerifyQuantizedNodes, AcceptsTheIntegersOfTheModel) { EXPECT_EQ(differences(kModel, kLowered), ""); }

TEST(VerifyQuantizedNodes, RefusesOtherProducts) {
  const auto found = [](std::string_view words, std::string_view others) {
    return differences(kModel, with(kLowered, words, others));
  };
  const std::string conv = "node 'conv' (QLinearConv), which differs from node 'conv' (Conv) of the model";
  EXPECT_THAT(found("QLinearConv(q, s, z", "QLinearConv(q, t, z"), HasSubstr(conv));  // another scale
  EXPECT_THAT(found("QLinearConv(q, s, z", "QLinearConv(q, s, o"), HasSubstr(conv));  // another zero point
  EXPECT_THAT(found("ws, wz, t, o, bias", "ws, wz, s, o, bias"), HasSubstr(conv));    // of the result
  EXPECT_THAT(found("ws, wz, t, o, bias", "ws, wz, t, z, bias"), HasSubstr(conv));    //
  EXPECT_THAT(found("QLinearConv(q", "QLinearConv(other"), HasSubstr(conv));          // another operand
  EXPECT_THAT(found("group = 1", "group = 2"), HasSubstr(conv));                      //
  EXPECT_THAT(found("lowtide::QLinearConv(q, s, z, w, ws, wz, t, o, bias)", "QLinearConv(q, s, z, w, ws, wz, t, o)"),
              HasSubstr(conv));                                                // a lost operand
  EXPECT_THAT(found("lowtide::QLinearConv", "QLinearConv"), HasSubstr(conv));  // would read the bias as i32
  EXPECT_THAT(found("lowtide::QLinearConv", "lowtide::QLinearMatMul"), HasSubstr("(QLinearMatMul), which differs"));
}

TEST(VerifyQuantizedNodes, RefusesOtherNodesAfterAProduct) {
  const auto found = [](std::string_view words, std::string_view others) {
    return differences(kModel, with(kLowered, words, others));
  };
  EXPECT_THAT(found("Max(c.1, o)", "Max(c.1, z)"), HasSubstr("'relu' (Max), which differs from node 'relu' (Relu)"));
  EXPECT_THAT(found("Max(c.1, o)", "Min(c.1, o)"), HasSubstr("'relu' (Min), which differs from node 'relu' (Relu)"));
  EXPECT_THAT(found("MaxPool(r.1)", "MaxPool(c.1)"), HasSubstr("reads 'c.1', which is not computed for it alone"));
  EXPECT_THAT(found("MaxPool(r.1) \"pool\" {kernel_shape = [2, 2]", "MaxPool(r.1) \"pool\" {kernel_shape = [1, 1]"),
              HasSubstr("node 2 'pool' (MaxPool) differs from node 'pool' (MaxPool) of the model"));
  EXPECT_THAT(found("MaxPool(r.1)", "AveragePool(r.1)"), HasSubstr("(AveragePool) differs from node 'pool' (MaxPool)"));
}

// The zero point must be known to be the least integer.
TEST(VerifyQuantizedNodes, RefusesALostRelu) {
  const std::string lost = with(with(kLowered, "  r.1 = Max(c.1, o) \"relu\" : u8[1,4,8,8]\n", ""), "r.1", "c.1");
  EXPECT_THAT(differences(kModel, lost), HasSubstr("differs from node 'relu' (Relu) of the model"));
  const auto known = [](std::string_view text, std::string_view zero) {
    return with(text, "constant o : u8[]", "constant o : u8[] = [" + std::string(zero) + "]");
  };
  EXPECT_EQ(differences(known(kModel, "0"), known(lost, "0")), "");
  EXPECT_THAT(differences(known(kModel, "1"), known(lost, "1")), HasSubstr("differs from node 'relu' (Relu)"));
}

TEST(VerifyQuantizedNodes, RefusesIntegersThatOthersRead) {
  const std::string second =
      with(kLowered, "y = Softmax(a)", "d = DequantizeLinear(r.1, t, o) : f32[1,4,8,8]\n  y = Softmax(a)");
  EXPECT_THAT(differences(kModel, second), HasSubstr("'r.1', which is not computed for it alone"));
  EXPECT_THAT(differences(kModel, with(kLowered, "DequantizeLinear(p, t, o)", "DequantizeLinear(other, t, o)")),
              HasSubstr("'dp' (DequantizeLinear) differs from its node in the model"));
}

TEST(VerifyQuantizedNodes, RefusesRealNumbersThatOthersRead) {
  const std::string also = with(kModel, "  output y", "  e = Exp(c) \"exp\" : f32[1,4,8,8]\n  output y, e");
  const std::string lowered = with(kLowered, "  output y", "  e = Exp(a) \"exp\" : f32[1,4,4,4]\n  output y, e");
  EXPECT_THAT(differences(also, lowered), HasSubstr("node 5 'exp' (Exp) differs from its node in the model"));
}

TEST(VerifyQuantizedNodes, RefusesSumsThatMayOverflow) {
  const auto with_channels = [](std::string text) {
    for (const auto& [words, others] :
         {std::pair("q : u8[1,4,", "q : u8[1,33026,"), std::pair("i8[4,4,", "i8[4,33026,")}) {
      text = with(text, words, others);
    }
    return text;
  };
  const std::string model = with(with(with_channels(kModel), "\"dx\" : f32[1,4,", "\"dx\" : f32[1,33026,"),
                                 "\"dw\" : f32[4,4,", "\"dw\" : f32[4,33026,");
  EXPECT_THAT(differences(model, with_channels(kLowered)), HasSubstr("adds more products than 32 bits hold"));
}

const std::string kConcatModel = R"(graph "g" {
  input q : u8[1,4]
  input r : u8[1,4]
  constant s : f32[]
  constant z : u8[]
  constant t : f32[]
  constant o : u8[]
  a = DequantizeLinear(q, s, z) "da" : f32[1,4]
  b = DequantizeLinear(r, t, o) "db" : f32[1,4]
  c = Concat(a, b) "concat" {axis = 0} : f32[2,4]
  p = QuantizeLinear(c, s, z) "k" : u8[2,4]
  output p
})";

std::string concat_lowered(std::string_view nodes) {
  return R"(graph "g" {
  input q : u8[1,4]
  input r : u8[1,4]
  constant s : f32[]
  constant z : u8[]
  constant t : f32[]
  constant o : u8[]
)" + std::string(nodes) +
         "\n  output p\n}";
}

constexpr std::string_view kChained = R"(
  b.1 = lowtide::Chain(r, t, o, s, z) "k" {program = ["input r : u8[1,4]", "input t : f32[]", "input o : u8[]",
      "input s : f32[]", "input z : u8[]", "b = DequantizeLinear(r, t, o) \"db\" : f32[1,4]",
      "b.1 = QuantizeLinear(b, s, z) \"k\" : u8[1,4]", "output b.1"]} : u8[1,4]
  p = Concat(q, b.1) "concat" {axis = 0} : u8[2,4])";

TEST(VerifyQuantizedNodes, AcceptsOperandsWithAnotherScale) {
  EXPECT_EQ(differences(kConcatModel, concat_lowered(R"(
  b = DequantizeLinear(r, t, o) "db" : f32[1,4]
  b.1 = QuantizeLinear(b, s, z) "k" : u8[1,4]
  p = Concat(q, b.1) "concat" {axis = 0} : u8[2,4])")),
            "");
  EXPECT_EQ(differences(kConcatModel, concat_lowered(kChained)), "");
}

TEST(VerifyQuantizedNodes, RefusesOperandsOfAConcatWithOtherScales) {
  const auto found = [](std::string_view words, std::string_view others) {
    return differences(kConcatModel, concat_lowered(with(kChained, words, others)));
  };
  EXPECT_THAT(found("Concat(q, b.1)", "Concat(b.1, q)"), HasSubstr("reads 'q', which has another scale in the model"));
  EXPECT_THAT(found("Concat(q, b.1)", "Concat(q, r)"), HasSubstr("reads 'r', which has another scale in the model"));
  EXPECT_THAT(found("QuantizeLinear(b, s, z)", "QuantizeLinear(b, t, z)"),
              HasSubstr("differs from node 'k' (QuantizeLinear)"));
  EXPECT_THAT(found("DequantizeLinear(r, t, o)", "DequantizeLinear(r, s, o)"),
              HasSubstr("differs from node 'db' (DequantizeLinear)"));
  EXPECT_THAT(found("Chain(r, t", "Chain(q, t"), HasSubstr("differs from node 'db' (DequantizeLinear)"));
  EXPECT_THAT(found("axis = 0", "axis = 1"), HasSubstr("differs"));
}

TEST(VerifyQuantizedNodes, ComparesGemmWithItsFactors) {
  const std::string model = R"(graph "g" {
  input q : u8[2,8]
  constant w : i8[5,8]
  constant bias : f32[5]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[5]
  constant wz : i8[5]
  x = DequantizeLinear(q, s, z) : f32[2,8]
  v = DequantizeLinear(w, ws, wz) {axis = 0} : f32[5,8]
  g = Gemm(x, v, bias) "gemm" {transB = 1} : f32[2,5]
  h = QuantizeLinear(g, s, z) : u8[2,5]
  output h
})";
  const std::string lowered = R"(graph "g" {
  input q : u8[2,8]
  constant w : i8[5,8]
  constant bias : f32[5]
  constant s : f32[]
  constant z : u8[]
  constant ws : f32[5]
  constant wz : i8[5]
  h = lowtide::QLinearMatMul(q, s, z, w, ws, wz, s, z, bias) "gemm" {transB = 1} : u8[2,5]
  output h
})";
  EXPECT_EQ(differences(model, lowered), "");
  const std::string differs = "'gemm' (QLinearMatMul) differs from node 'gemm' (Gemm) of the model";
  EXPECT_THAT(differences(model, with(lowered, " {transB = 1}", "")), HasSubstr(differs));
  EXPECT_THAT(differences(with(model, "{transB = 1}", "{transB = 1, alpha = 0.5}"), lowered), HasSubstr(differs));
  EXPECT_THAT(differences(with(model, "{transB = 1}", "{transB = 1, transA = 1}"), lowered), HasSubstr(differs));
  EXPECT_THAT(differences(with(model, "{axis = 0}", "{axis = 1}"), lowered), HasSubstr(differs));
  EXPECT_THAT(differences(model, with(lowered, "q, s, z, w, ws, wz", "w, ws, wz, q, s, z")), HasSubstr(differs));
}

}  // namespace
}  // namespace lowtide::testing
