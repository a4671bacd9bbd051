// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fuse_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "lowtide/graph/multiply_accumulates.h"
#include "lowtide/graph/text.h"
#include "lowtide/verify/verify.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::graph_of;
using ::testing::HasSubstr;

// Entry 0 is 8, and entry 1 is -1000. The bytes of entry 2 are in the file.
ConstantTable numbers_of_model() {
  ConstantTable made;
  for (const float value : {8.0F, -1000.0F}) {
    ConstantSource::Inline bytes;
    bytes.bytes.resize(sizeof value);
    std::memcpy(bytes.bytes.data(), &value, sizeof value);
    made.sources.push_back({.name = "n", .size = Bytes(sizeof value), .where = std::move(bytes)});
  }
  made.sources.push_back({.size = Bytes(4), .where = ConstantSource::InFile{}});
  return made;
}

// Two heads, five queries, six keys of width 4, values of width 3.
constexpr std::string_view kAttention = R"(graph "g" {
  input a : f32[1,5,2,4]
  input b : f32[1,6,2,4]
  input c : f32[1,6,2,3]
  input m : f32[1,1,5,6]
  constant eight : f32[] data 0
  q = Transpose(a) "q" {perm = [0, 2, 1, 3]} : f32[1,2,5,4]
  k = Transpose(b) "k" {perm = [0, 2, 3, 1]} : f32[1,2,4,6]
  v = Transpose(c) "v" {perm = [0, 2, 1, 3]} : f32[1,2,6,3]
  s = MatMul(q, k) "scores" : f32[1,2,5,6]
  t = Div(s, eight) "scale" : f32[1,2,5,6]
  u = Add(t, m) "mask" : f32[1,2,5,6]
  w = Softmax(u) "weights" {axis = -1} : f32[1,2,5,6]
  o = MatMul(w, v) "product" : f32[1,2,5,3]
  y = Transpose(o) "y" {perm = [0, 2, 1, 3]} : f32[1,5,2,3]
  output y
})";

constexpr std::string_view kFusedAttention = R"(graph "g" {
  input a : f32[1,5,2,4]
  input b : f32[1,6,2,4]
  input c : f32[1,6,2,3]
  input m : f32[1,1,5,6]
  y = lowtide::Attention(a, b, c, m) "y" {divisor = 8.0, query_order = [0, 2, 1, 3], key_order = [0, 2, 3, 1],
      value_order = [0, 2, 1, 3], result_order = [0, 2, 1, 3]} : f32[1,5,2,3]
  output y
})";

// Without masks and transposes, with three axes.
constexpr std::string_view kPlainModel = R"(graph "g" {
  input q : f32[2,5,4]
  input k : f32[2,4,6]
  input v : f32[2,6,3]
  s = MatMul(q, k) "scores" : f32[2,5,6]
  w = Softmax(s) "weights" : f32[2,5,6]
  y = MatMul(w, v) "y" : f32[2,5,3]
  output y
})";

constexpr std::string_view kPlainFused = R"(graph "g" {
  input q : f32[2,5,4]
  input k : f32[2,4,6]
  input v : f32[2,6,3]
  y = lowtide::Attention(q, k, v) "y" : f32[2,5,3]
  output y
})";

std::string replaced(std::string_view text, std::string_view words, std::string_view others) {
  std::string changed(text);
  const std::size_t at = changed.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return changed.replace(at, words.size(), others);
}

std::string fused_attention(std::string_view text) {
  const Graph graph = graph_of(std::string(text));
  return print_graph(testing::after_pass(graph, fuse_attention(graph, numbers_of_model())));
}

std::string printed(std::string_view text) { return print_graph(graph_of(std::string(text))); }

std::string attention_differences(std::string_view model, std::string_view lowered) {
  static const ConstantTable table = numbers_of_model();
  std::string lines;
  for (const Violation& one : verify_lowering(graph_of(std::string(model)), graph_of(std::string(lowered)),
                                              graph_of("graph \"g\" { }"), {}, &table)) {
    lines += one.message + "\n";
  }
  return lines;
}

void expect_fused(std::string_view model, std::string_view expected) {
  EXPECT_EQ(fused_attention(model), printed(expected));
  EXPECT_EQ(attention_differences(model, expected), "");
}

TEST(FuseAttention, MakesOneNodeOfTheFormula) {
  expect_fused(kAttention, kFusedAttention);
  expect_fused(kPlainModel, kPlainFused);
}

TEST(FuseAttention, TakesTheMaskAndTheScaleFromEitherSide) {
  expect_fused(replaced(kAttention, "Add(t, m)", "Add(m, t)"), kFusedAttention);
  const std::string factor = replaced(kFusedAttention, "divisor", "factor");
  expect_fused(replaced(kAttention, "Div(s, eight)", "Mul(s, eight)"), factor);
  expect_fused(replaced(kAttention, "Div(s, eight)", "Mul(eight, s)"), factor);
}

