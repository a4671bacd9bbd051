// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/fuse_epilogues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/testing/block_formats.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

// Lowers with chains, formats and epilogues, and checks the result with `verify`.
Lowered with_epilogues(std::string_view text, LowerOptions options = {.passes = {PassId::load_time, PassId::chains,
                                                                                 PassId::formats, PassId::epilogues}}) {
  const Graph graph = testing::graph_of(text);
  options.machine = testing::block_formats();
  Result<Lowered> lowered = lower(graph, options);
  if (!lowered) throw std::runtime_error(lowered.error().describe());
  for (const Violation& violation : verify_lowering(graph, lowered->graph, lowered->load))
    ADD_FAILURE() << violation.message;
  return *std::move(lowered);
}

// The nodes that are left: "lowtide::Conv y = 1 2", with the ids in the model.
Lines nodes_of(const Lowered& lowered) {
  Lines nodes;
  for (NodeId id : all_ids<NodeId>(lowered.graph.nodes().size())) {
    std::string node =
        full_name(lowered.graph.op(id)) + " " + lowered.graph.tensor(*lowered.graph.node(id).outputs[0]).name + " =";
    if (lowered.origins) {
      for (NodeId origin : lowered.origins->nodes[id]) node += " " + std::to_string(origin.value());
    } else {
      node += " " + std::to_string(id.value());
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}
Lines nodes_of_text(std::string_view text) { return nodes_of(with_epilogues(text)); }

TEST(FuseEpilogues, GivesAProductItsActivation) {
  const Lowered fused = with_epilogues(R"(graph "g" {
    input x : f32[4,8]
    input w : f32[8,6]
    t = MatMul(x, w) "mul" : f32[4,6]
    y = Relu(t) "relu" : f32[4,6]
    output y
  })");
  EXPECT_THAT(nodes_of(fused), ElementsAre("lowtide::MatMul y = 0 1"));
  EXPECT_THAT(fused.passes, ElementsAre("epilogues"));
  const Node& node = fused.graph.node(NodeId(0));
  EXPECT_EQ(node.name, "relu");
  EXPECT_EQ(node.inputs.size(), 3U);  // no bias
  EXPECT_EQ(*find_attribute<std::string>(node.attributes, kProductAttribute), "mul");
  EXPECT_THAT(*find_attribute<Lines>(node.attributes, kEpilogueAttribute),
              ElementsAre("input t : f32[4,6]", "y = Relu(t) \"relu\" : f32[4,6]", "output y"));
}

TEST(FuseEpilogues, KeepsTheAttributesAndTheBiasOfAGemm) {
  const Lowered fused = with_epilogues(R"(graph "g" {
    input x : f32[4,8]
    input w : f32[6,8]
    input b : f32[6]
    t = Gemm(x, w, b) {transB = 1} : f32[4,6]
    y = Sigmoid(t) : f32[4,6]
    output y
  })");
  EXPECT_THAT(nodes_of(fused), ElementsAre("lowtide::Gemm y = 0 1"));
  const Node& node = fused.graph.node(NodeId(0));
  EXPECT_EQ(*find_attribute<std::int64_t>(node.attributes, "transB"), 1);
  EXPECT_TRUE(node.inputs[2]);
}

// The residual block of ResNet. The convolution that comes last gets the sum.
TEST(FuseEpilogues, AddsToTheLaterOfTwoConvolutions) {
  const std::string_view text = R"(graph "g" {
    input x : f32[1,16,8,8]
    constant v : f32[16,16,1,1]
    constant w : f32[16,16,1,1]
    a = Conv(x, v) : f32[1,16,8,8]
    b = Conv(x, w) "second" : f32[1,16,8,8]
    c = Add(a, b) "add" : f32[1,16,8,8]
    d = Relu(c) "relu" : f32[1,16,8,8]
    y = Conv(d, w) : f32[1,16,8,8]
    output y
  })";
  const Lowered fused = with_epilogues(text);
  EXPECT_THAT(nodes_of(fused),
              ElementsAre("lowtide::Reorder x (nchw16c) =", "lowtide::Conv a = 0", "lowtide::Conv d = 1 2 3",
                          "lowtide::Conv y (nchw16c) = 4", "lowtide::Reorder y ="));
  EXPECT_THAT(fused.passes, ElementsAre("load_time", "chains", "formats", "epilogues"));
  const Node& node = fused.graph.node(NodeId(2));
  EXPECT_EQ(fused.graph.tensor(*node.inputs.back()).name, "a");
  const Lines& program = *find_attribute<Lines>(node.attributes, kEpilogueAttribute);
  EXPECT_EQ(program[0], "input b : f32[1,1,8,8,16]");  // the result of the product comes first
  EXPECT_EQ(program[2], "c = Add(a, b) \"add\" : f32[1,1,8,8,16]");
}

