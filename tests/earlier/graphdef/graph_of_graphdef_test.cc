// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/graph_of_graphdef.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "lowtide/base/random.h"
#include "lowtide/earlier/proto/proto.h"
#include "lowtide/graph/text.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<GraphOfGraphDef> read(const std::string& text, const GraphDefOptions& options) {
  const Result<ProtoMessage> graphdef = read_graphdef(text);
  if (!graphdef) return graphdef.error();
  return graph_of_graphdef(*graphdef, options);
}

GraphOfGraphDef graph_of(const std::string& text, const GraphDefOptions& options = {}) {
  Result<GraphOfGraphDef> graph = read(text, options);
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

std::string refusal(const std::string& text, const GraphDefOptions& options = {}) {
  const Result<GraphOfGraphDef> graph = read(text, options);
  return graph ? "accepted" : graph.error().describe();
}

std::string attr(const std::string& key, const std::string& value) {
  return "attr { key: '" + key + "' value { " + value + " } } ";
}

std::string shape(const std::string& extents) {
  std::string text = "shape { ";
  for (std::size_t at = 0; at < extents.size();) {
    const std::size_t end = std::min(extents.find('x', at), extents.size());
    text += "dim { size: " + extents.substr(at, end - at) + " } ";
    at = end + 1;
  }
  return text + "} ";
}

std::string node(const std::string& name, const std::string& op, const std::string& inputs,
                 const std::string& more = "") {
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  for (std::size_t at = 0; at < inputs.size();) {
    const std::size_t end = std::min(inputs.find(' ', at), inputs.size());
    text += "input: '" + inputs.substr(at, end - at) + "' ";
    at = end + 1;
  }
  return text + more + "}\n";
}

std::string placeholder(const std::string& name, const std::string& extents) {
  return node(name, "Placeholder", "", attr("dtype", "type: DT_FLOAT") + attr("shape", shape(extents)));
}

std::string integers(const std::string& name, const std::string& list, int count) {
  const std::string dims = count < 0 ? "" : "dim { size: " + std::to_string(count) + " }";
  return node(name, "Const", "",
              attr("dtype", "type: DT_INT32") +
                  attr("value", "tensor { dtype: DT_INT32 tensor_shape { " + dims + " } int_val: [" + list + "] }"));
}

std::string weights(const std::string& name, const std::string& extents) {
  std::string dims = shape(extents);
  return node(
      name, "Const", "",
      attr("dtype", "type: DT_FLOAT") + attr("value", "tensor { dtype: DT_FLOAT tensor_" + dims + " float_val: 1 }"));
}

const std::string kFloat = attr("T", "type: DT_FLOAT");

std::map<std::string, std::string> types_of(const std::string& text) {
  std::map<std::string, std::string> types;
  const GraphOfGraphDef made = graph_of(text);
  for (const Tensor& tensor : made.graph.tensors()) types[tensor.name] = print_tensor_type(tensor.dtype, tensor.shape);
  return types;
}

// Conv2D with SAME padding and stride 2: ceil(9 / 2) = 5.
TEST(GraphOfGraphDef, BecomesAGraph) {
  const GraphOfGraphDef made =
      graph_of(node("y", "Relu", "sum ^init", kFloat) + placeholder("x", "1x9x9x3") + weights("w", "3x3x3x8") +
               node("conv", "Conv2D", "x w",
                    kFloat + attr("strides", "list { i: [1, 2, 2, 1] }") + attr("padding", "s: 'SAME'")) +
               weights("b", "8") + node("sum", "BiasAdd", "conv b", kFloat) + node("init", "NoOp", "^conv"));
  EXPECT_EQ(print_graph(made.graph),
            R"(graph "" {
  input x : f32[1,9,9,3]
  constant w : f32[3,3,3,8]
  constant b : f32[8]
  conv = tensorflow::Conv2D(x, w) "conv")"
            R"( {T = opaque "type: DT_FLOAT", padding = "SAME", strides = [1, 2, 2, 1]} : f32[1,5,5,8]
  sum = tensorflow::BiasAdd(conv, b) "sum" {T = opaque "type: DT_FLOAT"} : f32[1,5,5,8]
  tensorflow::NoOp() "init" after (conv)
  y = tensorflow::Relu(sum) "y" after (node 2) {T = opaque "type: DT_FLOAT"} : f32[1,5,5,8]
  output y
}
)");
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("outputs are the results that no node reads: 1")));
}

// The binary form of one node, made by hand: node {name "a", op "NoOp"}.
TEST(GraphOfGraphDef, HasTwoForms) {
  const std::string bytes(
      "\x0A\x09\x0A\x01"
      "a\x12\x04NoOp",
      11);
  EXPECT_TRUE(is_graphdef(bytes));
  EXPECT_TRUE(is_graphdef("# frozen\nnode {"));
  EXPECT_FALSE(is_graphdef("op { type: 'A' }"));
  EXPECT_FALSE(is_graphdef(std::string("\x08\x07\x12\x07pytorch", 11)));
  EXPECT_EQ(graph_of_graphdef(*read_graphdef(bytes))->graph.nodes().size(), 1U);
}

