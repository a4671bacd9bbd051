// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/testing/lowered_graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kChainModel = R"(graph "g" {
  input x : f32[4]
  constant six : f32[]
  n = Softmax(x) "n" : f32[4]
  a = Add(n, six) "a" : f32[4]
  b = LeakyRelu(a) "b" {alpha = 0.5} : f32[4]
  c = Mul(x, b) "c" : f32[4]
  s = Softmax(c) "s" : f32[4]
  output s
})";

constexpr std::string_view kChain = R"(graph "g" {
  input x : f32[4]
  constant six : f32[]
  n = Softmax(x) "n" : f32[4]
  c = lowtide::Chain(n, six, x) "c" {program = ["input p : f32[4]", "input q : f32[]", "input r : f32[4]",
      "a = Add(p, q) \"a\" : f32[4]", "b = LeakyRelu(a) \"b\" {alpha = 0.5} : f32[4]",
      "c = Mul(r, b) \"c\" : f32[4]", "output c"]} : f32[4]
  s = Softmax(c) "s" : f32[4]
  output s
})";

TEST(VerifyChains, AcceptsTheNodesOfTheModel) { EXPECT_EQ(differences(kChainModel, kChain), ""); }

TEST(VerifyChains, AcceptsAttributesThatAreNoNumbers) {
  EXPECT_EQ(differences(with(kChainModel, "alpha = 0.5", "alpha = nan"), with(kChain, "alpha = 0.5", "alpha = nan")),
            "");
  const std::string softmax = with(kChainModel, "Softmax(c) \"s\"", "Softmax(c) \"s\" {a = nan, b = [nan, 1.5]}");
  EXPECT_EQ(differences(softmax, softmax), "");
  EXPECT_THAT(differences(softmax, with(softmax, "[nan, 1.5]", "[nan, 2.5]")), HasSubstr("differs from its node"));
}

TEST(VerifyChains, RefusesOtherWork) {
  const auto found = [](std::string_view words, std::string_view others) {
    return differences(kChainModel, with(kChain, words, others));
  };
  EXPECT_THAT(found("Add(p, q)", "Sub(p, q)"), HasSubstr("differs from node 'a' (Add) of the model"));
  EXPECT_THAT(found("Add(p, q)", "Add(q, p)"), HasSubstr("differs from node 'a' (Add) of the model"));
  EXPECT_THAT(found("Mul(r, b)", "Mul(r, a)"), HasSubstr("differs from node 'c' (Mul) of the model"));
  EXPECT_THAT(found("alpha = 0.5", "alpha = 0.25"), HasSubstr("differs from node 'b' (LeakyRelu) of the model"));
  EXPECT_THAT(found("Chain(n, six, x)", "Chain(x, six, x)"), HasSubstr("differs from node 'a' (Add) of the model"));
  EXPECT_THAT(found("Chain(n, six, x)", "Chain(n, six, n)"), HasSubstr("differs from node 'c' (Mul) of the model"));
  EXPECT_THAT(found("input q : f32[]", "input q : f32[1]"), HasSubstr("has a program that is not valid"));
  EXPECT_THAT(found("a = Add(p, q)", "e = Add(p, q)"), HasSubstr("has a program that is not valid"));
}

TEST(VerifyChains, RefusesResultsUnderOtherNames) {
  const std::string renamed =
      with(with(kChainModel, "a = Add(n, six)", "e = Add(n, six)"), "LeakyRelu(a)", "LeakyRelu(e)");
  EXPECT_THAT(differences(renamed, kChain), HasSubstr("computes 'a', which the model does not compute"));
  const std::string other = with(kChain, "c = lowtide::Chain", "b = lowtide::Chain");
  EXPECT_THAT(differences(kChainModel, with(other, "Softmax(c)", "Softmax(b)")),
              HasSubstr("returns 'c' under another name"));
}

TEST(VerifyChains, RefusesNodesThatRunTwice) {
  const std::string twice = with(kChain, "  s = Softmax", R"(  b = lowtide::Chain(n, six) {program = [
      "input p : f32[4]", "input q : f32[]", "a = Add(p, q) \"a\" : f32[4]",
      "b = LeakyRelu(a) \"b\" {alpha = 0.5} : f32[4]", "output b"]} : f32[4]
  s = Softmax)");
  EXPECT_THAT(differences(kChainModel, twice), HasSubstr("node 2 'b' (LeakyRelu) of the model runs twice"));
}

