// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fuse_layer_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "lowtide/graph/text.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/lowered_graphs.h"

namespace lowtide {
namespace {

using testing::differences;
using testing::graph_of;
using ::testing::HasSubstr;
using testing::kNoLoadTimeWork;
using testing::with;

ConstantSource number(float value) {
  ConstantSource::Inline bytes;
  bytes.bytes.resize(sizeof value);
  std::memcpy(bytes.bytes.data(), &value, sizeof value);
  return {.name = "n", .size = Bytes(sizeof value), .where = std::move(bytes)};
}

// Entry 0 is 2, entry 1 is 0.25, and entry 2 is 3. The bytes of entries 3 and 4 are in the file.
ConstantTable table() {
  ConstantTable made;
  for (const float value : {2.0F, 0.25F, 3.0F}) made.sources.push_back(number(value));
  for (int i = 0; i < 2; ++i) made.sources.push_back({.size = Bytes(32), .where = ConstantSource::InFile{}});
  return made;
}

constexpr std::string_view kNorm = R"(graph "g" {
  input x : f32[2,4,8]
  constant two : f32[] data 0
  constant quarter : f32[] data 1
  constant scale : f32[8] data 3
  constant bias : f32[8] data 4
  m = ReduceMean(x) "mean" {axes = [-1]} : f32[2,4,1]
  d = Sub(x, m) "sub" : f32[2,4,8]
  p = Pow(d, two) "pow" : f32[2,4,8]
  v = ReduceMean(p) "variance" {axes = [2], keepdims = 1} : f32[2,4,1]
  e = Add(v, quarter) "add" : f32[2,4,1]
  r = Sqrt(e) "sqrt" : f32[2,4,1]
  n = Div(d, r) "div" : f32[2,4,8]
  s = Mul(n, scale) "mul" : f32[2,4,8]
  y = Add(s, bias) "shift" : f32[2,4,8]
  output y
})";

constexpr std::string_view kFusedNorm = R"(graph "g" {
  input x : f32[2,4,8]
  constant scale : f32[8] data 3
  constant bias : f32[8] data 4
  y = LayerNormalization(x, scale, bias) "shift" {axis = 2, epsilon = 0.25} : f32[2,4,8]
  output y
})";

std::string fused_norm(const std::string& text) {
  const Graph graph = graph_of(text);
  return print_graph(testing::after_pass(graph, fuse_layer_norm(graph, table())));
}

TEST(FuseLayerNorm, MakesOneNodeOfTheFormula) {
  EXPECT_EQ(fused_norm(std::string(kNorm)), print_graph(graph_of(kFusedNorm)));
  const std::string product = with(with(kNorm, "Pow(d, two)", "Mul(d, d)"), "  constant two : f32[] data 0\n", "");
  EXPECT_EQ(fused_norm(product), print_graph(graph_of(kFusedNorm)));
  const std::string turned = with(with(kNorm, "Add(v, quarter)", "Add(quarter, v)"), "Mul(n, scale)", "Mul(scale, n)");
  EXPECT_EQ(fused_norm(turned), print_graph(graph_of(kFusedNorm)));
}

TEST(FuseLayerNorm, NeedsNoBias) {
  const std::string model = with(with(kNorm, "  y = Add(s, bias) \"shift\" : f32[2,4,8]\n  output y", "  output s"),
                                 "  constant bias : f32[8] data 4\n", "");
  const std::string expected = R"(graph "g" {
  input x : f32[2,4,8]
  constant scale : f32[8] data 3
  s = LayerNormalization(x, scale) "mul" {axis = 2, epsilon = 0.25} : f32[2,4,8]
  output s
})";
  EXPECT_EQ(fused_norm(model), print_graph(graph_of(expected)));
}

TEST(FuseLayerNorm, KeepsWhatIsNoLayerNormalization) {
  for (const auto& [words, others] : {
           std::pair("two : f32[] data 0", "two : f32[] data 2"),   // a cube
           std::pair("quarter : f32[] data 1", "quarter : f32[]"),  // an unknown epsilon
           std::pair("{axes = [-1]}", "{axes = [1]}"),              // means over different axes
           std::pair("Sub(x, m)", "Sub(m, x)"),                     // the other sign
           std::pair("Div(d, r)", "Div(r, d)"),
           std::pair("constant scale : f32[8] data 3", "input scale : f32[8]"),
           std::pair("output y", "output y, d"),  // the difference is needed
           std::pair("output y", "z = Relu(r) : f32[2,4,1]\n  output y, z"),
           std::pair("\"sqrt\"", "\"sqrt\" after (m)"),
       }) {
    const std::string text = with(kNorm, words, others);
    EXPECT_EQ(fused_norm(text), print_graph(graph_of(text))) << others;
  }
}