// 24 channels have 32 lanes. HardSigmoid of 0 is not 0, so the chain in blocks had the attribute `channels`.
TEST(FuseEpilogues, KeepsTheZerosOfPadding) {
  const Lowered fused = with_epilogues(R"(graph "g" {
    input x : f32[1,16,8,8]
    constant v : f32[24,16,1,1]
    constant w : f32[16,24,1,1]
    a = Conv(x, v) : f32[1,24,8,8]
    b = HardSigmoid(a) : f32[1,24,8,8]
    y = Conv(b, w) : f32[1,16,8,8]
    output y
  })");
  EXPECT_THAT(nodes_of(fused), Contains("lowtide::Conv b = 0 1"));
}

TEST(FuseEpilogues, LeavesResultsThatOthersNeed) {
  const auto with = [](std::string_view reader) {
    return nodes_of_text("graph \"g\" {\n input x : f32[4,8]\n input w : f32[8,6]\n t = MatMul(x, w) : f32[4,6]\n" +
                         std::string(reader));
  };
  EXPECT_THAT(with("y = Relu(t) : f32[4,6]\n output y, t }"), Contains("MatMul t = 0"));
  EXPECT_THAT(with("y = Relu(t) : f32[4,6]\n s = Softmax(t) : f32[4,6]\n output y, s }"), Contains("MatMul t = 0"));
  EXPECT_THAT(with("s = Softmax(t) : f32[4,6]\n output s }"), Contains("MatMul t = 0"));
  EXPECT_THAT(with("input r : f32[2,4,6]\n y = Add(t, r) : f32[2,4,6]\n output y }"), Contains("MatMul t = 0"));
  EXPECT_THAT(with("s = Softmax(x) after (t) : f32[4,8]\n y = Relu(t) : f32[4,6]\n output y, s }"),
              Contains("MatMul t = 0"));
  EXPECT_THAT(with("y = Relu(t) : f32[4,6]\n output y }"), ElementsAre("lowtide::MatMul y = 0 1"));
}

// Until r exists, only t would be in memory, but a fused node would keep x.
TEST(FuseEpilogues, LeavesAProductThatComesBeforeAnOperand) {
  EXPECT_THAT(nodes_of_text(R"(graph "g" {
    input x : f32[4,8]
    input w : f32[8,6]
    t = MatMul(x, w) : f32[4,6]
    r = Softmax(w) : f32[8,6]
    s = ReduceSum(r) {keepdims = 1} : f32[1,1]
    y = Add(t, s) : f32[4,6]
    output y
  })"),
              Contains("MatMul t = 0"));
}

TEST(FuseEpilogues, NeedsAMachine) {
  const Graph graph = testing::graph_of(
      "graph \"g\" { input x : f32[2,2]\n t = MatMul(x, x) : f32[2,2]\n y = Relu(t) : f32[2,2]\n output y }");
  EXPECT_THAT(lower(graph, {.passes = {PassId::load_time, PassId::epilogues}})->passes, IsEmpty());
}

TEST(FuseEpilogues, GoesIntoBodies) {
  const Lowered with_body = with_epilogues(R"(graph "g" {
    input c : bool[]
    input x : f32[4,4]
    y = If(c) {
      then_branch = graph "t" captures (x) {
        captured input x : f32[4,4]
        a = MatMul(x, x) : f32[4,4]
        b = Relu(a) : f32[4,4]
        output b
      },
      else_branch = graph "e" captures (x) {
        captured input x : f32[4,4]
        b = Neg(x) : f32[4,4]
        output b
      }
    } : f32[4,4]
    output y
  })");
  const Graph& branch = *with_body.graph.node(NodeId(0)).bodies[0].graph;
  ASSERT_EQ(branch.nodes().size(), 1U);
  EXPECT_EQ(full_name(branch.op(NodeId(0))), "lowtide::MatMul");
  EXPECT_TRUE(has_epilogue(branch.node(NodeId(0))));
}

}  // namespace
}  // namespace lowtide
