// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/graph_of_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "lowtide/graph/text.h"
#include "tests/earlier/netdef/net_text.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

NetGraphOptions sized(const std::map<std::string, std::vector<std::int64_t>>& shapes) { return {.shapes = shapes}; }

std::map<std::string, std::string> roles_of(const Graph& graph) {
  std::map<std::string, std::string> roles;
  for (const Tensor& tensor : graph.tensors()) roles[tensor.name] = to_string(tensor.role);
  return roles;
}

const char* const kTiny = R"(
name: "tiny"
op { type: "FC" input: "data" input: "w" input: "b" output: "fc" }
op { type: "Relu" input: "fc" output: "fc" name: "r" }
op { type: "Softmax" input: "fc" output: "prob" }
external_input: "data" external_input: "w" external_input: "b"
external_output: "prob"
)";

TEST(GraphOfNet, MakesEachWriteATensor) {
  const NetGraph net = net_graph(kTiny, sized({{"data", {2, 8}}, {"w", {4, 8}}}));
  EXPECT_EQ(print_graph(net.graph), R"(graph "tiny" {
  input data : f32[2,8]
  constant w : f32[4,8]
  constant b : f32[4]
  fc = caffe2::FC(data, w, b) : f32[2,4]
  "fc@1" = caffe2::Relu(fc) "r" : f32[2,4]
  prob = caffe2::Softmax("fc@1") : f32[2,4]
  output prob
}
)");
  EXPECT_THAT(net.facts.colocated, ElementsAre(ElementsAre(TensorId(3), TensorId(4))));
  EXPECT_EQ(net.facts.blob_of[TensorId(4)], "fc");
  EXPECT_THAT(net.facts.op_of, ElementsAre(0, 1, 2));
  EXPECT_TRUE(net.notes.empty());
}

// mean is read and written: it stays from one run to the next.
TEST(GraphOfNet, MakesAnExternalInputThatIsWrittenAState) {
  const NetGraph net = net_graph(
      "op { type: 'SpatialBN' input: ['x', 's', 'o', 'mean', 'var'] output: ['y', 'mean', 'var', 'sm', 'sv'] }"
      "external_output: 'y'",
      sized({{"x", {1, 4, 2, 2}}}));
  EXPECT_EQ(roles_of(net.graph)["mean"], "state");
  EXPECT_EQ(roles_of(net.graph)["s"], "constant");
  ASSERT_EQ(net.graph.state_updates().size(), 2U);
  EXPECT_EQ(net.graph.tensor(net.graph.state_updates()[0].next).name, "mean@1");
}

TEST(GraphOfNet, TakesUnreadResultsAsOutputsIfNoneAreListed) {
  const NetGraph net = net_graph(
      "op { type: 'Relu' input: 'x' output: 'y' } op { type: 'Copy' input: 'y' output: 'z' }", sized({{"x", {4}}}));
  EXPECT_THAT(roles_of(net.graph),
              UnorderedElementsAre(std::pair("x", "input"), std::pair("y", "temporary"), std::pair("z", "output")));
  EXPECT_THAT(net.notes, ElementsAre(HasSubstr("1 results that no operator reads are its outputs")));
}

TEST(GraphOfNet, KnowsDevices) {
  const NetGraph net = net_graph(
      "device_option { device_type: 1 device_id: 1 }"
      "op { type: 'Relu' input: 'x' output: 'g' } op { type: 'CopyGPUToCPU' input: 'g' output: 'c' }"
      "op { type: 'Relu' input: 'c' output: 'd' device_option { device_type: 0 device_id: 5 } }"
      "op { type: 'CopyCPUToGPU' input: 'd' output: 'e' device_option { device_type: 1 } }",
      sized({{"x", {4}}}));
  EXPECT_THAT(net.facts.device_names, ElementsAre("cpu", "cuda:1", "cuda:0"));
  EXPECT_THAT(net.facts.devices, ElementsAre(1, 1, 0, 0, 2));  // x, g, c, d, e
  EXPECT_THAT(net.notes, ::testing::Contains(HasSubstr("3 devices (cpu, cuda:1, cuda:0)")));
}

TEST(GraphOfNet, HasControlInputs) {
  const NetGraph net = net_graph(
      "op { type: 'Relu' input: 'x' output: 'a' } op { type: 'Relu' input: 'x' output: 'b' control_input: 'a' }",
      sized({{"x", {4}}}));
  EXPECT_THAT(net.graph.node(NodeId(1)).control_inputs, ElementsAre(NodeId(0)));
}