TEST(FuseAttention, FillsWhereTheMaskChooses) {
  const std::string model =
      replaced(replaced(kAttention, "input m : f32[1,1,5,6]", "input m : bool[5,6]"), "eight : f32[] data 0\n",
               "eight : f32[] data 0\n  constant low : f32[1] data 1\n");
  const std::string node = replaced(replaced(kFusedAttention, "input m : f32[1,1,5,6]", "input m : bool[5,6]"),
                                    "divisor = 8.0", "divisor = 8.0, masked = 1, fill = -1000.0");
  expect_fused(replaced(model, "Add(t, m)", "Where(m, low, t)"), node);
  expect_fused(replaced(model, "Add(t, m)", "Where(m, t, low)"), replaced(node, "masked = 1", "masked = 0"));
}

TEST(FuseAttention, LeavesATransposeThatIsReadElsewhere) {
  const std::string more = "z = Relu(q) \"z\" : f32[1,2,5,4]\n  output y, z";
  const std::string expected = replaced(replaced(kFusedAttention, "  y = lowtide::Attention(a,",
                                                 "  q = Transpose(a) \"q\" {perm = [0, 2, 1, 3]} : f32[1,2,5,4]\n"
                                                 "  y = lowtide::Attention(q,"),
                                        "query_order = [0, 2, 1, 3], ", "");
  expect_fused(replaced(kAttention, "output y", more), replaced(expected, "output y", more));
}

// Each key is both a query and a key: the Transpose is one node, whose operand is read twice.
TEST(FuseAttention, TakesATransposeOfTwoOperandsOnce) {
  constexpr std::string_view kModelOfOne = R"(graph "g" {
  input a : f32[2,4,4]
  input v : f32[2,4,3]
  q = Transpose(a) "q" {perm = [0, 2, 1]} : f32[2,4,4]
  s = MatMul(q, q) "scores" : f32[2,4,4]
  w = Softmax(s) "weights" : f32[2,4,4]
  y = MatMul(w, v) "y" : f32[2,4,3]
  output y
})";
  expect_fused(kModelOfOne, R"(graph "g" {
  input a : f32[2,4,4]
  input v : f32[2,4,3]
  y = lowtide::Attention(a, a, v) "y" {query_order = [0, 2, 1], key_order = [0, 2, 1]} : f32[2,4,3]
  output y
})");
}

// The Transpose "t" could be part of both attentions: it is the result of the first one and the key of the second one.
TEST(FuseAttention, GivesATransposeBetweenTwoToTheFirst) {
  constexpr std::string_view kModelOfTwo = R"(graph "g" {
  input q : f32[2,4,3]
  input k : f32[2,3,4]
  input v : f32[2,4,4]
  s = MatMul(q, k) "s" : f32[2,4,4]
  w = Softmax(s) "w" : f32[2,4,4]
  o = MatMul(w, v) "o" : f32[2,4,4]
  t = Transpose(o) "t" {perm = [0, 2, 1]} : f32[2,4,4]
  s2 = MatMul(v, t) "s2" : f32[2,4,4]
  w2 = Softmax(s2) "w2" : f32[2,4,4]
  y = MatMul(w2, v) "y" : f32[2,4,4]
  output y
})";
  expect_fused(kModelOfTwo, R"(graph "g" {
  input q : f32[2,4,3]
  input k : f32[2,3,4]
  input v : f32[2,4,4]
  t = lowtide::Attention(q, k, v) "t" {result_order = [0, 2, 1]} : f32[2,4,4]
  y = lowtide::Attention(v, t, v) "y" : f32[2,4,4]
  output y
})");
}

// The product "o" could be the last node of one attention and the scores of another one.
TEST(FuseAttention, GivesAProductBetweenTwoToTheFirst) {
  constexpr std::string_view kModelOfTwo = R"(graph "g" {
  input q : f32[2,4,3]
  input k : f32[2,3,4]
  input v : f32[2,4,4]
  s = MatMul(q, k) "s" : f32[2,4,4]
  w = Softmax(s) "w" : f32[2,4,4]
  o = MatMul(w, v) "o" : f32[2,4,4]
  w2 = Softmax(o) "w2" : f32[2,4,4]
  y = MatMul(w2, v) "y" : f32[2,4,4]
  output y
})";
  expect_fused(kModelOfTwo, R"(graph "g" {
  input q : f32[2,4,3]
  input k : f32[2,3,4]
  input v : f32[2,4,4]
  o = lowtide::Attention(q, k, v) "o" : f32[2,4,4]
  w2 = Softmax(o) "w2" : f32[2,4,4]
  y = MatMul(w2, v) "y" : f32[2,4,4]
  output y
})");
}

TEST(FuseAttention, KeepsWhatIsNoAttention) {
  for (const auto& [words, others] : {
           std::pair("{axis = -1}", "{axis = 2}"),  // not over the keys
           std::pair("{axis = -1}", "{lowtide_since = 11}"),
           std::pair("eight : f32[] data 0", "eight : f32[] data 2"),  // an unknown number
           std::pair("Div(s, eight)", "Div(eight, s)"),
           std::pair("Div(s, eight)", "Sub(s, eight)"),
           std::pair("Add(t, m)", "Add(t, s)"),  // the mask would be one of the nodes
           std::pair("Add(t, m)", "Sub(t, m)"),
           std::pair("output y", "output y, w"),  // the weights are needed
           std::pair("output y", "z = Relu(s) : f32[1,2,5,6]\n  output y, z"),
           std::pair("\"scale\"", "\"scale\" after (q)"),
           std::pair("m : f32[1,1,5,6]", "m : f32[1,<=1,5,6]"),
       }) {
    const std::string text = replaced(kAttention, words, others);
    EXPECT_EQ(fused_attention(text), printed(text)) << others;
  }
}

