// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/chain.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/kernels/supported.h"
#include "tests/kernels/kernel_run.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::KernelRun;
using testing::TensorData;

// A graph of one node, with the operands as inputs.
Graph graph_of_node(const Graph& from, GraphBuilder::NodeSpec node) {
  GraphBuilder builder("one");
  IdVector<TensorId, std::optional<TensorId>> added(from.tensors().size());
  for (auto* list : {&node.inputs, &node.outputs}) {
    for (std::optional<TensorId>& id : *list) {
      if (!id) continue;
      const Tensor& tensor = from.tensor(*id);
      const Role role = list == &node.inputs ? Role::input : Role::temporary;
      if (!added[*id])
        added[*id] = builder.add_tensor({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape}, role);
      id = added[*id];
    }
  }
  builder.set_outputs({*node.outputs[0]});
  builder.add_node(std::move(node));
  return *std::move(builder).build();
}

std::vector<std::byte> run_one(const Graph& from, const GraphBuilder::NodeSpec& node,
                               const IdVector<TensorId, TensorData>& values, std::optional<int> over = std::nullopt) {
  const Graph graph = graph_of_node(from, node);
  KernelRun run(graph);
  run.over = over;
  std::vector<TensorData> reads;
  for (const std::optional<TensorId>& input : node.inputs) {
    reads.push_back(input ? values[*input] : TensorData{.is_present = false});
  }
  EXPECT_EQ(run.run(std::move(reads)), RunStatus());
  return run.writes[0].bytes;
}

// Random values for the inputs: f32 and f16 between -8 and 8, booleans, and integers of 8 bits.
IdVector<TensorId, TensorData> random_values(const Graph& graph, Random& random) {
  IdVector<TensorId, TensorData> values;
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    TensorData data = testing::space_for(graph, id);
    for (std::size_t at = 0; at < data.bytes.size(); at += static_cast<std::size_t>(*bits_of(data.dtype) / 8)) {
      if (data.dtype == DType::i8 || data.dtype == DType::u8) {
        data.bytes[at] = std::byte(random.below(256));
      } else if (data.dtype == DType::boolean) {
        data.bytes[at] = std::byte(random.below(2));
      } else if (data.dtype == DType::f16) {
        const auto half = static_cast<std::uint16_t>(random.below(0x4800) | (random.below(2) << 15U));
        std::memcpy(&data.bytes[at], &half, 2);
      } else {
        const float value = static_cast<float>(random.between(-8'000'000, 8'000'000)) / 1'000'000.0F;
        std::memcpy(&data.bytes[at], &value, 4);
      }
    }
    values.push_back(std::move(data));
  }
  return values;
}

// Runs the nodes of a graph one after another, and as one chain. Expects the same bits.
void expect_equal_bits(const std::string& lines, std::optional<int> over = std::nullopt) {
  SCOPED_TRACE(lines);
  const Graph graph = testing::graph_of("graph \"g\" {\n" + lines + "\n output y }");
  Random random(7);
  IdVector<TensorId, TensorData> values = random_values(graph, random);
  std::vector<NodeId> nodes;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    ASSERT_TRUE(may_be_in_chain(graph, id));
    nodes.push_back(id);
  }
  const std::vector<std::byte> fused = run_one(graph, chain_of(graph, nodes), values, over);
  for (NodeId id : nodes) {
    values[*graph.node(id).outputs[0]].bytes = run_one(graph, GraphBuilder::spec_of(graph, id), values);
  }
  EXPECT_EQ(fused, values[graph.outputs()[0]].bytes);
}

TEST(ChainKernel, ComputesTheBitsOfHardSwish) {
  const std::string constants = "input three : f32[]\n input zero : f32[]\n input six : f32[]\n";
  const std::string nodes =
      "a = Add(x, three) : T\n b = Clip(a, zero, six) : T\n c = Mul(x, b) : T\n y = Div(c, six) : T";
  for (const std::string type : {"f32[3,5,7,9]", "f32[1,2,700]", "f32[1]"}) {
    std::string text = nodes;
    for (std::size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at)) text.replace(at, 1, type);
    expect_equal_bits("input x : " + type + "\n" + constants + text);
  }
}