TEST(GraphOfNet, LeavesOutFreeOperators) {
  const NetGraph net = net_graph(
      "op { type: 'Relu' input: 'x' output: 'a' } op { type: 'Relu' input: 'a' output: 'b' }"
      "op { type: 'Free' input: 'a' output: 'a' } op { type: 'Copy' input: 'b' output: 'c' }",
      sized({{"x", {4}}}));
  EXPECT_TRUE(net.facts.has_free);
  EXPECT_THAT(net.facts.op_of, ElementsAre(0, 1, 3));
}

// An operator that reads a blob of unknown size is not counted, even if its result has a size.
TEST(GraphOfNet, ProvesNothingAboutInputsOfUnknownSize) {
  const NetGraph net = net_graph(
      "op { type: 'AveragedLoss' input: 'x' output: 'y' } op { type: 'If' input: 'y' output: 'z' arg { name: 'n' n {"
      "  op { type: 'Relu' input: 'u' output: 'v' } } } } external_input: 'u' external_input: 'x'",
      {.unit_sizes = true});
  EXPECT_EQ(full_name(net.graph.op(NodeId(0))), "caffe2.unsized::AveragedLoss");
  EXPECT_EQ(full_name(net.graph.op(NodeId(1))), "caffe2.unsized::If");
}

TEST(GraphOfNet, RefusesTheShapeOfABlobThatIsNotThere) {
  NetGraphOptions options = sized({{"x", {4}}});
  const std::string text = "op { type: 'Relu' input: 'x' output: 'y' }";
  options.types["absent"] = BlobType{DType::f32, {4}};  // a list may have more blobs
  EXPECT_TRUE(graph_of_net(net_of_text(text), options).ok());
  options.shapes["absent"] = {4};
  EXPECT_THAT(net_refusal(text, options), HasSubstr("shape of 'absent' is given, but the net has no such blob"));
}

// The operators of unknown size are in a domain whose operators are not counted.
TEST(GraphOfNet, CountsUnknownSizesAsOneByteIfAsked) {
  const NetGraph net = net_graph(kTiny, {.unit_sizes = true});
  EXPECT_EQ(net.graph.tensor(TensorId(3)).size, Bytes(1));
  EXPECT_EQ(full_name(net.graph.op(NodeId(0))), "caffe2.unsized::FC");
  EXPECT_FALSE(net.graph.op(NodeId(0)).traits.is_known);
  EXPECT_THAT(net.notes, ElementsAre("6 tensors of unknown size count as one byte each"));
}

// The step net reads "h" and "w" of the outer net, "t" is its own, and it writes "u", which the outer net also has.
constexpr const char* kStepNet = R"(
op { type: "Relu" input: "x" output: "h" }
op { type: "Copy" input: "x" output: "u" }
op { type: "RecurrentNetwork" input: "x" output: "y" arg { name: "step_net" %s } }
op { type: "Sum" input: ["y", "u"] output: "z" }
external_input: "x" external_input: "w"
external_output: "z")";

std::string with_step_net(const std::string& encoding) {
  std::string text = kStepNet;
  text.replace(text.find("%s"), 2, encoding);
  return text;
}

const std::string kInner =
    "op { type: 'Mul' input: ['t', 'w'] output: 'a' } op { type: 'Mul' input: ['a', 'h'] output: 'u' }";

TEST(GraphOfNet, ReadsWhatANestedNetReads) {
  const NetGraphOptions options = sized({{"x", {4}}, {"w", {4}}, {"y", {4}}});
  const NetGraph nested = net_graph(with_step_net("n { " + kInner + " }"), options);
  const NetGraph written = net_graph(with_step_net("s: \"" + kInner + "\""), options);
  for (const NetGraph* net : {&nested, &written}) {
    const Node& node = net->graph.node(NodeId(2));
    ASSERT_EQ(node.bodies.size(), 1U);
    std::vector<std::string> captured;
    for (const auto& [outer, inner] : node.bodies[0].captures) captured.push_back(net->graph.tensor(outer).name);
    EXPECT_THAT(captured, UnorderedElementsAre("h", "w"));
    ASSERT_EQ(net->facts.unshared.size(), 1U);
    EXPECT_EQ(net->graph.tensor(net->facts.unshared[0]).name, "u");
    EXPECT_FALSE(net->graph.op(NodeId(2)).traits.is_known);
  }
}