// The scale has one element per row, not per column.
TEST(FuseLayerNorm, KeepsAScaleOfOtherAxes) {
  const std::string text = with(kNorm, "scale : f32[8] data 3", "scale : f32[4,1] data 3");
  EXPECT_EQ(fused_norm(text), print_graph(graph_of(text)));
}

// Numbers with more axes than x give the result of the model more axes, too.
TEST(FuseLayerNorm, KeepsNumbersThatAddAxes) {
  std::string text = with(kNorm, "quarter : f32[] data 1", "quarter : f32[1,1,1,1] data 1");
  for (const char* name : {"e = Add", "r = Sqrt", "n = Div", "s = Mul", "y = Add"}) {
    const std::size_t at = text.find("f32[2,4", text.find(name));
    text.replace(at, 7, "f32[1,2,4");
  }
  EXPECT_EQ(fused_norm(text), print_graph(graph_of(text)));
  const ConstantTable known = table();
  const std::string lowered = with(kFusedNorm, "epsilon = 0.25} : f32[2,4,8]", "epsilon = 0.25} : f32[1,2,4,8]");
  EXPECT_NE(differences(text, lowered, kNoLoadTimeWork, &known), "");
}

TEST(VerifyLayerNorms, AcceptsTheFormula) {
  const ConstantTable known = table();
  EXPECT_EQ(differences(kNorm, kFusedNorm, kNoLoadTimeWork, &known), "");
  EXPECT_EQ(differences(with(kNorm, "Pow(d, two)", "Mul(d, d)"), kFusedNorm, kNoLoadTimeWork, &known), "");
}

TEST(VerifyLayerNorms, RefusesAnotherComputation) {
  const ConstantTable known = table();
  const std::string fault = "differs from its nodes in the model";
  for (const auto& [words, others] : {
           std::pair("epsilon = 0.25", "epsilon = 0.5"),
           std::pair("axis = 2", "axis = 1"),
           std::pair("x, scale, bias", "x, bias, scale"),
           std::pair("x, scale, bias", "x, scale"),
           std::pair("\"shift\"", "\"other\""),
           std::pair("axis = 2, ", ""),
       }) {
    EXPECT_THAT(differences(kNorm, with(kFusedNorm, words, others), kNoLoadTimeWork, &known), HasSubstr(fault))
        << others;
  }
  for (const auto& [words, others] : {
           std::pair("two : f32[] data 0", "two : f32[] data 2"),
           std::pair("Sub(x, m)", "Sub(m, x)"),
           std::pair("Div(d, r)", "Mul(d, r)"),
           std::pair("Sqrt(e)", "Exp(e)"),
           std::pair("Sub(x, m)", "Add(x, m)"),
           std::pair("{axes = [-1]}", "{axes = [1]}"),
           std::pair("ReduceMean(p)", "ReduceMax(p)"),
           std::pair("ReduceMean(x)", "ReduceMean(scale)"),
       }) {
    EXPECT_THAT(differences(with(kNorm, words, others), kFusedNorm, kNoLoadTimeWork, &known), HasSubstr(fault))
        << others;
  }
  EXPECT_THAT(differences(kNorm, kFusedNorm), HasSubstr(fault));
}

// Another node reads the difference, which then exists although nothing computes it.
TEST(VerifyLayerNorms, RefusesANodeThatStaysBehind) {
  const ConstantTable known = table();
  const std::string model = with(kNorm, "output y", "z = Relu(d) \"relu\" : f32[2,4,8]\n  output y, z");
  const std::string lowered = with(kFusedNorm, "  y = Layer",
                                   "  m = ReduceMean(x) \"mean\" {axes = [-1]} : f32[2,4,1]\n"
                                   "  d = Sub(x, m) \"sub\" : f32[2,4,8]\n  y = Layer");
  const std::string both = with(lowered, "output y", "z = Relu(d) \"relu\" : f32[2,4,8]\n  output y, z");
  EXPECT_THAT(differences(model, both, kNoLoadTimeWork, &known), HasSubstr("runs twice"));
}

}  // namespace
}  // namespace lowtide
