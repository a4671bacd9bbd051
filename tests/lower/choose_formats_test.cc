// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/choose_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "lowtide/graph/lowered.h"
#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/lower/lowered_formats.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lowered;
using testing::nodes_of;

std::vector<std::string> nodes_of(std::string_view text) { return nodes_of(lowered(text).graph); }

constexpr std::string_view kTwoConvs = R"(graph "g" {
  input x : f32[1,3,8,8]
  constant w : f32[16,3,1,1]
  constant v : f32[32,16,3,3]
  a = Conv(x, w) "first" : f32[1,16,8,8]
  b = Relu(a) : f32[1,16,8,8]
  y = Conv(b, v) "second" {pads = [1, 1, 1, 1]} : f32[1,32,8,8]
  output y
})";

TEST(ChooseFormats, KeepsBlocksBetweenConvolutions) {
  const Lowered two = lowered(kTwoConvs);
  EXPECT_THAT(nodes_of(two.graph),
              ElementsAre("lowtide::Conv a : f32[1,1,8,8,16]", "Relu b : f32[1,1,8,8,16]",
                          "lowtide::Conv y (nchw16c) : f32[1,2,8,8,16]", "lowtide::Reorder y : f32[1,32,8,8]"));
  EXPECT_THAT(nodes_of(two.load),
              ElementsAre("lowtide::Pack w (packed) : f32[48]", "lowtide::Pack v (packed) : f32[4608]"));
  EXPECT_THAT(two.passes, ElementsAre("load_time", "formats"));
  const Node& second = two.graph.node(NodeId(2));
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(*find_attribute<std::string>(second.attributes, kInputFormatAttribute), "nchw16c");
  EXPECT_EQ(*find_attribute<std::vector<std::int64_t>>(second.attributes, "strides"),
            (std::vector<std::int64_t>{1, 1}));
}

TEST(ChooseFormats, NeedsAMachine) {
  const Graph graph = testing::graph_of(kTwoConvs);
  const Result<Lowered> same = lower(graph, {.passes = {PassId::load_time, PassId::formats}});
  EXPECT_EQ(same->graph.nodes().size(), graph.nodes().size());
  EXPECT_TRUE(same->passes.empty());
}

TEST(ChooseFormats, PacksInTheRunWithoutLoadTimeWork) {
  const Lowered both = lowered(kTwoConvs, {.passes = {}});
  EXPECT_TRUE(both.load.nodes().empty());
  EXPECT_THAT(nodes_of(both.graph), ::testing::Contains("lowtide::Pack w (packed) : f32[48]"));
}

// 24 of 32 lanes have a channel, and Exp(0) is 1.
TEST(ChooseFormats, LetsChainsWriteTheZerosOfPadding) {
  const Lowered padded = lowered(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant w : f32[24,16,1,1]
    constant v : f32[16,24,1,1]
    a = Conv(x, w) : f32[1,24,8,8]
    b = Exp(a) : f32[1,24,8,8]
    y = Conv(b, v) : f32[1,16,8,8]
    output y
  })");
  EXPECT_THAT(nodes_of(padded.graph),
              ElementsAre(HasSubstr("Reorder"), "lowtide::Conv a : f32[1,2,8,8,16]",
                          "lowtide::Chain b : f32[1,2,8,8,16]", HasSubstr("Conv"), HasSubstr("Reorder")));
  EXPECT_EQ(*find_attribute<std::int64_t>(padded.graph.node(NodeId(2)).attributes, kChannelsAttribute), 24);
}

TEST(ChooseFormats, GivesTheTensorsOfChainsBlocks) {
  const Lowered chained = lowered(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant w : f32[16,16,1,1]
    constant six : f32[]
    constant s : f32[1,16,1,1]
    a = Conv(x, w) : f32[1,16,8,8]
    b = Min(a, six) : f32[1,16,8,8]
    c = Mul(b, s) : f32[1,16,8,8]
    y = Conv(c, w) : f32[1,16,8,8]
    output y
  })",
                                  {.passes = {PassId::load_time, PassId::chains}});
  EXPECT_THAT(nodes_of(chained.graph), ::testing::Contains("lowtide::Chain c : f32[1,1,8,8,16]"));
  EXPECT_THAT(nodes_of(chained.load),
              ElementsAre("lowtide::Reorder s (nchw16c) : f32[1,1,1,1,16]", "lowtide::Pack w (packed) : f32[256]"));
}

