// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/testing/lowered_graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kPlain = R"(graph "g" {
  input x : f32[4]
  constant a : f32[4]
  w = Neg(a) : f32[4]
  r = RandomNormalLike(a) : f32[4]
  s = Add(x, w) : f32[4]
  y = Sub(s, r) : f32[4]
  output y
})";

// The model without its work on constants.
constexpr std::string_view kPlainLowered = R"(graph "g" {
  input x : f32[4]
  constant a : f32[4]
  constant w : f32[4]
  r = RandomNormalLike(a) : f32[4]
  s = Add(x, w) : f32[4]
  y = Sub(s, r) : f32[4]
  output y
})";

// kLowered with other words in place of the first `words`.
std::string lowered_with(std::string_view words, std::string_view others) {
  std::string text(kPlainLowered);
  return text.replace(text.find(words), words.size(), others);
}

TEST(VerifyLowering, AcceptsWorkOnConstantsThatIsLeftOut) {
  EXPECT_EQ(differences(kPlain, kPlain), "");
  EXPECT_EQ(differences(kPlain, kPlainLowered), "");
}

// A node that writes t : f32[3,3] from x, and the same graph without it.
TEST(VerifyLowering, LeavesOutWhatMovesNothing) {
  const auto graph_with = [](std::string_view lines, std::string_view read) {
    return R"(graph "g" {
  input x : f32[3,3]
  constant p : i64[4] = [0, 0, 0, 0]
  constant q : i64[4] = [0, 1, 0, -1]
  constant s : i64[1] = [-1]
  constant e : i64[1] = [-4]
  constant a : i64[1] = [1]
  constant g : i64[1] = [3]
  constant i : i64[2] = [3, 3]
  constant o : i64[2] = [1, 1]
  input u : i64[1]
  input n : i64[4]
)" + std::string(lines) +
           "\n  y = Neg(" + std::string(read) + ") : f32[3,3]\n  output y\n}";
  };
  const std::string lowered = graph_with("", "x");
  for (const std::string_view node : {"Pad(x, p)", "Pad(x) {pads = [0, 0, 0, 0]}", "Slice(x, s, g, a, a)",
                                      "Slice(x, s, g)", "Expand(x, i)", "Tile(x, o)", "Concat(x) {axis = 0}"}) {
    EXPECT_EQ(differences(graph_with("  t = " + std::string(node) + " : f32[3,3]", "t"), lowered), "") << node;
  }
  for (const std::string_view node : {"Pad(x, q)", "Pad(x, n)", "Pad(x) {pads = [0, 1, 0, -1]}", "Slice(x, s, e, a, s)",
                                      "Slice(x, s, e, a, u)", "Slice(x, u, g, a)", "Slice(x, s, u)", "Expand(x, n)",
                                      "Tile(x, n)", "Concat(x, x) {axis = 0}", "Gather(x, u)"}) {
    EXPECT_THAT(differences(graph_with("  t = " + std::string(node) + " : f32[3,3]", "t"), lowered),
                HasSubstr("(Neg) differs from its node in the model"))
        << node;
  }
}

TEST(VerifyLowering, RefusesConstantsThatDifferBetweenRuns) {
  const std::string found =
      differences(kPlain, lowered_with("r = RandomNormalLike(a) : f32[4]", "constant r : f32[4]"));
  EXPECT_THAT(found, HasSubstr("tensor 'r' is planned as constant, but may differ between runs of the model"));
  EXPECT_THAT(found, HasSubstr("node 1 '' (RandomNormalLike) does not run"));
}

TEST(VerifyLowering, RefusesOtherOperandsOperatorsAndOutputs) {
  EXPECT_THAT(differences(kPlain, lowered_with("Sub(s, r)", "Sub(r, s)")),
              HasSubstr("node 2 '' (Sub) differs from its node in the model"));
  EXPECT_THAT(differences(kPlain, lowered_with("Add(x, w)", "Mul(x, w)")),
              HasSubstr("node 1 '' (Mul) differs from its node in the model"));
  EXPECT_THAT(differences(kPlain, lowered_with("output y", "output s")),
              HasSubstr("the outputs are not those of the model"));
}

// kLowered with the output in memory of the caller.
constexpr std::string_view kAtCaller = "state m : f32[4]\n  update m = y";

TEST(VerifyLowering, AcceptsOutputsInMemoryOfTheCaller) {
  EXPECT_EQ(differences(kPlain, lowered_with("output y", kAtCaller)), "");
}

