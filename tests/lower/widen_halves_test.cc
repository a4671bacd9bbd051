// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/widen_halves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/graph/text.h"
#include "lowtide/lower/lower.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/lowered_graphs.h"

namespace lowtide {
namespace {

using testing::differences;
using testing::graph_of;
using ::testing::HasSubstr;

std::string widened(std::string_view text) {
  const Graph graph = graph_of(text);
  return print_graph(testing::after_pass(graph, widen_halves(graph)));
}

void expect_widened(std::string_view text, std::string_view expected) {
  EXPECT_EQ(widened(text), print_graph(graph_of(expected)));
  EXPECT_EQ(differences(text, expected), "");
}

constexpr std::string_view kProduct = R"g(graph "g" {
  input x : f16[2,3]
  constant w : f16[3,4]
  a = Neg(x) "neg" : f16[2,3]
  t = MatMul(a, w) "mul" : f16[2,4]
  y = Relu(t) "relu" : f16[2,4]
  output y
})g";
// Neg converts element by element, and so stays on f16. Relu reads what a product computes on f32.
constexpr std::string_view kWideProduct = R"g(graph "g" {
  input x : f16[2,3]
  constant w : f16[3,4]
  a = Neg(x) "neg" : f16[2,3]
  tensor y : f16[2,4]
  "a (f32)" = Cast(a) {to = 1} : f32[2,3]
  "w (f32)" = Cast(w) {to = 1} : f32[3,4]
  "t (f32)" = MatMul("a (f32)", "w (f32)") "mul" : f32[2,4]
  "y (f32)" = Relu("t (f32)") "relu" : f32[2,4]
  y = Cast("y (f32)") {to = 10}
  output y
})g";

TEST(WidenHalves, ComputesProductsOnF32) { expect_widened(kProduct, kWideProduct); }

TEST(WidenHalves, KeepsF16WhereNothingComputesOnF32) {
  constexpr std::string_view kMoved = R"g(graph "g" {
  input x : f16[2,3]
  a = Transpose(x) {perm = [1, 0]} : f16[3,2]
  b = Add(a, a) : f16[3,2]
  y = Sigmoid(b) : f16[3,2]
  output y
})g";
  expect_widened(kMoved, kMoved);
}

TEST(WidenHalves, LeavesOtherTypes) {
  expect_widened(R"g(graph "g" {
  input x : f16[4]
  constant k : i64[1] = [2]
  v, i = TopK(x, k) "top" : f16[2], i64[2]
  output v, i
})g",
                 R"g(graph "g" {
  input x : f16[4]
  constant k : i64[1] = [2]
  tensor v : f16[2]
  tensor i : i64[2]
  "x (f32)" = Cast(x) {to = 1} : f32[4]
  "v (f32)", i = TopK("x (f32)", k) "top" : f32[2]
  v = Cast("v (f32)") {to = 10}
  output v, i
})g");
}

TEST(WidenHalves, KeepsTheCastsOfTheModel) {
  expect_widened(R"g(graph "g" {
  input x : f32[2,2]
  h = Cast(x) "round" {to = 10} : f16[2,2]
  p = MatMul(h, h) "mul" : f16[2,2]
  y = Cast(p) "wide" {to = 1} : f32[2,2]
  output y
})g",
                 R"g(graph "g" {
  input x : f32[2,2]
  h = Cast(x) "round" {to = 10} : f16[2,2]
  tensor p : f16[2,2]
  tensor y : f32[2,2]
  "h (f32)" = Cast(h) {to = 1} : f32[2,2]
  "p (f32)" = MatMul("h (f32)", "h (f32)") "mul" : f32[2,2]
  p = Cast("p (f32)") {to = 10}
  y = Cast(p) "wide" {to = 1}
  output y
})g");
}