// Groups of nodes that one loop computes: a Mul and an Add of numbers, a HardSwish, and a Swish. The last ones are
// none, because another node reads between their nodes, or a number is a whole tensor.
TEST(ChainKernel, ComputesTheBitsOfPatterns) {
  const std::string numbers = "input s : f32[]\n input t : f32[1]\n input low : f32[]\n input high : f32[]\n";
  const std::string x = "input x : f32[3,700]\n" + numbers;
  const std::string hard_swish = R"(c = Add(b, t) : f32[3,700]
    d = Clip(c, low, high) : f32[3,700]
    e = Mul(b, d) : f32[3,700]
    f = Div(e, s) : f32[3,700]
)";
  expect_equal_bits(x + "a = Mul(s, x) : f32[3,700]\n y = Add(t, a) : f32[3,700]");
  expect_equal_bits(x + "a = Mul(x, s) : f32[3,700]\n b = Add(a, t) : f32[3,700]\n" + hard_swish +
                    "g = Mul(f, t) : f32[3,700]\n y = Add(g, s) : f32[3,700]");
  expect_equal_bits(x + "a = Neg(x) : f32[3,700]\n b = Abs(a) : f32[3,700]\n" + hard_swish +
                    "y = Sub(a, f) : f32[3,700]");
  const std::string old_swish = R"(a = Add(x, s) : f32[3,700]
    b = Clip(a) {min = -1.5, max = 6.0} : f32[3,700]
    c = Mul(x, b) : f32[3,700]
    y = Div(c, t) : f32[3,700]
)";
  expect_equal_bits(x + old_swish);
  expect_equal_bits(x + "a = Sigmoid(x) : f32[3,700]\n y = Mul(a, x) : f32[3,700]");
  expect_equal_bits(x + "a = Neg(x) : f32[3,700]\n b = Sigmoid(a) : f32[3,700]\n c = Mul(a, b) : f32[3,700]\n" +
                    "y = Sub(c, t) : f32[3,700]");
  expect_equal_bits(x + "a = Sigmoid(x) : f32[3,700]\n b = Mul(a, x) : f32[3,700]\n y = Sub(b, a) : f32[3,700]");
  expect_equal_bits(x + "a = Sigmoid(x) : f32[3,700]\n y = Mul(a, s) : f32[3,700]");
  expect_equal_bits(x + "a = Mul(x, s) : f32[3,700]\n b = Add(a, t) : f32[3,700]\n y = Sub(b, a) : f32[3,700]");
  expect_equal_bits(x + "b = Neg(x) : f32[3,700]\n" + hard_swish + "y = Sub(f, d) : f32[3,700]");
  expect_equal_bits(x + "a = Mul(x, s) : f32[3,700]\n y = Add(a, x) : f32[3,700]");
  expect_equal_bits("input z : f32[1]\n" + numbers + "a = Mul(z, s) : f32[1]\n y = Add(a, t) : f32[1]");
}

// A LeakyRelu and a Max with a number. The last ones are none: the number comes first, something else reads the
// LeakyRelu, or Max has a whole tensor.
TEST(ChainKernel, ComputesTheBitsOfLeakyRelus) {
  const std::string x = "input x : f32[3,700]\n input z : f32[3,700]\n input s : f32[]\n input t : f32[1]\n";
  const std::string leaky = "a = LeakyRelu(x) {alpha = 0.2} : f32[3,700]\n";
  expect_equal_bits(x + leaky + "y = Max(a, s) : f32[3,700]");
  expect_equal_bits(x + "a = LeakyRelu(x) : f32[3,700]\n b = Max(a, t) : f32[3,700]\n y = Neg(b) : f32[3,700]");
  expect_equal_bits(x + "b = Neg(x) : f32[3,700]\n a = LeakyRelu(b) {alpha = -1.5} : f32[3,700]\n" +
                    "y = Max(a, s) : f32[3,700]");
  expect_equal_bits(x + leaky + "y = Max(s, a) : f32[3,700]");
  expect_equal_bits(x + leaky + "b = Max(a, s) : f32[3,700]\n y = Sub(b, a) : f32[3,700]");
  expect_equal_bits(x + leaky + "y = Max(a, z) : f32[3,700]");
}

// The smallest numbers, zeros, infinities and NaN.
TEST(ChainKernel, LeakyRelusHaveTheBitsOfSpecialNumbers) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special = {0.0F, -0.0F, tiny, -tiny, infinity, -infinity, nan, -nan, 1.0F, -1.0F};
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[10]
    input s : f32[]
    a = LeakyRelu(x) {alpha = 0.25} : f32[10]
    y = Max(a, s) : f32[10]
    output y
  })");
  for (const float number : special) {
    IdVector<TensorId, TensorData> values;
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) values.push_back(testing::space_for(graph, id));
    std::memcpy(values[TensorId(0)].bytes.data(), special.data(), special.size() * sizeof(float));
    std::memcpy(values[TensorId(1)].bytes.data(), &number, sizeof number);
    const std::vector<std::byte> fused = run_one(graph, chain_of(graph, {NodeId(0), NodeId(1)}), values);
    for (NodeId id : {NodeId(0), NodeId(1)}) {
      values[*graph.node(id).outputs[0]].bytes = run_one(graph, GraphBuilder::spec_of(graph, id), values);
    }
    EXPECT_EQ(fused, values[graph.outputs()[0]].bytes) << number;
  }
}