TEST(VerifyLowering, RefusesOtherTensorsInMemoryOfTheCaller) {
  EXPECT_THAT(differences(kPlain, lowered_with("output y", "state m : f32[4]\n  update m = s")),
              HasSubstr("the outputs are not those of the model"));
  EXPECT_THAT(differences(kPlain, lowered_with("output y", std::string(kAtCaller) + "\n  state n : f32[4]")),
              HasSubstr("tensor 'n' is not in the model"));
  EXPECT_THAT(differences(kPlain, lowered_with("output y", "output y\n  state m : f32[4]\n  update m = y")),
              HasSubstr("tensor 'm' is not in the model"));
  EXPECT_THAT(differences(kPlain, lowered_with("output y", "state m : f32[4]")),
              HasSubstr("the outputs are not those of the model"));
}

TEST(VerifyLowering, RefusesTensorsOfAnotherNameOrType) {
  EXPECT_THAT(differences("graph \"g\" { input x : f32[4]\n output x }", "graph \"g\" { input z : f32[4]\n output z }"),
              HasSubstr("tensor 'z' is not in the model"));
  EXPECT_THAT(differences("graph \"g\" { input x : f32[4]\n output x }", "graph \"g\" { input x : f32[5]\n output x }"),
              HasSubstr("tensor 'x' has another type or shape in the model"));
}

// The branch reads p, which depends on the input, and w, which does not.
TEST(VerifyLowering, ChecksBodiesWithTheTensorsThatTheyCapture) {
  const std::string rest = R"(else_branch = graph "e" captures (p) {
      captured input p : f32[4]
      q = Relu(p) : f32[4]
      output q
    }
  } : f32[4]
  output y
})";
  const std::string head = R"(graph "g" {
    input c : bool[]
    input x : f32[4]
    constant a : f32[4]
)";
  const std::string nodes = "w = Neg(a) : f32[4]\np = Neg(x) : f32[4]\n";
  const std::string branches = R"(
    y = If(c) {
      then_branch = graph "t" captures (p, w) {
        captured input p : f32[4]
        captured input w : f32[4]
        k = Mul(w, w) : f32[4]
        q = Mul(p, k) : f32[4]
        output q
      },
      )" + rest;
  const auto lowered = [&](const std::string& captures, const std::string& then_branch) {
    return R"(graph "g" {
      input c : bool[]
      input x : f32[4]
      p = Neg(x) : f32[4]
      y = If(c) {
        then_branch = graph "t")" +
           captures + R"( {
          )" +
           then_branch + R"(
          output q
        },
        )" +
           rest;
  };
  EXPECT_EQ(differences(head + nodes + branches, lowered(" captures (p)",
                                                         "captured input p : f32[4]\nconstant k : f32[4]\n"
                                                         "q = Mul(p, k) : f32[4]")),
            "");
  EXPECT_THAT(differences(head + nodes + branches, lowered("", "constant q : f32[4]")),
              HasSubstr("node 1 '': 'then_branch': tensor 'q' is planned as constant, but may differ"));
}

constexpr std::string_view kTwoInputs = R"(graph "g" {
  input x : f32[4]
  input z : f32[4]
  constant a : f32[4]
  r = RandomNormalLike(a) : f32[4]
  s = Add(x, z) : f32[4]
  y = Sub(s, r) : f32[4]
  output y
})";

std::string with_inputs_in_arena(const std::string& written, const std::string& wait) {
  return R"(graph "g" {
    constant a : f32[4]
    )" + written +
         R"( = lowtide::Inputs() "inputs" : f32[4], f32[4]
    r = RandomNormalLike(a))" +
         wait + R"( : f32[4]
    s = Add(x, z) : f32[4]
    y = Sub(s, r) : f32[4]
    output y
  })";
}

TEST(VerifyLowering, OneFirstNodeMayWriteAllInputs) {
  EXPECT_EQ(differences(kTwoInputs, with_inputs_in_arena("x, z", " after (node 0)")), "");
  EXPECT_THAT(differences(kTwoInputs, with_inputs_in_arena("z, x", " after (node 0)")),
              HasSubstr("node 0 'inputs' (Inputs) must come first and write all inputs of the model"));
  EXPECT_THAT(differences(kTwoInputs, with_inputs_in_arena("x, z", "")),
              HasSubstr("node 1 '' (RandomNormalLike) may run before the caller has written the inputs"));
}

}  // namespace
}  // namespace lowtide::testing
