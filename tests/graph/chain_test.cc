// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kHardSwish = R"(graph "g" {
  input x : f32[2,4]
  constant three : f32[]
  constant zero : f32[]
  constant six : f32[]
  a = Add(x, three) "add" : f32[2,4]
  b = Clip(a, zero, six) "clip" : f32[2,4]
  c = Mul(x, b) "mul" : f32[2,4]
  y = Div(c, six) "div" : f32[2,4]
  output y
})";

// All nodes of a graph.
std::vector<NodeId> all_nodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) nodes.push_back(id);
  return nodes;
}

TEST(Chain, ReadsEachOperandOnceAndHasTheNamesOfTheModel) {
  const Graph graph = testing::graph_of(kHardSwish);
  const GraphBuilder::NodeSpec chain = chain_of(graph, all_nodes(graph));
  EXPECT_EQ(chain.name, "div");
  EXPECT_EQ(chain.domain + "::" + chain.type, "lowtide::Chain");
  EXPECT_THAT(chain.inputs, ElementsAre(TensorId(0), TensorId(1), TensorId(2), TensorId(3)));
  const auto* program = find_attribute<std::vector<std::string>>(chain.attributes, "program");
  ASSERT_NE(program, nullptr);
  EXPECT_THAT(*program,
              ElementsAre("input x : f32[2,4]", "input three : f32[]", "input zero : f32[]", "input six : f32[]",
                          "a = Add(x, three) \"add\" : f32[2,4]", "b = Clip(a, zero, six) \"clip\" : f32[2,4]",
                          "c = Mul(x, b) \"mul\" : f32[2,4]", "y = Div(c, six) \"div\" : f32[2,4]", "output y"));
}

// What is wrong with a chain of x : f32[2,4] and s : f32[1] whose result is f32[2,4].
std::string fault_of(const std::string& program) {
  const Graph graph = testing::graph_of(
      "graph \"g\" { input x : f32[2,4]\n input s : f32[1]\n"
      "y = lowtide::Chain(x, s) {program = [" +
      program + "]} : f32[2,4]\n output y }");
  const Result<Graph> read = chain_program(graph, NodeId(0));
  return read ? "" : read.error().message;
}

TEST(Chain, RefusesProgramsThatDoNotFitTheNode) {
  const std::string inputs = R"("input x : f32[2,4]", "input s : f32[1]", )";
  EXPECT_EQ(fault_of(inputs + R"("y = Add(x, s) : f32[2,4]", "output y")"), "");
  EXPECT_THAT(fault_of(R"("input x : f32[2,4]", "y = Neg(x) : f32[2,4]", "output y")"),
              HasSubstr("its program has 1 inputs and 1 outputs, but the node has 2 and 1"));
  EXPECT_THAT(fault_of(R"("input x : f32[8]", "input s : f32[1]", "y = Add(x, s) : f32[8]", "output y")"),
              HasSubstr("its program has other types than its operands and its result"));
  EXPECT_THAT(fault_of(inputs + R"("y = MatMul(x, s) : f32[2,4]", "output y")"),
              HasSubstr("its program has a node MatMul that no chain has"));
  EXPECT_THAT(fault_of(inputs + R"("t = Neg(s) : f32[1]", "y = Add(x, t) : f32[2,4]", "output y")"),
              HasSubstr("its program has results of several shapes"));
  EXPECT_THAT(fault_of(inputs + R"("constant c : f32[1]", "y = Add(x, c) : f32[2,4]", "output y")"),
              HasSubstr("its program has tensors that are neither operands nor results"));
  EXPECT_THAT(fault_of(inputs + R"("y = Neg(x) : f32[2,4]", "z = Add(y, s) : f32[2,4]", "output y")"),
              HasSubstr("its program has a node that reads the output of the program"));
  EXPECT_THAT(fault_of(inputs + R"("y = Add(x, s", "output y")"), HasSubstr("program:"));
}

TEST(Chain, RefusesChannelsThatDoNotFillTheBlocks) {
  const auto fault = [](const std::string& channels) {
    const Graph graph = testing::graph_of(
        "graph \"g\" { input x : f32[1,2,3,16]\n y = lowtide::Chain(x) {program = [\"input x : f32[1,2,3,16]\", "
        "\"y = Exp(x) : f32[1,2,3,16]\", \"output y\"], channels = " +
        channels + "} : f32[1,2,3,16]\n output y }");
    const Result<Graph> read = chain_program(graph, NodeId(0));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(fault("17"), "");
  EXPECT_EQ(fault("32"), "");
  EXPECT_EQ(fault("16"), "its result [1,2,3,16] does not have blocks of 16 channels");
  EXPECT_EQ(fault("33"), "its result [1,2,3,16] does not have blocks of 33 channels");
  EXPECT_EQ(fault("0"), "its result [1,2,3,16] does not have blocks of 0 channels");
}

// Whether a chain may contain the first node of a graph with these lines.
bool may_contain(const std::string& lines) {
  return may_be_in_chain(testing::graph_of("graph \"g\" {\n" + lines + "\n output y }"), NodeId(0));
}

TEST(Chain, ContainsNodesThatComputeEachElementByItself) {
  EXPECT_TRUE(may_contain("input x : f32[2,4]\n input b : f32[4]\n y = Add(x, b) : f32[2,4]"));
  EXPECT_TRUE(may_contain("input x : f16[4]\n y = Clip(x) : f16[4]"));
  EXPECT_TRUE(may_contain("input x : f32[4]\n input z : f32[]\n y = Less(x, z) : bool[4]"));
  EXPECT_TRUE(may_contain("input c : bool[4]\n input x : f32[4]\n y = Where(c, x, x) : f32[4]"));
}

TEST(Chain, ContainsNoOtherTypesShapesAndOperators) {
  EXPECT_FALSE(may_contain("input x : i64[4]\n y = Neg(x) : i64[4]"));
  EXPECT_FALSE(may_contain("input x : f32[4]\n y = Cast(x) {to = 10} : f16[4]"));
  EXPECT_FALSE(may_contain("input x : f32[<=4]\n y = Neg(x) : f32[<=4]"));
  EXPECT_FALSE(may_contain("input x : f32[4]\n input z : f32[3]\n y = Add(x, z) : f32[4]"));
  EXPECT_FALSE(may_contain("input x : f32[4]\n y = Add(x) : f32[4]"));
  EXPECT_FALSE(may_contain("input x : f32[4]\n y = Clip(x, x) : f32[4]"));
  EXPECT_FALSE(may_contain("input x : f32[4]\n y = Softmax(x) : f32[4]"));
  EXPECT_FALSE(may_contain("input x : f32[4]\n y = other::Neg(x) : f32[4]"));
}

}  // namespace
}  // namespace lowtide