TEST(ChainKernel, ComputesTheBitsOfGelu) {
  const std::string x = "input x : f32[3,700]\n input s : f32[]\n input t : f32[1]\n input half : f32[]\n";
  const std::string gelu = R"(b = Div(a, s) : f32[3,700]
    c = Erf(b) : f32[3,700]
    d = Add(c, t) : f32[3,700]
    e = Mul(a, d) : f32[3,700]
    f = Mul(half, e) : f32[3,700]
)";
  expect_equal_bits(x + "a = Neg(x) : f32[3,700]\n" + gelu + "y = Sub(a, f) : f32[3,700]");
  expect_equal_bits(x + "a = Neg(x) : f32[3,700]\n" + gelu + "y = Sub(a, d) : f32[3,700]");
  expect_equal_bits(x + R"(b = Div(s, x) : f32[3,700]
    c = Erf(b) : f32[3,700]
    d = Add(t, c) : f32[3,700]
    e = Mul(d, x) : f32[3,700]
    y = Mul(e, half) : f32[3,700])");
  expect_equal_bits(x + R"(b = Div(x, s) : f32[3,700]
    c = Erf(b) : f32[3,700]
    d = Add(c, c) : f32[3,700]
    e = Mul(d, x) : f32[3,700]
    y = Mul(e, x) : f32[3,700])");
  expect_equal_bits(R"(input z : f32[1]
    input s : f32[1]
    b = Div(z, s) : f32[1]
    c = Erf(b) : f32[1]
    d = Add(s, c) : f32[1]
    e = Mul(d, z) : f32[1]
    y = Mul(s, e) : f32[1])");
}

// Sums of weighted tensors: of two products, of a product and a tensor, with and without a Relu. The last ones are
// none, because a factor is a whole tensor, because something else reads a product, or because one product is added to
// itself.
TEST(ChainKernel, ComputesTheBitsOfWeightedSums) {
  const std::string operands =
      "input x : f32[3,700]\n input z : f32[3,700]\n input s : f32[]\n input t : f32[1]\n input row : f32[700]\n";
  const auto expect = [&](std::string nodes) {
    for (std::size_t at = nodes.find('T'); at != std::string::npos; at = nodes.find('T', at)) {
      nodes.replace(at, 1, "f32[3,700]");
    }
    expect_equal_bits(operands + nodes);
  };
  expect("a = Mul(s, x) : T\n b = Mul(z, t) : T\n y = Add(a, b) : T");
  expect("a = Mul(s, x) : T\n b = Mul(z, t) : T\n c = Add(b, a) : T\n y = Relu(c) : T");
  expect(
      "a = Mul(s, x) : T\n b = Mul(x, t) : T\n c = Add(b, a) : T\n d = Mul(t, z) : T\n e = Add(d, c) : T\n"
      "y = Relu(e) : T");
  expect("a = Mul(s, x) : T\n y = Add(x, a) : T");
  expect("a = Abs(x) : T\n b = Mul(s, a) : T\n c = Add(b, a) : T\n d = Relu(c) : T\n y = Sub(d, a) : T");
  expect("a = Mul(s, x) : T\n b = Add(z, a) : T\n c = Relu(b) : T\n y = Sub(c, b) : T");
  expect("a = Mul(z, x) : T\n b = Mul(z, t) : T\n y = Add(a, b) : T");
  expect("a = Mul(x, s) : T\n b = Mul(z, x) : T\n y = Add(a, b) : T");
  expect("a = Mul(x, s) : T\n y = Add(a, row) : T");
  expect("a = Mul(x, s) : T\n b = Mul(z, t) : T\n c = Add(a, b) : T\n y = Sub(c, a) : T");
  expect("a = Mul(x, s) : T\n b = Mul(z, t) : T\n c = Add(a, b) : T\n y = Sub(c, b) : T");
  expect("a = Mul(x, s) : T\n b = Mul(a, t) : T\n y = Add(a, b) : T");
  expect("a = Mul(x, s) : T\n y = Add(a, a) : T");
}

TEST(ChainKernel, RepeatsOperandsAlongAxes) {
  expect_equal_bits(R"(input x : f32[2,3,4,5]
    input scale : f32[3,1,1]
    input shift : f32[1,3,1,1]
    input row : f32[5]
    a = Mul(x, scale) : f32[2,3,4,5]
    b = Add(shift, a) : f32[2,3,4,5]
    c = Sub(b, row) : f32[2,3,4,5]
    y = Relu(c) : f32[2,3,4,5])");
  expect_equal_bits(R"(input column : f32[4,1]
    input row : f32[600]
    a = Add(column, row) : f32[4,600]
    y = Mul(a, column) : f32[4,600])");
}