TEST(VerifyLoweredCopies, AcceptsTheOriginalInPlaceOfACopy) {
  constexpr std::string_view kModel = R"(graph "g" {
    input x : f32[4]
    input z : f32[4]
    a = Identity(x) : f32[4]
    b = Cast(a) {to = 1} : f32[4]
    d = Dropout(b) : f32[4]
    y = Neg(d) : f32[4]
    output y
  })";
  constexpr std::string_view kLowered =
      "graph \"g\" { input x : f32[4]\n input z : f32[4]\n y = Neg(x) : f32[4]\n output y }";
  EXPECT_EQ(differences(kModel, kLowered), "");
  EXPECT_THAT(differences(kModel, with(kLowered, "Neg(x)", "Neg(z)")), HasSubstr("differs from its node in the model"));
  EXPECT_THAT(differences(with(kModel, "Identity", "Relu"), kLowered), HasSubstr("differs from its node in the model"));
  const std::string training =
      with(with(kModel, "Dropout(b)", "Dropout(b, _, t)"), "input z", "input t : bool[]\n input z");
  EXPECT_THAT(differences(training, with(kLowered, "input z", "input t : bool[]\n input z")),
              HasSubstr("differs from its node in the model"));
}

// Entry 0 of the table is the ratio. One byte that is not 0 makes it the smallest number above 0.
TEST(VerifyLoweredCopies, AcceptsTheOriginalOfADropoutWithTheRatioZero) {
  constexpr std::string_view kModel = R"(graph "g" {
    input x : f32[4]
    constant r : f32[] data 0
    constant t : bool[] = [1]
    d = Dropout(x, r, t) : f32[4]
    y = Neg(d) : f32[4]
    output y
  })";
  constexpr std::string_view kLowered = "graph \"g\" { input x : f32[4]\n y = Neg(x) : f32[4]\n output y }";
  ConstantTable table;
  table.sources.push_back({.name = "r", .size = Bytes(4), .where = ConstantSource::Inline{std::vector<std::byte>(4)}});
  EXPECT_EQ(differences(kModel, kLowered, kNoLoadTimeWork, &table), "");
  EXPECT_THAT(differences(kModel, kLowered), HasSubstr("differs from its node in the model")) << "unknown ratio";
  std::get<ConstantSource::Inline>(table.sources[ConstantId(0)].where).bytes[0] = std::byte{1};
  EXPECT_THAT(differences(kModel, kLowered, kNoLoadTimeWork, &table), HasSubstr("differs from its node in the model"));
}

constexpr std::string_view kNormModel = R"(graph "g" {
  input x : f32[1,4,8,8]
  constant w : f32[4,4,1,1]
  constant bias : f32[4]
  constant scale : f32[4]
  constant shift : f32[4]
  constant mean : f32[4]
  constant variance : f32[4]
  c = Conv(x, w, bias) "conv" {group = 1} : f32[1,4,8,8]
  y = BatchNormalization(c, scale, shift, mean, variance) "norm" {epsilon = 0.001} : f32[1,4,8,8]
  output y
})";

constexpr std::string_view kFolded = R"(graph "g" {
  input x : f32[1,4,8,8]
  constant w.1 : f32[4,4,1,1]
  constant shift.1 : f32[4]
  y = Conv(x, w.1, shift.1) "norm" {group = 1} : f32[1,4,8,8]
  output y
})";

constexpr std::string_view kFoldedAtLoad = R"(graph "g" {
  constant w : f32[4,4,1,1]
  constant bias : f32[4]
  constant scale : f32[4]
  constant shift : f32[4]
  constant mean : f32[4]
  constant variance : f32[4]
  w.1 = lowtide::ScaledWeights(w, scale, variance) {epsilon = 0.001} : f32[4,4,1,1]
  shift.1 = lowtide::ScaledBias(scale, shift, mean, variance, bias) {epsilon = 0.001} : f32[4]
  output w.1, shift.1
})";

