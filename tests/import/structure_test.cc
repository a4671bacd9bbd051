// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Names, order and size of graphs.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/import/onnx/walk/wiring.h"
#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

// x -> Relu -> t0 -> Relu -> ... -> y
onnx::ModelProto chain(int nodes) {
  onnx::ModelProto model = model_from("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.clear_node();
  for (int at = 0; at < nodes; ++at) {
    onnx::NodeProto* node = graph.add_node();
    node->set_op_type("Relu");
    node->add_input(at == 0 ? "x" : "t" + std::to_string(at - 1));
    node->add_output(at + 1 == nodes ? "y" : "t" + std::to_string(at));
  }
  return model;
}

TEST(Structure, KeepsTheOrderAndNamesOfAFile) {
  const auto model = import("net (float[2] x) => (float[2] y) { [a] t = Relu(x) [b] y = ai.onnx.Neg(t) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Graph& graph = model->graph;
  EXPECT_EQ(graph.name(), "net");
  EXPECT_EQ(model->format, "onnx");
  ASSERT_EQ(graph.nodes().size(), 2U);
  EXPECT_EQ(graph.node(NodeId(0)).name, "a");
  EXPECT_EQ(graph.op(NodeId(1)).type, "Neg");
  EXPECT_EQ(graph.op(NodeId(1)).domain, "") << "ai.onnx is the standard domain";
  EXPECT_TRUE(model->notes.empty());
  EXPECT_EQ(find_tensor(graph, "y")->role, Role::output);
}

TEST(Structure, KeepsAttributes) {
  const auto pool = import(
      "g (float[1,2,8,8] x) => (float[1,2,4,4] y) "
      "{ y = MaxPool<kernel_shape = [2, 2], strides = [2, 2], auto_pad = \"VALID\">(x) }");
  ASSERT_TRUE(pool.ok()) << pool.error().describe();
  const auto& attributes = pool->graph.node(NodeId(0)).attributes;
  EXPECT_EQ(*find_attribute<std::vector<std::int64_t>>(attributes, "strides"), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(*find_attribute<std::string>(attributes, "auto_pad"), "VALID");
}

TEST(Structure, TurnsTensorsOfOneElementIntoNumbers) {
  const auto value_of = [](const std::string& type, const std::string& value) {
    const auto model = import("g (int64[1] s) => (" + type + "[3] y) { y = ConstantOfShape<value = " + type + "[1] {" +
                              value + "}>(s) }");
    EXPECT_TRUE(model.ok());
    return model->graph.node(NodeId(0)).attributes.at(0).value;
  };
  EXPECT_EQ(value_of("float", "2.5"), AttributeValue(2.5));
  EXPECT_EQ(value_of("int64", "-7"), AttributeValue(std::int64_t{-7}));
  EXPECT_EQ(value_of("bool", "1"), AttributeValue(std::int64_t{1}));
}

TEST(Structure, ReadsTensorsInAttributesOfClassicalModels) {
  const auto model = import(
      "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 4]>\n"
      "g (int64[3] x) => (float[3] y) {\n"
      "  y = ai.onnx.ml.LabelEncoder<keys_tensor = int64[2] {1, 2}, values_tensor = float[2] {1.5, 2.5}>(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const std::vector<Attribute>& attributes = model->graph.node(NodeId(0)).attributes;
  const auto* keys = find_attribute<std::vector<std::int64_t>>(attributes, "keys_tensor");
  const auto* values = find_attribute<std::vector<double>>(attributes, "values_tensor");
  ASSERT_TRUE(keys != nullptr && values != nullptr);
  EXPECT_EQ(*keys, std::vector<std::int64_t>({1, 2}));
  EXPECT_EQ(*values, std::vector<double>({1.5, 2.5}));
}

// Each row of features gets a label and two scores.
TEST(Structure, InfersTheSizesOfClassicalModels) {
  const auto model = import(
      "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 3]>\n"
      "g (float[5,4] x) => (int64[N] label, float[N,M] score) {\n"
      "  label, score = ai.onnx.ml.LinearClassifier<coefficients = [1.0, 2.0, 3.0, 4.0], intercepts = [0.5], "
      "classlabels_ints = [3, 7]>(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Graph& graph = model->graph;
  EXPECT_EQ(graph.tensor(graph.outputs()[0]).dtype, DType::i64);
  EXPECT_EQ(graph.tensor(graph.outputs()[0]).shape, Shape({5}));
  EXPECT_EQ(graph.tensor(graph.outputs()[1]).shape, Shape({5, 2}));
}

TEST(Structure, NamesAWayOutForMapsAndLabelsOfText) {
  const std::string head = "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 3]>\n";
  const auto maps = import(head +
                           "g (float[1,2] x) => (float[1] y) { z = ai.onnx.ml.ZipMap<classlabels_int64s = "
                           "[0, 1]>(x) y = ReduceSum(z) }");
  ASSERT_FALSE(maps.ok());
  EXPECT_NE(maps.error().message.find("'zipmap': False"), std::string::npos) << maps.error().message;
  const auto texts = import(head +
                            "g (float[1,2] x) => (string[1] label, float[1,1] score) { label, score = "
                            "ai.onnx.ml.LinearClassifier<coefficients = [1.0, 2.0], classlabels_strings = "
                            "[\"a\"]>(x) }");
  ASSERT_FALSE(texts.ok());
  EXPECT_NE(texts.error().message.find("train with integer labels"), std::string::npos) << texts.error().message;
}

// The attribute kSinceAttribute of the first node, or 0 without it.
std::int64_t since_of(int opset, const std::string& node) {
  const auto model = import("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                            "]>\ng (float[2,3] x) => (float[2,3] y) { " + node + " }");
  EXPECT_TRUE(model.ok());
  const auto* since = find_attribute<std::int64_t>(model->graph.node(NodeId(0)).attributes, kSinceAttribute);
  return since == nullptr ? 0 : *since;
}

TEST(Structure, MarksNodesWithAnOlderMeaning) {
  EXPECT_EQ(since_of(12, "y = Softmax(x)"), 11);
  EXPECT_EQ(since_of(9, "y = Softmax(x)"), 1);
  EXPECT_EQ(since_of(13, "y = Softmax(x)"), 0);
  EXPECT_EQ(since_of(17, "y = Softmax(x)"), 0);
  EXPECT_EQ(since_of(9, "y = Relu(x)"), 0);
}

TEST(Structure, SortsNodesAndNotesIt) {
  const auto model =
      import("g (float[2] x) => (float[2] y) { [c] y = Neg(b) [a] a = Relu(x) [b] b = Abs(a) [d] d = Relu(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  std::string order;
  for (const Node& node : model->graph.nodes()) order += node.name;
  // a is the first ready node. b is next, because it comes before d in the file. Then c is ready and comes before
  // d.
  EXPECT_EQ(order, "abcd");
  ASSERT_EQ(model->notes.size(), 1U);
  EXPECT_NE(model->notes[0].find("topological order"), std::string::npos);
}

TEST(Structure, SortsALongChainGivenBackwards) {
  onnx::ModelProto proto = chain(20'000);
  onnx::GraphProto& graph = *proto.mutable_graph();
  for (int at = 0; at < graph.node_size() / 2; ++at) {
    graph.mutable_node(at)->Swap(graph.mutable_node(graph.node_size() - 1 - at));
  }
  const auto model = import(proto);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 20'000U);
}

TEST(Structure, RefusesCyclesAndNamesANode) {
  expect_refused(import("g (float[2] x) => (float[2] y) { [self] t = Add(x, t) y = Relu(t) }"), ErrorCode::invalid,
                 {"node 0 'self' (Add)", "cycle of 1 node"});
  // The node after the cycle is not part of it.
  expect_refused(import("g (float[2] x) => (float[2] y) { [behind] y = Relu(b) [p] a = Add(x, b) [q] b = Relu(a) }"),
                 ErrorCode::invalid, {"cycle of 2 nodes", "node 2 'q'"});
  onnx::ModelProto ring = chain(100'000);
  ring.mutable_graph()->mutable_node(0)->set_input(0, "t99998");
  expect_refused(import(ring), ErrorCode::invalid, {"cycle of 99999 nodes"});
}

TEST(Structure, RefusesNamesWithTwoProducers) {
  expect_refused(import("g (float[2] x) => (float[2] y) { [a] y = Relu(x) [b] y = Neg(x) }"), ErrorCode::invalid,
                 {"'y'", "node 0 'a'", "node 1 'b'"});
  expect_refused(import("g (float[2] x) => (float[2] x) { [a] x = Relu(x) }"), ErrorCode::invalid,
                 {"'x'", "input 0", "node 0 'a'"});
  expect_refused(import("g (float[2] x) => (float[2] y) <float[2] y = {1, 2}> { [a] y = Relu(x) }"), ErrorCode::invalid,
                 {"'y'", "initializer 0", "node 0 'a'"});
  onnx::ModelProto twice = model_from("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  *twice.mutable_graph()->add_initializer() = twice.graph().initializer(0);
  expect_refused(import(twice), ErrorCode::invalid, {"'w'", "initializer 0", "initializer 1"});
  onnx::ModelProto inputs = model_from("g (float[2] x, float[2] z) => (float[2] y) { y = Add(x, z) }");
  inputs.mutable_graph()->mutable_input(1)->set_name("x");
  expect_refused(import(inputs), ErrorCode::invalid, {"'x'", "input 0", "input 1"});
}

TEST(Structure, RefusesNamesWithoutAProducer) {
  expect_refused(import("g (float[2] x) => (float[2] y) { [a] y = Add(x, ghost) }"), ErrorCode::invalid,
                 {"node 0 'a' (Add)", "'ghost'"});
  expect_refused(import("g (float[2] x) => (float[2] y) { t = Relu(x) }"), ErrorCode::invalid,
                 {"output 'y'", "has no producer"});
}

TEST(Structure, RefusesEmptyNamesOfInputsAndOutputs) {
  onnx::ModelProto model = chain(1);
  model.mutable_graph()->mutable_input(0)->set_name("");
  expect_refused(import(model), ErrorCode::invalid, {"an input", "no name"});
  model = chain(1);
  model.mutable_graph()->mutable_output(0)->set_name("");
  expect_refused(import(model), ErrorCode::invalid, {"an output", "no name"});
}

TEST(Structure, AcceptsOutputsThatAreInputsOrConstants) {
  const auto model = import(
      "g (float[2] x) => (float[2] x, float[3] w, float[2] y, float[2] y) <float[3] w = {1, 2, 3}> "
      "{ y = Relu(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Graph& graph = model->graph;
  ASSERT_EQ(graph.outputs().size(), 4U);
  EXPECT_EQ(graph.tensor(graph.outputs()[0]).role, Role::input);
  EXPECT_EQ(graph.tensor(graph.outputs()[1]).role, Role::constant);
  EXPECT_EQ(graph.outputs()[2], graph.outputs()[3]);
}

TEST(Structure, AcceptsGraphsWithoutNodes) {
  const auto model = import("g (float[2] x) => (float[2] x) { }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 0U);
}

TEST(Structure, KeepsOmittedInputsAndOutputs) {
  const auto model = import("g (float[2] x, float h) => (float[2] y) { y = Clip(x, , h) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Node& clip = model->graph.node(NodeId(0));
  ASSERT_EQ(clip.inputs.size(), 3U);
  EXPECT_FALSE(clip.inputs[1].has_value());
  EXPECT_TRUE(clip.inputs[2].has_value());
}

TEST(Structure, AcceptsNamesUpToTheLimit) {
  onnx::ModelProto model = chain(2);
  const std::string name(65'536, 'n');
  model.mutable_graph()->mutable_node(0)->set_name(name);
  model.mutable_graph()->mutable_node(0)->set_output(0, name);
  model.mutable_graph()->mutable_node(1)->set_input(0, name);
  const auto imported = import(model);
  ASSERT_TRUE(imported.ok()) << imported.error().describe();
  EXPECT_EQ(imported->graph.node(NodeId(0)).name, name);
  EXPECT_NE(find_tensor(imported->graph, name), nullptr);
}

TEST(Structure, RefusesNamesBeyondTheLimit) {
  for (std::size_t length : {std::size_t{65'537}, std::size_t{50'000'000}}) {
    onnx::ModelProto model = chain(2);
    const std::string name(length, 'n');
    model.mutable_graph()->mutable_node(0)->set_output(0, name);
    model.mutable_graph()->mutable_node(1)->set_input(0, name);
    const auto refused = import(model);
    expect_refused(refused, ErrorCode::over_limit, {"kMaxNameBytes"});
    EXPECT_LT(refused.error().describe().size(), 1000U) << "a message never contains the whole name";
  }
}

TEST(Structure, KeepsNamesWithAnyBytes) {
  onnx::ModelProto proto = chain(1);
  const std::string name("\xff\0\x1b[2J/../../etc/passwd%s%n", 24);
  proto.mutable_graph()->mutable_output(0)->set_name(name);
  proto.mutable_graph()->mutable_node(0)->set_output(0, name);
  const auto model = import(proto);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_NE(find_tensor(model->graph, name), nullptr);
}

TEST(Structure, AcceptsAChainOfAHundredThousandNodes) {
  const auto model = import(chain(100'000));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 100'000U);
  EXPECT_EQ(type_of(model->graph, "y"), "f32[2]");
}

TEST(Structure, AcceptsANodeWithTwoHundredThousandInputs) {
  onnx::ModelProto proto = chain(1);
  onnx::NodeProto* node = proto.mutable_graph()->mutable_node(0);
  node->set_op_type("Sum");
  for (int at = 1; at < 200'000; ++at) node->add_input("x");
  const auto model = import(proto);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.node(NodeId(0)).inputs.size(), 200'000U);
}

TEST(Structure, AcceptsATensorWithAHundredThousandReaders) {
  onnx::ModelProto proto = chain(100'000);
  for (int at = 0; at < 100'000; ++at) proto.mutable_graph()->mutable_node(at)->set_input(0, "x");
  const auto model = import(proto);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  for (TensorId id : model->graph.inputs()) EXPECT_EQ(model->graph.readers(id).size(), 100'000U);
}

TEST(Structure, GivesTheSameGraphEachTime) {
  const std::string text = "g (float[2] x) => (float[2] y) { [c] y = Add(b, a) [a] a = Relu(x) [b] b = Abs(x) }";
  const auto first = import(text);
  const auto second = import(text);
  ASSERT_TRUE(first.ok() && second.ok());
  for (TensorId id : all_ids<TensorId>(first->graph.tensors().size())) {
    EXPECT_EQ(first->graph.tensor(id).name, second->graph.tensor(id).name);
  }
}

}  // namespace
}  // namespace lowtide::testing