// Channels that fill their blocks are joined as they are. Others are moved from block to block.
TEST(ChooseFormats, JoinsChannelsInBlocks) {
  const auto text = [](std::string_view channels, std::string_view all, std::string_view axis) {
    return R"(graph "g" {
      input x : f32[1,16,8,8]
      constant w : f32[16,16,1,1]
      constant v : f32[)" +
           std::string(channels) + R"(,16,1,1]
      constant u : f32[16,)" +
           std::string(all) + R"(,1,1]
      a = Conv(x, w) : f32[1,16,8,8]
      b = Conv(x, v) : f32[1,)" +
           std::string(channels) + R"(,8,8]
      c = Concat(a, b) {axis = )" +
           std::string(axis) + "} : f32[1," + std::string(all) + R"(,8,8]
      y = Conv(c, u) : f32[1,16,8,8]
      output y
    })";
  };
  EXPECT_THAT(nodes_of(text("32", "48", "-3")), ::testing::Contains("Concat c : f32[1,3,8,8,16]"));
  const Lowered padded = lowered(text("24", "40", "1"));
  EXPECT_THAT(nodes_of(padded.graph), ::testing::Contains("lowtide::Concat c : f32[1,3,8,8,16]"));
  EXPECT_THAT(padded.graph.node(NodeId(3)).attributes,
              ElementsAre(Attribute{"format", std::string("nchw16c")},
                          Attribute{"channels", std::vector<std::int64_t>{16, 24}}));
}

// The first Transpose reads what the convolution writes, and the second one writes what the other convolution reads.
TEST(ChooseFormats, TransposesBlocks) {
  const Lowered found = lowered(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant w : f32[24,16,1,1]
    constant v : f32[16,24,1,1]
    a = Conv(x, w) : f32[1,24,8,8]
    b = Transpose(a) {perm = [0, 2, 3, 1]} : f32[1,8,8,24]
    c = Softmax(b) : f32[1,8,8,24]
    d = Transpose(c) {perm = [0, 3, 1, 2]} : f32[1,24,8,8]
    y = Conv(d, v) : f32[1,16,8,8]
    output y
  })");
  EXPECT_THAT(nodes_of(found.graph),
              ElementsAre(HasSubstr("Reorder"), "lowtide::Conv a : f32[1,2,8,8,16]",
                          "lowtide::Transpose b : f32[1,8,8,24]", "Softmax c : f32[1,8,8,24]",
                          "lowtide::Transpose d : f32[1,2,8,8,16]", HasSubstr("Conv"), HasSubstr("Reorder")));
  EXPECT_THAT(found.graph.node(NodeId(2)).attributes,
              ElementsAre(Attribute{"perm", std::vector<std::int64_t>{0, 2, 3, 1}},
                          Attribute{"input_format", std::string("nchw16c")},
                          Attribute{"output_format", std::string("plain")}, Attribute{"channels", std::int64_t{24}}));
}

// The first Transpose reads an input. What the second one writes is also an output.
TEST(ChooseFormats, LeavesTransposesOfPlainTensors) {
  EXPECT_THAT(nodes_of(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant v : f32[16,16,1,1]
    b = Transpose(x) {perm = [0, 2, 3, 1]} : f32[1,8,8,16]
    c = Softmax(b) : f32[1,8,8,16]
    d = Transpose(c) {perm = [0, 3, 1, 2]} : f32[1,16,8,8]
    y = Conv(d, v) : f32[1,16,8,8]
    output d, y
  })"),
              ElementsAre("Transpose b : f32[1,8,8,16]", HasSubstr("Softmax"), "Transpose d : f32[1,16,8,8]",
                          HasSubstr("Reorder"), HasSubstr("Conv"), HasSubstr("Reorder")));
}

