// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/fuse_chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;

Rewritten with_chains(std::string_view text) {
  const Graph graph = testing::graph_of(text);
  std::optional<Rewritten> rewritten = fuse_chains(graph).value();
  return rewritten ? *std::move(rewritten) : GraphRewriter(graph).finish().value();
}

// The nodes that are left: "lowtide::Chain y = 1 2", with the original ids.
std::vector<std::string> nodes_with_chains(std::string_view text) {
  const Rewritten rewritten = with_chains(text);
  std::vector<std::string> nodes;
  for (NodeId id : all_ids<NodeId>(rewritten.graph.nodes().size())) {
    std::string node = full_name(rewritten.graph.op(id)) + " " +
                       rewritten.graph.tensor(*rewritten.graph.node(id).outputs[0]).name + " =";
    for (NodeId origin : rewritten.origins.nodes[id]) node += " " + std::to_string(origin.value());
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// r and s are integers, so each of them ends a chain. The real number h comes from outside, so that the last Add is on
// real numbers.
TEST(FuseIntegerChains, EndAtIntegersAndReadNothingElse) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input p : i8[8]
    input q : i8[8]
    input h : f32[8]
    constant scale : f32[]
    constant zero : i8[]
    a = DequantizeLinear(p, scale, zero) : f32[8]
    b = DequantizeLinear(q, scale, zero) : f32[8]
    c = Add(a, b) : f32[8]
    r = QuantizeLinear(c, scale, zero) : i8[8]
    d = DequantizeLinear(r, scale, zero) : f32[8]
    e = Sigmoid(d) : f32[8]
    s = QuantizeLinear(e, scale, zero) : i8[8]
    f = DequantizeLinear(s, scale, zero) : f32[8]
    k = Add(f, h) : f32[8]
    t = QuantizeLinear(k, scale, zero) : i8[8]
    output t
  })");
  const Rewritten rewritten = *fuse_integer_chains(graph).value();
  std::vector<std::string> nodes;
  for (NodeId id : all_ids<NodeId>(rewritten.graph.nodes().size())) {
    nodes.push_back(full_name(rewritten.graph.op(id)) + " " +
                    rewritten.graph.tensor(*rewritten.graph.node(id).outputs[0]).name);
  }
  EXPECT_THAT(nodes,
              ElementsAre("lowtide::Chain r", "lowtide::Chain s", "DequantizeLinear f", "Add k", "QuantizeLinear t"));
}

TEST(FuseChains, MakesOneNodeOfHardSwish) {
  const std::string_view text = R"(graph "g" {
    input i : f32[2,8,8]
    constant w : f32[8,8]
    constant three : f32[]
    constant zero : f32[]
    constant six : f32[]
    x = MatMul(i, w) : f32[2,8,8]
    a = Add(x, three) : f32[2,8,8]
    b = Clip(a, zero, six) : f32[2,8,8]
    c = Mul(x, b) : f32[2,8,8]
    y = Div(c, six) "swish" : f32[2,8,8]
    output y
  })";
  EXPECT_THAT(nodes_with_chains(text), ElementsAre("MatMul x = 0", "lowtide::Chain y = 1 2 3 4"));
  const Rewritten rewritten = with_chains(text);
  EXPECT_EQ(rewritten.graph.node(NodeId(1)).name, "swish");
  EXPECT_EQ(rewritten.graph.tensors().size(), 7U);  // without a, b and c
}

TEST(FuseChains, KeepsResultsThatOthersRead) {
  EXPECT_THAT(nodes_with_chains(R"(graph "g" {
    input x : f32[4]
    a = Neg(x) : f32[4]
    b = Abs(a) : f32[4]
    c = Exp(b) : f32[4]
    s = Softmax(b) : f32[4]
    output c, s
  })"),
              ElementsAre("lowtide::Chain b = 0 1", "Exp c = 2", "Softmax s = 3"));
}

TEST(FuseChains, KeepsOutputsAndNextStates) {
  EXPECT_THAT(nodes_with_chains(R"(graph "g" {
    input x : f32[4]
    state h : f32[4]
    a = Neg(x) : f32[4]
    b = Add(a, h) : f32[4]
    c = Exp(b) : f32[4]
    output a, c
    update h = b
  })"),
              ElementsAre("Neg a = 0", "Add b = 1", "Exp c = 2"));
}

TEST(FuseChains, FusesResultsThatSeveralNodesOfTheChainRead) {
  EXPECT_THAT(nodes_with_chains(R"(graph "g" {
    input x : f32[4]
    a = Neg(x) : f32[4]
    b = Sigmoid(a) : f32[4]
    y = Mul(a, b) : f32[4]
    output y
  })"),
              ElementsAre("lowtide::Chain y = 0 1 2"));
}

// A smaller result is not computed for every element of the larger one.
TEST(FuseChains, KeepsResultsOfAnotherShape) {
  EXPECT_THAT(nodes_with_chains(R"(graph "g" {
    input x : f32[2,4]
    input s : f32[4]
    a = Neg(s) : f32[4]
    b = Abs(x) : f32[2,4]
    y = Add(a, b) : f32[2,4]
    output y
  })"),
              ElementsAre("Neg a = 0", "lowtide::Chain y = 1 2"));
}

TEST(FuseChains, KeepsNodesThatWaitOrAreWaitedFor) {
  EXPECT_THAT(nodes_with_chains(R"(graph "g" {
    input x : f32[4]
    a = Neg(x) : f32[4]
    b = Abs(a) : f32[4]
    s = Softmax(x) after (a) : f32[4]
    c = Exp(b) : f32[4]
    output c, s
  })"),
              ElementsAre("Neg a = 0", "Softmax s = 2", "lowtide::Chain c = 1 3"));
}

// In one chain, p and q would wait in memory for r. So the sum of both is computed before.
TEST(FuseChains, DoesNotKeepTwoOperandsForALaterOne) {
  EXPECT_THAT(nodes_with_chains(R"(graph "g" {
    input x : f32[8]
    p = Softmax(x) : f32[8]
    q = LogSoftmax(x) : f32[8]
    sum = Add(p, q) : f32[8]
    r = Hardmax(x) : f32[8]
    y = Mul(sum, r) : f32[8]
    output y
  })"),
              ElementsAre("Softmax p = 0", "LogSoftmax q = 1", "Add sum = 2", "Hardmax r = 3", "Mul y = 4"));
}

TEST(FuseChains, FusesInsideBodies) {
  const Rewritten rewritten = with_chains(R"(graph "g" {
    input c : bool[]
    input x : f32[4]
    y = If(c) {
      then_branch = graph "t" captures (x) {
        captured input x : f32[4]
        a = Neg(x) : f32[4]
        b = Exp(a) : f32[4]
        output b
      },
      else_branch = graph "e" captures (x) {
        captured input x : f32[4]
        b = Neg(x) : f32[4]
        output b
      }
    } : f32[4]
    output y
  })");
  const std::vector<Body>& bodies = rewritten.graph.node(NodeId(0)).bodies;
  EXPECT_EQ(bodies[0].graph->nodes().size(), 1U);
  EXPECT_EQ(full_name(bodies[0].graph->op(NodeId(0))), "lowtide::Chain");
  EXPECT_EQ(full_name(bodies[1].graph->op(NodeId(0))), "Neg");
}

}  // namespace
}  // namespace lowtide