TEST(VerifyFoldedNorms, AcceptsConstantsOfTheConvolutionAndTheNorm) {
  EXPECT_EQ(differences(kNormModel, kFolded, kFoldedAtLoad), "");
  const std::string without = with(kNormModel, "Conv(x, w, bias)", "Conv(x, w)");
  EXPECT_EQ(differences(without, kFolded, with(kFoldedAtLoad, "variance, bias)", "variance)")), "");
}

TEST(VerifyFoldedNorms, AcceptCopiesBetweenTheConvolutionAndTheNorm) {
  const std::string copied =
      with(kNormModel, "  y = BatchNormalization(c,", "  d = Identity(c) : f32[1,4,8,8]\n  y = BatchNormalization(d,");
  EXPECT_EQ(differences(copied, kFolded, kFoldedAtLoad), "");
}

TEST(VerifyFoldedNorms, RefusesOtherConstants) {
  const auto found = [](std::string_view words, std::string_view others) {
    return differences(kNormModel, kFolded, with(kFoldedAtLoad, words, others));
  };
  const std::string differs = "node 0 'norm' (Conv) differs from its node in the model";
  EXPECT_THAT(found("(w, scale, variance)", "(w, shift, variance)"), HasSubstr(differs));
  EXPECT_THAT(found("(w, scale, variance)", "(w, scale, mean)"), HasSubstr(differs));
  EXPECT_THAT(found("ScaledBias(scale, shift, mean", "ScaledBias(scale, mean, shift"), HasSubstr(differs));
  EXPECT_THAT(found("variance, bias)", "variance)"), HasSubstr(differs));
  EXPECT_THAT(found("epsilon = 0.001", "epsilon = 0.01"), HasSubstr(differs));
  EXPECT_THAT(found("output w.1, shift.1", "output w.1"), HasSubstr("tensor 'shift.1' is not in the model"));
}

TEST(VerifyFoldedNorms, RefusesOtherConvolutionsAndNorms) {
  const auto found = [](std::string_view words, std::string_view others) {
    return differences(kNormModel, with(kFolded, words, others), kFoldedAtLoad);
  };
  const std::string differs = "node 0 'norm' (Conv) differs from its node in the model";
  EXPECT_THAT(found("group = 1", "group = 2"), HasSubstr(differs));
  EXPECT_THAT(found("Conv(x, w.1, shift.1)", "Conv(x, w.1)"), HasSubstr(differs));
  for (const std::string_view training : {"epsilon = 0.001, training_mode = 1", "epsilon = 0.001, lowtide_since = 6"}) {
    EXPECT_THAT(differences(with(kNormModel, "epsilon = 0.001", training), kFolded, kFoldedAtLoad),
                HasSubstr("'norm' (Conv) differs from its node in the model"));
  }
  EXPECT_THAT(differences(with(kNormModel, "Conv(x", "ConvTranspose(x"), kFolded, kFoldedAtLoad), HasSubstr(differs));
}

TEST(VerifyFoldedNorms, RefusesOtherReadersOfFoldedConstants) {
  const std::string_view model =
      "graph \"g\" { input x : f32[4]\n constant b : f32[4]\n y = Add(x, b) : f32[4]\n output y }";
  const std::string_view lowered =
      "graph \"g\" { input x : f32[4]\n constant b.1 : f32[4]\n y = Add(x, b.1) : f32[4]\n output y }";
  const std::string_view load =
      "graph \"g\" { constant b : f32[4]\n b.1 = lowtide::ScaledBias(b, b, b, b) {epsilon = 0.1} : f32[4]\n output b.1 "
      "}";
  EXPECT_THAT(differences(model, lowered, load), HasSubstr("(Add) differs from its node in the model"));
}

constexpr std::string_view kProductModel = R"(graph "g" {
  input x : f32[2,4]
  input z : f32[2,4]
  constant w : f32[4,4]
  constant v : f32[4,4]
  constant b : f32[4]
  y = Gemm(x, w, b) "g" {transB = 1, beta = 1.0} : f32[2,4]
  output y
})";

constexpr std::string_view kPackedProduct = R"(graph "g" {
  input x : f32[2,4]
  input z : f32[2,4]
  constant p : f32[16]
  constant v : f32[4,4]
  constant b : f32[4]
  y = lowtide::PackedMatMul(x, p, b) "g" {weights = [4, 4], transB = 1, order = "o"} : f32[2,4]
  output y
})";