// A Concat of plain tensors has no copy, and one in blocks would need two.
TEST(ChooseFormats, LeavesPlainWhatIsPlainAround) {
  EXPECT_THAT(nodes_of(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant w : f32[16,16,1,1]
    a = Softmax(x) : f32[1,16,8,8]
    b = Concat(a, a, a, a, a, x) {axis = 2} : f32[1,16,48,8]
    c = Softmax(b) {axis = 1} : f32[1,16,48,8]
    d = Concat(c, c) {axis = 1} : f32[1,32,48,8]
    y = Conv(x, w) : f32[1,16,8,8]
    output d, y
  })"),
              ::testing::Contains("Concat d : f32[1,32,48,8]"));
}

TEST(ChooseFormats, PacksTheMatrixOfAProduct) {
  const Lowered found = lowered(R"(graph "g" {
    input x : f32[2,3]
    constant w : f32[3,4]
    constant v : f32[5,4]
    constant b : f32[5]
    a = MatMul(x, w) "first" : f32[2,4]
    y = Gemm(a, v, b) "second" {transB = 1} : f32[2,5]
    output y
  })");
  EXPECT_THAT(nodes_of(found.graph),
              ElementsAre("lowtide::PackedMatMul a : f32[2,4]", "lowtide::PackedMatMul y : f32[2,5]"));
  EXPECT_THAT(nodes_of(found.load),
              ElementsAre("lowtide::Pack w (packed) : f32[12]", "lowtide::Pack v (packed) : f32[20]"));
  const Node& second = found.graph.node(NodeId(1));
  EXPECT_EQ(second.inputs.size(), 3U);
  EXPECT_THAT(second.attributes,
              ElementsAre(Attribute{"weights", std::vector<std::int64_t>{5, 4}}, Attribute{"transB", std::int64_t{1}},
                          Attribute{"order", std::string("packed")}));
  EXPECT_THAT(found.load.node(NodeId(0)).attributes,
              ElementsAre(Attribute{"order", std::string("packed")}, Attribute{"transB", std::int64_t{0}}));
}

// A packed copy of `w` would be beside `w`, which Add reads. The matrix of the last product is no constant.
TEST(ChooseFormats, LeavesMatricesThatOthersRead) {
  EXPECT_THAT(nodes_of(R"(graph "g" {
    input x : f32[4,4]
    constant w : f32[4,4]
    a = MatMul(x, w) : f32[4,4]
    b = Add(a, w) : f32[4,4]
    y = MatMul(w, b) : f32[4,4]
    output y
  })"),
              ElementsAre("MatMul a : f32[4,4]", "Add b : f32[4,4]", "MatMul y : f32[4,4]"));
  // Two products share one packed matrix.
  const Lowered shared = lowered(R"(graph "g" {
    input x : f32[4,4]
    constant w : f32[4,4]
    a = MatMul(x, w) : f32[4,4]
    y = Gemm(a, w) : f32[4,4]
    output y
  })");
  EXPECT_THAT(nodes_of(shared.load), ElementsAre("lowtide::Pack w (packed) : f32[16]"));
  EXPECT_THAT(nodes_of(shared.graph),
              ElementsAre("lowtide::PackedMatMul a : f32[4,4]", "lowtide::PackedMatMul y : f32[4,4]"));
}

TEST(ChooseFormats, KeepsBlocksInPools) {
  EXPECT_THAT(
      nodes_of(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant w : f32[16,16,1,1]
    a = Conv(x, w) : f32[1,16,8,8]
    b = MaxPool(a) {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,16,4,4]
    y = GlobalAveragePool(b) : f32[1,16,1,1]
    output y
  })"),
      ElementsAre(HasSubstr("Reorder"), "lowtide::Conv a : f32[1,1,8,8,16]", "lowtide::MaxPool b : f32[1,1,4,4,16]",
                  "lowtide::GlobalAveragePool y (nchw16c) : f32[1,1,1,1,16]", "lowtide::Reorder y : f32[1,16,1,1]"));
}

