// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/verify/verify.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

// The violations of a lowered graph, one per line.
std::string faults(std::string_view model, std::string_view lowered, std::string_view load = "graph \"g\" { }") {
  std::string lines;
  for (const Violation& violation : verify_lowering(graph_of(model), graph_of(lowered), graph_of(load))) {
    EXPECT_EQ(violation.kind, ViolationKind::wrong_model);
    lines += violation.message + "\n";
  }
  return lines;
}

std::string replaced(std::string_view text, std::string_view words, std::string_view others) {
  std::string changed(text);
  const std::size_t at = changed.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return changed.replace(at, words.size(), others);
}

constexpr std::string_view kConvolutions = R"(graph "g" {
  input x : f32[4,8]
  input w : f32[6,8]
  input b : f32[6]
  input r : f32[4,6]
  t = Gemm(x, w, b) "gemm" {transB = 1} : f32[4,6]
  a = Sub(t, r) "sub" : f32[4,6]
  y = LeakyRelu(a) "relu" {alpha = 0.5} : f32[4,6]
  output y
})";

constexpr std::string_view kFused = R"(graph "g" {
  input x : f32[4,8]
  input w : f32[6,8]
  input b : f32[6]
  input r : f32[4,6]
  y = lowtide::Gemm(x, w, b, r) "relu" {transB = 1, product = "gemm", epilogue = ["input t : f32[4,6]",
      "input r : f32[4,6]", "a = Sub(t, r) \"sub\" : f32[4,6]",
      "y = LeakyRelu(a) \"relu\" {alpha = 0.5} : f32[4,6]", "output y"]} : f32[4,6]
  output y
})";

TEST(VerifyEpilogues, AcceptsTheNodesOfTheModel) { EXPECT_EQ(faults(kConvolutions, kFused), ""); }

TEST(VerifyEpilogues, RefusesOtherProducts) {
  const auto found = [](std::string_view words, std::string_view others) {
    return faults(kConvolutions, replaced(kFused, words, others));
  };
  EXPECT_THAT(found("transB = 1", "transB = 1, alpha = 2.0"), HasSubstr("'gemm' (Gemm) differs from its node"));
  EXPECT_THAT(found("(x, w, b, r)", "(x, w, _, r)"), HasSubstr("'gemm' (Gemm) differs from its node"));
  EXPECT_THAT(found("product = \"gemm\"", "product = \"sub\""), HasSubstr("'sub' (Gemm) differs from its node"));
  EXPECT_THAT(found("product = \"gemm\", ", ""), HasSubstr("(Gemm) differs from its node"));
  EXPECT_THAT(found("lowtide::Gemm", "lowtide::MatMul"), HasSubstr("'gemm' (MatMul) differs from its node"));
  EXPECT_THAT(found("lowtide::Gemm", "lowtide::MaxPool"), HasSubstr("differs from its node"));
}

TEST(VerifyEpilogues, RefusesOtherEpilogues) {
  const auto found = [](std::string_view words, std::string_view others) {
    return faults(kConvolutions, replaced(kFused, words, others));
  };
  EXPECT_THAT(found("Sub(t, r)", "Sub(r, t)"), HasSubstr("differs from node 'sub' (Sub) of the model"));
  EXPECT_THAT(found("Sub(t, r)", "Add(t, r)"), HasSubstr("differs from node 'sub' (Sub) of the model"));
  EXPECT_THAT(found("alpha = 0.5", "alpha = 0.25"), HasSubstr("differs from node 'relu' (LeakyRelu) of the model"));
  EXPECT_THAT(found("LeakyRelu(a)", "LeakyRelu(t)"), HasSubstr("differs from node 'relu' (LeakyRelu) of the model"));
  EXPECT_THAT(found("input r : f32[4,6]\",", "input q : f32[6]\","), HasSubstr("has an epilogue that is not valid"));
  EXPECT_THAT(found("\"output y\"]", "\"output a\"]"), HasSubstr("reads the output of the program"));
  const std::string shorter = replaced(replaced(kFused, "\"output y\"]", "\"output a\"]"),
                                       R"("y = LeakyRelu(a) \"relu\" {alpha = 0.5} : f32[4,6]", )", "");
  EXPECT_THAT(faults(kConvolutions, shorter), HasSubstr("under another name"));
  EXPECT_THAT(found("(x, w, b, r)", "(x, w, b)"), HasSubstr("has an epilogue that is not valid"));
}

TEST(VerifyEpilogues, RefusesNamesThatTheGraphHas) {
  const std::string twice = replaced(replaced(kFused, "\"input t :", "\"input x :"), "Sub(t, r)", "Sub(x, r)");
  EXPECT_THAT(faults(kConvolutions, twice), HasSubstr("two tensors have this name"));
}

// The product of one node must not be that of another.
TEST(VerifyEpilogues, RefusesResultsThatOthersRead) {
  const std::string model = replaced(kConvolutions, "  output y", "  s = Softmax(t) \"s\" : f32[4,6]\n  output y, s");
  const std::string fused = replaced(kFused, "  output y\n}", "  s = Softmax(x) \"s\" : f32[4,8]\n  output y, s\n}");
  EXPECT_NE(faults(model, fused), "");
}

}  // namespace
}  // namespace lowtide::testing