TEST(GraphOfGraphDef, InfersShapes) {
  const auto type_of = [](const std::string& text) { return types_of(text)["y"]; };
  const std::string x = placeholder("x", "2x3x4");
  EXPECT_EQ(type_of(x + weights("w", "3x1") + node("y", "AddV2", "x w", kFloat)), "f32[2,3,4]");
  EXPECT_EQ(type_of(placeholder("x", "2x3") + weights("w", "5x3") +
                    node("y", "MatMul", "x w", kFloat + attr("transpose_b", "b: true"))),
            "f32[2,5]");
  EXPECT_EQ(type_of(x + integers("s", "2, -1", 2) + node("y", "Reshape", "x s", kFloat)), "f32[2,12]");
  EXPECT_EQ(type_of(x + integers("p", "2, 0, 1", 3) + node("y", "Transpose", "x p", kFloat)), "f32[4,2,3]");
  EXPECT_EQ(type_of(x + integers("a", "-1", -1) + node("y", "ConcatV2", "x x a", kFloat)), "f32[2,3,8]");
  EXPECT_EQ(type_of(x + integers("a", "1, 2", 2) + node("y", "Mean", "x a", kFloat)), "f32[2]");
  EXPECT_EQ(type_of(x + integers("a", "2", -1) + node("y", "Split", "a x", kFloat + attr("num_split", "i: 2"))),
            "f32[2,3,2]");
  EXPECT_EQ(type_of(x + node("y", "Cast", "x", attr("DstT", "type: DT_INT64"))), "i64[2,3,4]");
  EXPECT_EQ(type_of(x + node("y", "Greater", "x x", kFloat)), "bool[2,3,4]");
  EXPECT_EQ(type_of(x + node("y", "Shape", "x", kFloat)), "i32[3]");
  const std::string pool = attr("ksize", "list { i: [1, 3, 3, 1] }") + attr("strides", "list { i: [1, 2, 2, 1] }") +
                           attr("padding", "s: 'VALID'");
  EXPECT_EQ(type_of(placeholder("x", "1x9x9x3") + node("y", "MaxPool", "x", kFloat + pool)),
            "f32[1,4,4,3]");  // (9-3)/2+1
}

TEST(GraphOfGraphDef, TakesOutputShapes) {
  const std::string shapes = attr("_output_shapes", "list { " + shape("2x5") + shape("7") + " }");
  EXPECT_EQ(types_of(placeholder("x", "4") + node("u", "Unknown", "x", kFloat + shapes) +
                     node("y", "Relu", "u:1", kFloat))["y"],
            "f32[7]");
}

// The variable is written in place, and the reader waits for the write.
TEST(GraphOfGraphDef, KeepsVariables) {
  const GraphOfGraphDef made =
      graph_of(node("v", "VariableV2", "", attr("dtype", "type: DT_FLOAT") + attr("shape", shape("4"))) +
               placeholder("x", "4") + node("write", "Assign", "v x", kFloat) + node("y", "Relu", "write", kFloat));
  EXPECT_EQ(print_graph(made.graph), R"(graph "" {
  _ = tensorflow.once::Assign(v, x) "write" {T = opaque "type: DT_FLOAT"}
  state v : f32[4]
  input x : f32[4]
  y = tensorflow.once::Relu(v) "y" after (node 0) {T = opaque "type: DT_FLOAT"} : f32[4]
  output y
}
)");
}

TEST(GraphOfGraphDef, RefusesWhatIsWrongOrUnknown) {
  EXPECT_THAT(refusal(node("a", "Relu", "b")), HasSubstr("node 'a' ('Relu'): its input 'b' does not exist"));
  EXPECT_THAT(refusal(node("a", "Relu", "b") + node("b", "Relu", "a")), HasSubstr("is in a cycle"));
  EXPECT_THAT(refusal(node("a", "NoOp", "") + node("a", "NoOp", "")), HasSubstr("two nodes have this name"));
  EXPECT_THAT(refusal(node("a", "NoOp", "") + node("b", "Relu", "a")), HasSubstr("is no output of node 'a'"));
  EXPECT_THAT(refusal(node("a", "Enter", "")), HasSubstr("has a loop"));
  EXPECT_THAT(refusal(node("x", "Placeholder", "", attr("dtype", "type: DT_FLOAT")) + node("y", "Relu", "x", kFloat)),
              HasSubstr("not known: 'x' of node 'x' ('Placeholder'); set shapes with --shape"));
  EXPECT_THAT(refusal(placeholder("x", "2x3") + placeholder("z", "4x3") + node("y", "Add", "x z", kFloat)),
              HasSubstr("the shapes [2,3] and [4,3] do not fit together"));
  EXPECT_THAT(refusal(placeholder("x", "2") + node("y", "Relu", "x", kFloat), {.shapes = {{"y", {3}}}}),
              HasSubstr("has the shape [2], but the given one is [3]"));
  EXPECT_EQ(refusal(placeholder("x", "-1x3") + node("y", "Relu", "x", kFloat), {.shapes = {{"x", {2, 3}}}}),
            "accepted");
}