// The same queries for all heads; scores without batches; fewer keys than columns of v.
TEST(FuseAttention, KeepsOtherShapes) {
  std::string few(kPlainModel);
  for (const auto& [words, others] :
       {std::pair("k : f32[2,4,6]", "k : f32[2,4,2]"), std::pair("v : f32[2,6,3]", "v : f32[2,2,3]"),
        std::pair("\"scores\" : f32[2,5,6]", "\"scores\" : f32[2,5,2]"),
        std::pair("\"weights\" : f32[2,5,6]", "\"weights\" : f32[2,5,2]")})
    few = replaced(few, words, others);
  std::string flat(kPlainModel);
  for (std::size_t at = 0; (at = flat.find("[2,", at)) != std::string::npos;) flat.replace(at, 3, "[");
  for (const std::string& text : {replaced(kPlainModel, "q : f32[2,5,4]", "q : f32[1,5,4]"), few, flat})
    EXPECT_EQ(fused_attention(text), printed(text));
}

TEST(FuseAttention, CountsTheProductsOfBothMatrices) {
  // 2 heads * 5 queries * 6 keys * (4 of the width + 3 columns)
  EXPECT_EQ(multiply_accumulates(graph_of(std::string(kFusedAttention)), NodeId(0)), 420);
  EXPECT_EQ(multiply_accumulates(graph_of(std::string(kPlainFused)), NodeId(0)), 420);
}

TEST(VerifyAttention, RefusesAnotherNode) {
  const std::string fault = "differs from its nodes in the model";
  for (const auto& [words, others] : {
           std::pair("divisor = 8.0", "divisor = 4.0"),
           std::pair("divisor = 8.0", "factor = 8.0"),
           std::pair("divisor = 8.0, ", ""),
           std::pair("divisor = 8.0", "divisor = 8.0, factor = 1.0"),
           std::pair("divisor = 8.0", "divisor = 8.0, softcap = 1.0"),
           std::pair("divisor = 8.0", "divisor = 8.0, fill = 0.0"),
           std::pair("query_order = [0, 2, 1, 3]", "query_order = [0, 1, 2, 3]"),
           std::pair("key_order = [0, 2, 3, 1]", "key_order = [0, 3, 2, 1]"),
           std::pair("value_order = [0, 2, 1, 3]", "value_order = 1"),
           std::pair("result_order = [0, 2, 1, 3]", "result_order = [0, 2, 3, 1]"),
           std::pair("result_order = [0, 2, 1, 3]", "result_order = [0, 9, 1, -3]"),
           std::pair("(a, b, c, m)", "(b, a, c, m)"),
           std::pair("(a, b, c, m)", "(a, b, c)"),
           std::pair("(a, b, c, m)", "(a, b, c, a)"),
           std::pair("Attention(a, b, c, m) \"y\"", "Attention(a, b, c, m) \"w\""),
       }) {
    EXPECT_THAT(attention_differences(kAttention, replaced(kFusedAttention, words, others)), HasSubstr(fault))
        << others;
  }
}

TEST(VerifyAttention, RefusesAnotherModel) {
  const std::string fault = "differs from its nodes in the model";
  for (const auto& [words, others] : {
           std::pair("{axis = -1}", "{axis = 2}"),
           std::pair("{axis = -1}", "{lowtide_since = 11}"),
           std::pair("Softmax(u)", "LogSoftmax(u)"),
           std::pair("Div(s, eight)", "Div(eight, s)"),
           std::pair("eight : f32[] data 0", "eight : f32[] data 2"),
           std::pair("Add(t, m)", "Sub(t, m)"),
           std::pair("Add(t, m)", "Add(t, s)"),
           std::pair("MatMul(w, v)", "MatMul(u, v)"),
           std::pair("\"k\" {perm = [0, 2, 3, 1]}", "\"k\" {perm = [0, 2, 1, 3]}"),
       }) {
    EXPECT_THAT(attention_differences(replaced(kAttention, words, others), kFusedAttention), HasSubstr(fault))
        << others;
  }
}

// Another node reads the scores, which then exist although nothing computes them.
TEST(VerifyAttention, RefusesANodeThatStaysBehind) {
  const std::string model = replaced(kPlainModel, "output y", "z = Relu(s) \"z\" : f32[2,5,6]\n  output y, z");
  const std::string lowered =
      replaced(replaced(kPlainFused, "  y = low", "  s = MatMul(q, k) \"scores\" : f32[2,5,6]\n  y = low"), "output y",
               "z = Relu(s) \"z\" : f32[2,5,6]\n  output y, z");
  EXPECT_THAT(attention_differences(model, lowered), HasSubstr("runs twice"));
}

}  // namespace
}  // namespace lowtide