TEST(WidenHalves, RewritesBodies) {
  expect_widened(R"g(graph "g" {
  input c : bool[]
  input x : f16[2,2]
  y = If(c) "if" {
    then_branch = graph "t" captures (x) {
      captured input x : f16[2,2]
      p = MatMul(x, x) : f16[2,2]
      output p
    },
    else_branch = graph "e" captures (x) {
      captured input x : f16[2,2]
      q = Neg(x) : f16[2,2]
      output q
    }
  } : f16[2,2]
  output y
})g",
                 R"g(graph "g" {
  input c : bool[]
  input x : f16[2,2]
  y = If(c) "if" {
    then_branch = graph "t" captures (x) {
      captured input x : f16[2,2]
      tensor p : f16[2,2]
      "x (f32)" = Cast(x) {to = 1} : f32[2,2]
      "p (f32)" = MatMul("x (f32)", "x (f32)") : f32[2,2]
      p = Cast("p (f32)") {to = 10}
      output p
    },
    else_branch = graph "e" captures (x) {
      captured input x : f16[2,2]
      q = Neg(x) : f16[2,2]
      output q
    }
  } : f16[2,2]
  output y
})g");
}

// Load-time work casts what a body captures. The f32 copy is then a constant of the body.
TEST(WidenHalves, CastsTheConstantsOfBodiesAtLoad) {
  const Graph model = graph_of(R"g(graph "g" {
  input c : bool[]
  input x : f16[2,2]
  constant w : f16[2,2]
  y = If(c) "if" {
    then_branch = graph "t" captures (x, w) {
      captured input x : f16[2,2]
      captured constant w : f16[2,2]
      constant k : f16[2,2]
      m = MatMul(x, w) : f16[2,2]
      p = MatMul(m, k) : f16[2,2]
      output p
    },
    else_branch = graph "e" captures (x) {
      captured input x : f16[2,2]
      q = Neg(x) : f16[2,2]
      output q
    }
  } : f16[2,2]
  output y
})g");
  const Result<Lowered> lowered = lower(model, options_for_kernels());
  ASSERT_TRUE(lowered.ok()) << lowered.error().describe();
  EXPECT_EQ(lowered->load.nodes().size(), 2U);
  for (const Violation& one : verify_lowering(model, lowered->graph, lowered->load)) ADD_FAILURE() << one.message;
}

// The name of an f32 copy may not be taken.
TEST(WidenHalves, KeepsAModelThatHasSuchNames) {
  const std::string taken =
      testing::with(testing::with(kProduct, "  t = ", "  \"a (f32)\" = "), "(t)", "(\"a (f32)\")");
  expect_widened(taken, taken);
}

TEST(WidenHalves, IsComparedWithTheModel) {
  const auto found = [](std::string_view words, std::string_view others) {
    return differences(kProduct, testing::with(kWideProduct, words, others));
  };
  EXPECT_THAT(found("Relu(", "Sigmoid("), HasSubstr("(Sigmoid) differs from its node in the model"));
  EXPECT_THAT(found("Cast(a) {to = 1} : f32[2,3]", "Neg(a) : f16[2,3]"), HasSubstr("'a (f32)' is not in the model"));
  EXPECT_THAT(found("Cast(a) {to = 1} : f32[2,3]", "Neg(a) : f32[2,3]"), HasSubstr("depends on its own result"));
  EXPECT_THAT(found("MatMul(\"a (f32)\", \"w (f32)\")", "MatMul(\"a (f32)\", \"a (f32)\")"),
              HasSubstr("(MatMul) differs from its node in the model"));
}

// The other passes know f32: a BatchNormalization is folded, and its constants are computed once.
TEST(WidenHalves, ComesBeforeTheOtherPasses) {
  const Graph model = graph_of(R"g(graph "g" {
  input x : f16[1,2,4,4]
  constant w : f16[3,2,1,1]
  constant s : f16[3]
  constant b : f16[3]
  constant m : f16[3]
  constant v : f16[3]
  c = Conv(x, w) "conv" : f16[1,3,4,4]
  n = BatchNormalization(c, s, b, m, v) "norm" : f16[1,3,4,4]
  y = Relu(n) "relu" : f16[1,3,4,4]
  output y
})g");
  const Result<Lowered> lowered = lower(model, options_for_kernels());
  ASSERT_TRUE(lowered.ok()) << lowered.error().describe();
  EXPECT_EQ(lowered->passes, (std::vector<std::string>{"halves", "batch_norm", "load_time"}));
  EXPECT_EQ(lowered->graph.nodes().size(), 4U);  // Cast, Conv, Relu, Cast
  for (const Violation& one : verify_lowering(model, lowered->graph, lowered->load)) ADD_FAILURE() << one.message;
}

}  // namespace
}  // namespace lowtide