TEST(GraphOfGraphDef, ComparesGivenShapesWithThoseOfTheFile) {
  const std::string text =
      placeholder("x", "5") + node("u", "Mystery", "x", kFloat + attr("_output_shapes", "list { " + shape("5") + " }"));
  EXPECT_EQ(refusal(text, {.shapes = {{"u", {5}}}}), "accepted");
  EXPECT_THAT(refusal(text, {.shapes = {{"u", {5000}}}}), HasSubstr("has the shape [5], but the given one is [5000]"));
  EXPECT_THAT(refusal(text, {.shapes = {{"absent", {5}}}}), HasSubstr("'absent' is given, but the graph has no such"));
  EXPECT_THAT(refusal(text, {.shapes = {{"u:1", {5}}}}), HasSubstr("'u:1' is given, but the graph has no such"));
  EXPECT_EQ(refusal(text, {.listed_shapes = {{"absent", {5}}}}), "accepted");
}

TEST(GraphOfGraphDef, ProvesNothingAboutInputsOfUnknownSize) {
  const GraphOfGraphDef made =
      graph_of(node("x", "Placeholder", "") + node("y", "Reshape", "x"), {.shapes = {{"y", {4}}}, .unit_sizes = true});
  EXPECT_EQ(full_name(made.graph.op(NodeId(0))), "tensorflow.unsized::Reshape");
}

// 2,000 nodes of 20 bytes that are read at output 65,535 would have 131 million outputs.
TEST(GraphOfGraphDef, RefusesFarMoreOutputsThanAreRead) {
  std::string text;
  for (int at = 0; at < 2'000; ++at) {
    text += node("a" + std::to_string(at), "A", "") +
            node("b" + std::to_string(at), "B", "a" + std::to_string(at) + ":65535");
  }
  EXPECT_THAT(refusal(text, {.unit_sizes = true}), HasSubstr("outputs, far more than are read"));
  const std::string split = node("s", "Split", "", "attr { key: 'num_split' value { i: 3 } } ");
  EXPECT_EQ(refusal(split + node("y", "Relu", "s:2"), {.unit_sizes = true}), "accepted");
  EXPECT_THAT(refusal(split + node("y", "Relu", "s:3"), {.unit_sizes = true}), HasSubstr("'s:3' is no output of"));
}

TEST(GraphOfGraphDef, CountsUnknownSizesAsOneByteIfAsked) {
  const GraphOfGraphDef made = graph_of(node("x", "Placeholder", "") + node("y", "Relu", "x"), {.unit_sizes = true});
  EXPECT_EQ(full_name(made.graph.op(NodeId(0))), "tensorflow.unsized::Relu");
  EXPECT_THAT(made.notes, ::testing::Contains(HasSubstr("2 nodes of unknown size count as one byte")));
}

TEST(GraphOfGraphDef, RefusesOrReadsAnyDamage) {
  const std::string good =
      placeholder("x", "1x9x9x3") + weights("w", "3x3x3x8") +
      node("c", "Conv2D", "x w", kFloat + attr("strides", "list { i: [1, 2, 2, 1] }") + attr("padding", "s: 'SAME'")) +
      integers("s", "1, -1", 2) + node("r", "Reshape", "c:0 s ^w", kFloat) +
      node("y", "Split", "s r", kFloat + attr("num_split", "i: 2"));
  const std::string binary = write_proto_binary(*read_graphdef(good));
  Random random(71);
  int read_well = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = random.chance(50) ? good : binary;
    for (std::uint64_t count = random.below(3) + 1; count > 0; --count) {
      const std::size_t at = random.below(damaged.size());
      if (random.chance(50)) damaged[at] = damaged[random.below(damaged.size())];
      if (random.chance(30)) damaged[at] = static_cast<char>(random.below(256));
      if (random.chance(20)) damaged.insert(at, damaged.substr(random.below(damaged.size()), random.below(50)));
    }
    const Result<ProtoMessage> graphdef = read_graphdef(damaged);
    if (!graphdef) continue;
    read_well += graph_of_graphdef(*graphdef, {.unit_sizes = true}).ok() ? 1 : 0;
  }
  EXPECT_GT(read_well, 500);
}

}  // namespace
}  // namespace lowtide::testing