// What then_net writes does not hide the read of else_net.
TEST(GraphOfNet, ReadsWhatEitherBranchReads) {
  const NetGraph net = net_graph(
      "op { type: 'Copy' input: 'x' output: 'h' } op { type: 'If' input: 'x' output: 'y'"
      "  arg { name: 'then_net' n { op { type: 'Copy' input: 'x' output: 'h' } } }"
      "  arg { name: 'else_net' n { op { type: 'Relu' input: 'h' output: 'y' } } } } external_output: 'y'",
      sized({{"x", {4}}, {"y", {4}}}));
  ASSERT_EQ(net.graph.node(NodeId(1)).bodies.size(), 1U);
  EXPECT_EQ(net.graph.tensor(net.graph.node(NodeId(1)).bodies[0].captures.at(0).first).name, "h");
}

// q is local to the nested net when the operator runs, so the later blob q keeps its name.
TEST(GraphOfNet, KeepsNamesThatAreNoBlobsYet) {
  const NetGraph net = net_graph(
      "op { type: 'If' input: 'x' output: 'c' arg { name: 'n' n { op { type: 'Relu' input: 'q' output: 'r' } } } }"
      "op { type: 'Copy' input: 'c' output: 'q' } op { type: 'Copy' input: 'q' output: 'y' } external_output: 'y'",
      {.unit_sizes = true});
  ASSERT_EQ(net.facts.unshared.size(), 1U);
  EXPECT_EQ(net.facts.blob_of[net.facts.unshared[0]], "q");
}

TEST(GraphOfNet, RefusesACapturedTensorOfTooHighRank) {
  std::string extents = "1";
  for (int axis = 1; axis < 65; ++axis) extents += ", 1";
  EXPECT_THAT(
      net_refusal("op { type: 'ConstantFill' output: 'x' arg { name: 'shape' ints: [" + extents +
                      "] } } op { type: 'If' output: 'y' arg { name: 'then_net' n { op { type: 'Relu' input: 'x' "
                      "output: 'z' } } } } external_output: 'y'",
                  {.unit_sizes = true}),
      HasSubstr("operator 1 ('If')"));
}

// B waits for the first a, so it also runs before a is written again.
TEST(GraphOfNet, WritesAgainBehindOperatorsThatWait) {
  const NetGraph net = net_graph(
      "op { type: 'Relu' input: 'x' output: 'a' } op { type: 'Relu' input: 'x' output: 'b' control_input: 'a' }"
      "op { type: 'Relu' input: 'x' output: 'a' }",
      sized({{"x", {4}}}));
  EXPECT_THAT(net.graph.node(NodeId(2)).control_inputs, ElementsAre(NodeId(1)));
  EXPECT_THAT(net.facts.unshared, ElementsAre(TensorId(1), TensorId(3)));
}

TEST(GraphOfNet, RefusesANestedNetInTwoEncodings) {
  EXPECT_THAT(net_refusal(with_step_net("n { " + kInner + " } s: \"" + kInner + "\"")),
              HasSubstr("operator 2 ('RecurrentNetwork'), argument 'step_net': the net is there twice"));
  EXPECT_THAT(net_refusal(with_step_net("s: \"op { typ: 'x' }\"")),
              HasSubstr("the text is not a NetDef: OperatorDef has no field 'typ'"));
}

TEST(GraphOfNet, RefusesNetsThatAreWrong) {
  EXPECT_THAT(net_refusal("op { input: 'x' output: 'y' }"), HasSubstr("operator 0 (''): the operator has no type"));
  EXPECT_THAT(net_refusal("op { type: 'Relu' input: 'x' output: 'y' } external_input: 'data'"),
              HasSubstr("no operator before it writes the input 'x'"));
  EXPECT_THAT(net_refusal("op { type: 'Split' input: 'x' output: 'y' output: 'y' }"),
              HasSubstr("two outputs have the name 'y'"));
  EXPECT_THAT(net_refusal("op { type: 'Relu' input: 'x' output: 'y' } external_output: 'z'", {.unit_sizes = true}),
              HasSubstr("no operator writes the external output 'z'"));
}

// A name with the form of a version.
TEST(GraphOfNet, KeepsNamesApart) {
  const NetGraph net = net_graph(
      "op { type: 'Relu' input: 'x' output: 'y@1' } op { type: 'Relu' input: 'x' output: 'y' }"
      "op { type: 'Relu' input: 'y' output: 'y' }",
      sized({{"x", {4}}}));
  EXPECT_EQ(net.graph.tensor(TensorId(3)).name, "y@1'");
  EXPECT_EQ(net.facts.blob_of[TensorId(3)], "y");
}

}  // namespace
}  // namespace lowtide::testing
