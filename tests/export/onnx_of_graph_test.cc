// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx_of_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "tests/earlier/graphdef/graph_facts.h"
#include "tests/graph/random_graph.h"

namespace lowtide::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph graph_of(const std::string& text) {
  Result<Graph> graph = parse_graph(text, "test.graph");
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

OnnxOfGraph written(const Graph& graph) {
  Result<OnnxOfGraph> made = onnx_of_graph(graph);
  if (!made) throw std::runtime_error(made.error().describe());
  return *std::move(made);
}

Graph read_back(const OnnxOfGraph& made) {
  const std::string path = ::testing::TempDir() + "onnx_of_graph_test.onnx";
  std::ofstream(path, std::ios::binary) << made.bytes;
  Result<ImportedModel> model = import_model(path);
  if (!model) throw std::runtime_error(model.error().describe());
  return std::move(model->graph);
}

TEST(OnnxOfGraph, BecomesTheSameGraphAgain) {
  const Graph graph = graph_of(R"(graph "g" {
  input x : f32[1,3,8,8]
  constant axes : i64[2] = [2, 3]
  y = MaxPool(x) "pool" {kernel_shape = [2, 2], strides = [2, 2], auto_pad = "VALID"} : f32[1,3,4,4]
  m = ReduceSum(y, axes) "sum" {keepdims = 0} : f32[1,3]
  c = Clip(m, _, _) "clip" : f32[1,3]
  output c, m
})");
  const OnnxOfGraph made = written(graph);
  EXPECT_THAT(made.lost, IsEmpty());
  EXPECT_EQ(facts_of(read_back(made)), facts_of(graph));
}

// Softmax-11 and Softmax-13 differ only in their meaning. Nodes that need both have no version in common.
TEST(OnnxOfGraph, ChoosesTheVersionOfTheMeaning) {
  const Graph graph = graph_of(R"(graph "g" {
  input x : f32[2,3,4]
  y = Softmax(x) "old" {axis = 1, lowtide_since = 11} : f32[2,3,4]
  output y
})");
  const OnnxOfGraph made = written(graph);
  EXPECT_THAT(made.lost, IsEmpty());
  EXPECT_EQ(facts_of(read_back(made)), facts_of(graph));
  EXPECT_THAT(written(graph_of(R"(graph "g" {
  input x : f32[2,3,4]
  y = Softmax(x) {axis = 1, lowtide_since = 11} : f32[2,3,4]
  z = Softmax(y) {axis = 1} : f32[2,3,4]
  output z
})"))
                  .lost,
              ElementsAre("a version of ONNX in which all of its operators exist as they are"));
}

TEST(OnnxOfGraph, HasTensorsInPlaceOfNumbers) {
  const Graph graph = graph_of(R"(graph "g" {
  constant to : i64[1] = [5]
  y = ConstantOfShape(to) "y" {value = 7} : i64[5]
  output y
})");
  const OnnxOfGraph made = written(graph);
  EXPECT_THAT(made.lost, IsEmpty());
  const Graph back = read_back(made);
  ASSERT_EQ(back.outputs().size(), 1U);
  EXPECT_EQ(back.tensor(back.outputs().front()).dtype, DType::i64);
}

TEST(OnnxOfGraph, SaysWhatIsLost) {
  const OnnxOfGraph made = written(graph_of(R"(graph "" {
  input x : f32[2]
  constant w : f32[2]
  state s : f32[2]
  y = Add(x, w) {mode = opaque "sparse tensor", other = 0.1} : f32[2]
  tensorflow::NoOp() after (y)
  t = caffe2::Sum(s, y) after (y) {net = opaque "net"} : f32[2]
  output y
  update s = t
})"));
  EXPECT_THAT(made.lost, ElementsAre("a version of ONNX in which all of its operators exist as they are",
                                     "attributes that the graph only describes", "control inputs",
                                     "digits of reals behind those of 32 bits", "operators without inputs and results",
                                     "the content of constants", "which inputs are states",
                                     "which tensors are the next content of a state"));
}

TEST(OnnxOfGraph, KeepsBodies) {
  const Graph graph = graph_of(R"(graph "branch" {
  input cond : bool[]
  input x : f32[8]
  y = Relu(x) "" : f32[8]
  z = If(cond) "if" {
    then_branch = graph "then" captures (near = y) {
      captured input near : f32[8]
      y = Neg(near) : f32[8]
      output y
    },
    else_branch = graph "else" captures (y) {
      captured input y : f32[8]
      x = Abs(y) : f32[8]
      output x
    }
  } : f32[8]
  output z
})");
  const OnnxOfGraph made = written(graph);
  EXPECT_THAT(made.lost, ElementsAre("some names, which are changed"));  // a body sees the names around it
  const Graph back = read_back(made);
  ASSERT_EQ(back.nodes().size(), 2U);
  const std::vector<Body>& bodies = back.node(NodeId(1)).bodies;
  ASSERT_EQ(bodies.size(), 2U);
  EXPECT_EQ(bodies.front().captures.size(), 1U);
  EXPECT_EQ(bodies.front().graph->op(NodeId(0)).type, "Neg");
}

// All types, scalars, empty tensors, upper bounds, omitted operands and hostile names, with operators of another system
// because random nodes of ONNX have no meaning.
TEST(OnnxOfGraph, BringsRandomGraphsBack) {
  Random random(7);
  int nodes = 0;
  for (int round = 0; round < 200; ++round) {
    const Graph shape = random_graph(random, 0);
    GraphBuilder builder("g");
    for (TensorId id : all_ids<TensorId>(shape.tensors().size())) {
      const Tensor& tensor = shape.tensor(id);
      builder.add_tensor({.name = "t" + std::to_string(id.value()), .dtype = tensor.dtype, .shape = tensor.shape},
                         tensor.producer ? Role::temporary : Role::input);
    }
    for (NodeId id : all_ids<NodeId>(shape.nodes().size())) {
      GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(shape, id);
      spec.domain = random.chance(50) ? "tensorflow" : "caffe2";
      spec.name = "n";
      spec.type = "Op";
      spec.control_inputs.clear();
      std::erase_if(spec.attributes, [](const Attribute& one) { return one.name.empty(); });
      if (spec.inputs.empty() && spec.outputs.empty()) continue;
      builder.add_node(std::move(spec));
      ++nodes;
    }
    builder.set_outputs(shape.outputs());
    const Graph graph = *std::move(builder).build();
    if (graph.outputs().empty()) continue;
    ASSERT_EQ(facts_of(read_back(written(graph))), facts_of(graph)) << print_graph(graph);
  }
  EXPECT_GT(nodes, 200);
}

// Whatever the names and the operators are, the same bytes come out twice.
TEST(OnnxOfGraph, IsDeterministic) {
  Random random(8);
  std::size_t bytes = 0;
  for (int round = 0; round < 100; ++round) {
    const Graph graph = random_graph(random, 2);
    const OnnxOfGraph made = written(graph);
    EXPECT_EQ(written(graph).bytes, made.bytes);
    bytes += made.bytes.size();
  }
  EXPECT_GT(bytes, 10'000U);
}

}  // namespace
}  // namespace lowtide::testing