TEST(ChainKernel, RoundsHalvesAfterEveryNode) {
  expect_equal_bits(R"(input x : f16[2,300]
    input z : f16[300]
    a = Mul(x, z) : f16[2,300]
    b = Sigmoid(a) : f16[2,300]
    y = Add(b, x) : f16[2,300])");
}

TEST(ChainKernel, ComparesAndChooses) {
  expect_equal_bits(R"(input x : f32[2,300]
    input limit : f32[]
    a = Less(x, limit) : bool[2,300]
    b = Greater(x, limit) : bool[2,300]
    c = Or(a, b) : bool[2,300]
    d = Neg(x) : f32[2,300]
    y = Where(c, d, x) : f32[2,300])");
}

TEST(ChainKernel, WritesOverAnOperand) {
  const std::string lines = R"(input x : f32[2,300]
    input z : f32[2,300]
    a = Add(x, z) : f32[2,300]
    b = Tanh(a) : f32[2,300]
    y = Mul(z, b) : f32[2,300])";
  expect_equal_bits(lines, 0);
  expect_equal_bits(lines, 1);
}

TEST(ChainKernel, ReadsAndWritesIntegersOfOneScale) {
  const std::string lines = R"(input x : u8[2,300]
    input z : i8[2,300]
    input s : f32[]
    input t : f32[1]
    input of_x : u8[]
    input of_z : i8[]
    a = DequantizeLinear(x, s, of_x) : f32[2,300]
    b = DequantizeLinear(z, t) : f32[2,300]
    c = Add(a, b) : f32[2,300]
    d = Relu(c) : f32[2,300]
    y = QuantizeLinear(d, s, of_x) : u8[2,300])";
  expect_equal_bits(lines);
  expect_equal_bits(lines, 0);
  const Graph per_axis = testing::graph_of(R"(graph "g" {
    input x : f32[2,3]
    input s : f32[3]
    y = QuantizeLinear(x, s) : u8[2,3]
    output y })");
  EXPECT_FALSE(may_be_in_chain(per_axis, NodeId(0)));
}

// A node with each operator, behind a Neg.
TEST(ChainKernel, HasEveryOperatorOfChains) {
  int found = 0;
  for (const SupportedOperator& row : supported_operators()) {
    const std::string_view type = row.type;
    if (!row.domain.empty()) continue;
    bool has_run = false;
    for (const std::string rest : {"", ", x", ", x, x"}) {
      for (const std::string result : {"f32[300]", "bool[300]"}) {
        for (const std::string first : {"f32", "bool"}) {
          const std::string lines = first == "f32" ? "input x : f32[300]\n a = Neg(x) : f32[300]\n"
                                                   : "input x : f32[300]\n input p : bool[300]\n input x1 : bool[300]\n"
                                                     "a = Not(p) : bool[300]\n";
          std::string others = rest;
          if (first == "bool" && type != "Where") {
            for (std::size_t at = others.find('x'); at != std::string::npos; at = others.find('x', at + 2))
              others.replace(at, 1, "x1");
          }
          const std::string text = lines + "y = " + std::string(type) + "(a" + others + ") : " + result;
          const Graph graph = testing::graph_of("graph \"g\" {\n" + text + "\n output y }");
          if (!may_be_in_chain(graph, NodeId(1))) continue;
          has_run = true;
          expect_equal_bits(text);
        }
      }
    }
    found += has_run ? 1 : 0;
  }
  EXPECT_EQ(found, 48);  // QuantizeLinear and DequantizeLinear are in ReadsAndWritesIntegersOfOneScale
}

// Two images of 3 channels in a block of 4 lanes, at 2 x 1 places. Exp(0) is 1, and the lane without a channel is 0.
TEST(ChainKernel, WritesZerosIntoLanesWithoutAChannel) {
  const Graph graph = testing::graph_of(
      "graph \"g\" { input x : f32[2,1,2,1,4]\n y = lowtide::Chain(x) {program = [\"input x : f32[2,1,2,1,4]\", "
      "\"y = Exp(x) : f32[2,1,2,1,4]\", \"output y\"], channels = 3} : f32[2,1,2,1,4]\n output y }");
  KernelRun run(graph);
  ASSERT_EQ(run.run({testing::tensor_data(DType::f32, {2, 1, 2, 1, 4}, std::vector<float>(16, 0))}), RunStatus());
  const auto y = testing::values_of<float>(run.writes[0]);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], i % 4 < 3 ? 1 : 0) << i;
}

}  // namespace
}  // namespace lowtide