TEST(ChooseFormats, KeepsBlocksInNormsThatNoConvolutionTakesOver) {
  EXPECT_THAT(nodes_of(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant w : f32[16,16,1,1]
    constant s : f32[16]
    a = Conv(x, w) : f32[1,16,8,8]
    b = BatchNormalization(a, s, s, s, s) : f32[1,16,8,8]
    y = Conv(b, w) : f32[1,16,8,8]
    output y
  })"),
              ElementsAre(HasSubstr("Reorder"), "lowtide::Conv a : f32[1,1,8,8,16]",
                          "lowtide::BatchNormalization b : f32[1,1,8,8,16]", HasSubstr("Conv"), HasSubstr("Reorder")));
}

// The product would need two tensors in blocks, and its operands are plain.
TEST(ChooseFormats, LeavesNodesPlainWhereBlocksCostMore) {
  EXPECT_THAT(nodes_of(R"(graph "g" {
    input x : f32[1,16,8,8]
    input z : f32[1,16,8,8]
    constant w : f32[16,16,1,1]
    a = Mul(x, z) : f32[1,16,8,8]
    y = Conv(a, w) : f32[1,16,8,8]
    output y
  })"),
              ElementsAre("Mul a : f32[1,16,8,8]", "lowtide::Reorder a (nchw16c) : f32[1,1,8,8,16]", HasSubstr("Conv"),
                          HasSubstr("Reorder")));
}

TEST(ChooseFormats, KeepsStatesAndCapturesPlain) {
  const Lowered kept = lowered(R"(graph "g" {
    input x : f32[1,16,8,8]
    input c : bool[]
    state s : f32[1,16,8,8]
    constant w : f32[16,16,1,1]
    a = Conv(x, w) : f32[1,16,8,8]
    b = Add(a, s) : f32[1,16,8,8]
    y = If(c) {
      then_branch = graph "then" captures (b) {
        captured input b : f32[1,16,8,8]
        t = Neg(b) : f32[1,16,8,8]
        output t
      },
      else_branch = graph "else" captures (b) {
        captured input b : f32[1,16,8,8]
        e = Abs(b) : f32[1,16,8,8]
        output e
      }
    } : f32[1,16,8,8]
    output y
    update s = b
  })");
  const Tensor& next = kept.graph.tensor(testing::tensor_named(kept.graph, "b"));
  EXPECT_TRUE(next.is_next_state);
  EXPECT_EQ(next.shape, Shape({1, 16, 8, 8}));
}

// The weights of a folded BatchNormalization are computed and packed at load. Only the packed ones are kept.
TEST(ChooseFormats, PacksResultsOfLoadTimeWork) {
  const Lowered folded = lowered(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant w : f32[16,16,1,1]
    constant scale : f32[16]
    constant shift : f32[16]
    constant mean : f32[16]
    constant variance : f32[16]
    a = Conv(x, w) : f32[1,16,8,8]
    y = BatchNormalization(a, scale, shift, mean, variance) : f32[1,16,8,8]
    output y
  })",
                                 {.passes = {PassId::batch_norm, PassId::load_time}, .constants = 5});
  ASSERT_EQ(folded.load.outputs().size(), 2U);
  EXPECT_EQ(folded.load.tensor(folded.load.outputs()[0]).name, "w.1 (packed)");
  const TensorId packed = testing::tensor_named(folded.graph, "w.1 (packed)");
  EXPECT_EQ(folded.graph.tensor(packed).constant, ConstantId(5));
}

TEST(ChooseFormats, TakesNamesThatAreFree) {
  std::string text(kTwoConvs);
  for (std::size_t at = 0; (at = text.find("v : f32", at)) != std::string::npos; at += 20)
    text.replace(at, 1, "\"w (packed)\"");
  text.replace(text.find("Conv(b, v)"), 10, "Conv(b, \"w (packed)\")");
  EXPECT_THAT(nodes_of(lowered(text).load), ::testing::Contains("lowtide::Pack w (packed).1 : f32[48]"));
}

}  // namespace
}  // namespace lowtide