constexpr std::string_view kPackedAtLoad = R"(graph "g" {
  constant w : f32[4,4]
  constant v : f32[4,4]
  p = lowtide::Pack(w) {order = "o", transB = 1} : f32[16]
  output p
})";

TEST(VerifyPackedProducts, AcceptsThoseOfTheModel) {
  EXPECT_EQ(differences(kProductModel, kPackedProduct, kPackedAtLoad), "");
  EXPECT_EQ(differences(with(kProductModel, "Gemm(x, w, b) \"g\" {transB = 1, beta = 1.0}", "MatMul(x, w) \"g\""),
                        with(with(kPackedProduct, "p, b)", "p)"), "transB = 1", "transB = 0"),
                        with(kPackedAtLoad, "transB = 1", "transB = 0")),
            "");
}

TEST(VerifyPackedProducts, RefusesOtherWork) {
  const auto product = [](std::string_view words, std::string_view others) {
    return differences(kProductModel, with(kPackedProduct, words, others), kPackedAtLoad);
  };
  const auto model = [](std::string_view words, std::string_view others) {
    return differences(with(kProductModel, words, others), kPackedProduct, kPackedAtLoad);
  };
  const auto load = [](std::string_view words, std::string_view others) {
    return differences(kProductModel, kPackedProduct, with(kPackedAtLoad, words, others));
  };
  const auto is_refused = HasSubstr("differs from its node in the model");
  EXPECT_THAT(product("PackedMatMul(x,", "PackedMatMul(z,"), is_refused);
  EXPECT_THAT(product("transB = 1", "transB = 0"), is_refused);
  EXPECT_THAT(product("weights = [4, 4]", "weights = [2, 8]"), is_refused);
  EXPECT_THAT(product("order = \"o\"", "order = \"p\""), is_refused);
  EXPECT_THAT(product(", order = \"o\"", ", order = \"o\", alpha = 2.0"), is_refused);
  EXPECT_THAT(product("p, b)", "p)"), is_refused);
  EXPECT_THAT(product("p, b)", "v, b)"), is_refused);
  EXPECT_THAT(model("beta = 1.0", "beta = 2.0"), is_refused);
  EXPECT_THAT(model("beta = 1.0", "alpha = 0.5"), is_refused);
  EXPECT_THAT(model("transB = 1", "transB = 0"), is_refused);
  EXPECT_THAT(load("Pack(w)", "Pack(v)"), is_refused);
  EXPECT_THAT(load("transB = 1", "transB = 0"), is_refused);
  EXPECT_THAT(load("order = \"o\"", "order = \"p\""), is_refused);
  EXPECT_THAT(load("lowtide::Pack(w)", "lowtide::ScaledWeights(w)"), is_refused);
}

TEST(VerifyLoadTimeWork, RefusesOtherNodesAndBytes) {
  const std::string_view model = R"(graph "g" {
    input x : f32[4]
    constant a : f32[4] data 0
    constant b : f32[4] data 1
    w = Neg(a) : f32[4]
    y = Add(x, w) : f32[4]
    output y
  })";
  const std::string_view lowered =
      "graph \"g\" { input x : f32[4]\n constant w : f32[4] data 2\n y = Add(x, w) : f32[4]\n output y }";
  const std::string_view load = "graph \"g\" { constant a : f32[4] data 0\n w = Neg(a) : f32[4]\n output w }";
  EXPECT_EQ(differences(model, lowered, load), "");
  EXPECT_THAT(differences(model, lowered, with(load, "Neg(a)", "Abs(a)")),
              HasSubstr("(Abs) of the load-time work differs from its node in the model"));
  EXPECT_THAT(differences(model, lowered, with(load, "data 0", "data 1")),
              HasSubstr("constant 'a' of the load-time work has other bytes in the model"));
  EXPECT_THAT(differences(model, with(lowered, "constant w", "constant b : f32[4] data 0\n constant w"), load),
              HasSubstr("constant 'b' has other bytes in the model"));
}

}  // namespace
}  // namespace lowtide::testing
