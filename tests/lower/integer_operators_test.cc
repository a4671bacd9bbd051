// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/estimate/integer_operators.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

Graph parsed(const std::string& text) {
  Result<Graph> graph = parse_graph(text, "test");
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

// The constants of all graphs here: two scales, one zero point.
std::string with_scales(const std::string& lines) {
  return "graph \"g\" {\n  constant s : f32[]\n  constant r : f32[]\n  constant z : u8[]\n" + lines + "}\n";
}

IntegerOperators rewritten(const std::string& lines) {
  const Graph graph = parsed(with_scales(lines));
  Result<IntegerOperators> result = use_integer_operators(graph);
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

std::string text_of(const IntegerOperators& result) { return print_graph(result.rewritten.graph); }

// The graph with these lines and constants, as it is printed.
std::string expected(const std::string& text) { return print_graph(parsed("graph \"g\" {\n" + text + "}\n")); }

TEST(IntegerOperators, MergeTheNodesAroundThem) {
  const IntegerOperators result = rewritten(R"(
    input x : u8[1,2,4]
    constant w : i8[3,2,1]
    a = DequantizeLinear(x, s, z) : f32[1,2,4]
    v = DequantizeLinear(w, r) : f32[3,2,1]
    b = Conv(a, v) "conv" {group = 1} : f32[1,3,4]
    y = QuantizeLinear(b, r, z) : u8[1,3,4]
    output y
  )");
  EXPECT_EQ(result.operators, 1);
  EXPECT_EQ(text_of(result), expected(R"(
    input x : u8[1,2,4]
    constant w : i8[3,2,1]
    y = Conv(x, w) "conv" {group = 1} : u8[1,3,4]
    output y
  )"));
  // The new operator stands for the Conv and the QuantizeLinear.
  EXPECT_EQ(result.rewritten.origins.nodes[NodeId(0)], (std::vector<NodeId>{NodeId(2), NodeId(3)}));
}

// The integers of Relu and MaxPool are the same before and after QuantizeLinear. The Reshape between them is a view.
// The Shape reads no element.
TEST(IntegerOperators, WriteIntegersThroughOperatorsThatCommute) {
  const IntegerOperators result = rewritten(R"(
    input x : u8[4]
    constant to : i64[3] = [1, 1, 4]
    a = DequantizeLinear(x, s, z) : f32[4]
    b = Add(a, a) : f32[4]
    c = Relu(b) : f32[4]
    n = Shape(c) : i64[1]
    d = Reshape(c, to) : f32[1,1,4]
    e = MaxPool(d) {kernel_shape = [2]} : f32[1,1,3]
    y = QuantizeLinear(e, r, z) : u8[1,1,3]
    output y, n
  )");
  EXPECT_EQ(result.operators, 4);
  EXPECT_EQ(text_of(result), expected(R"(
    input x : u8[4]
    constant to : i64[3] = [1, 1, 4]
    tensor n : i64[1]
    tensor y : u8[1,1,3]
    b = Add(x, x) : u8[4]
    c = Relu(b) : u8[4]
    n = Shape(c)
    d = Reshape(c, to) : u8[1,1,4]
    y = MaxPool(d) {kernel_shape = [2]}
    output y, n
  )"));
}

TEST(IntegerOperators, RequantizeWithoutRealNumbers) {
  const IntegerOperators result = rewritten(R"(
    input x : u8[4]
    a = DequantizeLinear(x, s, z) : f32[4]
    b = QuantizeLinear(a, r, z) : u8[4]
    c = DequantizeLinear(b, r, z) : f32[4]
    d = Neg(c) : f32[4]
    y = QuantizeLinear(d, r, z) : u8[4]
    output y
  )");
  EXPECT_EQ(result.operators, 1);
  EXPECT_EQ(text_of(result), expected(R"(
    input x : u8[4]
    tensor b : u8[4]
    tensor y : u8[4]
    b = lowtide::Requantize(x)
    y = Neg(b)
    output y
  )"));
}

// The Sigmoid has a real input from the Add, whose result the caller also gets.
TEST(IntegerOperators, KeepWhatIsNotQuantized) {
  const IntegerOperators result = rewritten(R"(
    input x : u8[4]
    a = DequantizeLinear(x, s, z) : f32[4]
    b = Add(a, a) : f32[4]
    c = Sigmoid(b) : f32[4]
    y = QuantizeLinear(c, r, z) : u8[4]
    output b, y
  )");
  EXPECT_EQ(result.operators, 0);
  EXPECT_EQ(result.rewritten.graph.nodes().size(), 4U);
}

// Both chains read a. The second one ends in reals, so it still needs the DequantizeLinear.
TEST(IntegerOperators, KeepADequantizeLinearThatOthersRead) {
  const IntegerOperators result = rewritten(R"(
    input x : u8[4]
    a = DequantizeLinear(x, s, z) : f32[4]
    b = Add(a, a) : f32[4]
    p = QuantizeLinear(b, r, z) : u8[4]
    c = Softmax(a) : f32[4]
    output p, c
  )");
  EXPECT_EQ(result.operators, 1);
  EXPECT_EQ(text_of(result), expected(R"(
    constant s : f32[]
    constant z : u8[]
    input x : u8[4]
    a = DequantizeLinear(x, s, z) : f32[4]
    p = Add(x, x) : u8[4]
    c = Softmax(a) : f32[4]
    output p, c
  )"));
}

TEST(IntegerOperators, AreViewsOnlyWithOneScale) {
  const auto reshaped = [](const char* scale) {
    return rewritten(std::string(R"(
      input x : u8[4]
      constant to : i64[2] = [2, 2]
      a = DequantizeLinear(x, s, z) : f32[4]
      b = Reshape(a, to) : f32[2,2]
      y = QuantizeLinear(b, )") +
                     scale + R"(, z) : u8[2,2]
      output y
    )");
  };
  const Graph same = reshaped("s").rewritten.graph;
  const Graph other = reshaped("r").rewritten.graph;
  ASSERT_EQ(same.nodes().size(), 1U);
  ASSERT_EQ(other.nodes().size(), 1U);
  EXPECT_EQ(full_name(same.op(NodeId(0))), "Reshape");
  EXPECT_EQ(full_name(other.op(NodeId(0))), "lowtide::Requantize");
  EXPECT_TRUE(other.op(NodeId(0)).traits.is_known);
  EXPECT_EQ(other.op(NodeId(0)).traits.view, ViewKind::none);
}

TEST(IntegerOperators, NeedConstantScales) {
  const IntegerOperators result = rewritten(R"(
    input x : u8[4]
    input t : f32[]
    a = DequantizeLinear(x, t, z) : f32[4]
    b = Neg(a) : f32[4]
    y = QuantizeLinear(b, r, z) : u8[4]
    output y
  )");
  EXPECT_EQ(result.operators, 0);
}

// Each output of the Split has a QuantizeLinear of its own.
TEST(IntegerOperators, HaveAllOutputsQuantized) {
  const std::string split = R"(
    input x : u8[4]
    a = DequantizeLinear(x, s, z) : f32[4]
    b, c = Split(a) {num_outputs = 2} : f32[2], f32[2]
    p = QuantizeLinear(b, s, z) : u8[2]
  )";
  const IntegerOperators both = rewritten(split + "q = QuantizeLinear(c, s, z) : u8[2]\n output p, q\n");
  EXPECT_EQ(both.operators, 1);
  EXPECT_EQ(both.rewritten.graph.nodes().size(), 1U);
  EXPECT_EQ(rewritten(split + "d = Neg(c) : f32[2]\n output p, d\n").operators, 0);
}

// The scale s and the zero point z are captured constants. The results of branches stay as they are.
TEST(IntegerOperators, AreFoundInBodies) {
  const IntegerOperators result = rewritten(R"(
    input c : bool[]
    input x : u8[4]
    y = If(c) "choose" {
      then_branch = graph "then" captures (x, s, z) {
        captured input x : u8[4]
        captured input s : f32[]
        captured input z : u8[]
        a = DequantizeLinear(x, s, z) : f32[4]
        b = Neg(a) : f32[4]
        d = QuantizeLinear(b, s, z) : u8[4]
        output d
      },
      else_branch = graph "else" captures (x) {
        captured input x : u8[4]
        e = Neg(x) : u8[4]
        output e
      }
    } : u8[4]
    output y
  )");
  EXPECT_EQ(result.operators, 1);
  const std::vector<Body>& bodies = result.rewritten.graph.node(NodeId(0)).bodies;
  ASSERT_EQ(bodies.size(), 2U);
  ASSERT_EQ(bodies[0].graph->nodes().size(), 1U);
  EXPECT_EQ(bodies[0].graph->op(NodeId(0)).type, "Neg");
  EXPECT_EQ(bodies[1].graph->nodes().size(), 1U);
}

TEST(IntegerOperators, LeaveAGraphWithoutThemAsItIs) {
  const Graph graph = parsed(R"(graph "g" {
    input x : f32[4]
    constant w : f32[4]
    unused = Neg(w) : f32[4]
    y = Relu(x) : f32[4]
    output y
  })");
  const Result<IntegerOperators> result = use_integer_operators(graph);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(print_graph(result->rewritten.graph), print_graph(graph));
}

}  // namespace
}  // namespace lowtide
