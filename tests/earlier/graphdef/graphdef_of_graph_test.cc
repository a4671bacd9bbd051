// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/graphdef_of_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/proto/proto.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/text.h"
#include "tests/earlier/graphdef/graph_facts.h"
#include "tests/graph/random_graph.h"

namespace lowtide::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Graph graph_of_text(const std::string& text) {
  Result<Graph> graph = parse_graph(text, "test.graph");
  if (!graph) throw std::runtime_error(graph.error().describe());
  return *std::move(graph);
}

std::string text_of(const GraphDefOfGraph& made) {
  Result<std::string> text = write_graphdef(made.graphdef, true);
  if (!text) throw std::runtime_error(text.error().describe());
  return *std::move(text);
}

// The graph of the binary form, which must be that of the text form.
Graph read_back(const GraphDefOfGraph& made, const GraphDefOptions& options = {}) {
  const Result<ProtoMessage> read = read_graphdef(write_proto_binary(made.graphdef));
  if (!read) throw std::runtime_error(read.error().describe());
  Result<GraphOfGraphDef> graph = graph_of_graphdef(*read, options);
  if (!graph) throw std::runtime_error(graph.error().describe());
  const Result<ProtoMessage> other = read_graphdef(text_of(made));
  if (!other) throw std::runtime_error(other.error().describe());
  EXPECT_EQ(facts_of(graph_of_graphdef(*other, options)->graph), facts_of(graph->graph));
  return std::move(graph->graph);
}

const char* const kModel = R"(graph "" {
  input x : f32[1,9,9,3]
  constant w : f32[3,3,3,8]
  constant axes : i32[2] = [1, 2]
  state v : f32[8]
  conv = tensorflow::Conv2D(x, w) "conv")"
                           R"( {T = opaque "type: DT_FLOAT", padding = "SAME", strides = [1, 2, 2, 1]} : f32[1,5,5,8]
  mean = tensorflow::Mean(conv, axes) "mean")"
                           R"( {T = opaque "type: DT_FLOAT", Tidx = opaque "type: DT_INT32", keep_dims = 0} : f32[1,8]
  _ = tensorflow.once::AssignAdd(v, mean) "add" {T = opaque "type: DT_FLOAT"}
  "s:1", t = tensorflow.once::Sub(v, mean) "s" after (node 2) {T = opaque "type: DT_FLOAT"} : f32[1,8], f32[2]
  output "s:1"
}
)";

TEST(GraphDefOfGraph, WritesOperatorsOfTensorFlowAsTheyAre) {
  const GraphDefOfGraph made = graphdef_of_graph(
      graph_of_text(R"(graph "" {
  input x : f32[1,9,9,3]
  constant w : f32[3,3,3,8]
  conv = tensorflow::Conv2D(x, w) "conv")"
                    R"( {T = opaque "type: DT_FLOAT", padding = "SAME", strides = [1, 2, 2, 1]} : f32[1,5,5,8]
  tensorflow::NoOp() "init" after (conv)
  y = tensorflow::LeakyRelu(conv) "y" after (node 1) {T = opaque "type: DT_FLOAT", alpha = 0.5} : f32[1,5,5,8]
  output y
})"));
  EXPECT_THAT(made.lost, ElementsAre("the content of constants"));
  const std::string text = text_of(made);
  EXPECT_THAT(text, HasSubstr("name: \"y\"\n  op: \"LeakyRelu\"\n  input: \"conv\"\n  input: \"^init\""));
  EXPECT_THAT(text, HasSubstr("op: \"NoOp\"\n  input: \"^conv\""));
  EXPECT_THAT(text, HasSubstr("f: 0.5"));
  EXPECT_THAT(text, Not(HasSubstr("_lowtide_types")));  // the rules infer the same
  EXPECT_THAT(text, Not(HasSubstr("_lowtide_names")));
  EXPECT_THAT(text, HasSubstr("_lowtide_no_content"));
}

TEST(GraphDefOfGraph, BecomesTheSameGraphAgain) {
  const Graph graph = graph_of_text(kModel);
  EXPECT_EQ(facts_of(read_back(graphdef_of_graph(graph))), facts_of(graph));
}

// The reader of a variable takes it from the node that it waits for.
TEST(GraphDefOfGraph, ReadsVariablesThroughTheirNodes) {
  const std::string reference = text_of(graphdef_of_graph(graph_of_text(kModel)));
  EXPECT_THAT(reference, HasSubstr("op: \"VariableV2\""));
  EXPECT_THAT(reference, HasSubstr("op: \"Sub\"\n  input: \"add\"\n  input: \"mean\""));
  const Graph resource = graph_of_text(R"(graph "" {
  state v : f32[8]
  _ = tensorflow::ReadVariableOp(v) "read" {dtype = opaque "type: DT_FLOAT"}
  y = tensorflow::Relu(v) "y" after (node 0) {T = opaque "type: DT_FLOAT"} : f32[8]
  tensorflow::AssignVariableOp(v, y) "write" after (node 0) {dtype = opaque "type: DT_FLOAT"}
})");
  const GraphDefOfGraph made = graphdef_of_graph(resource);
  EXPECT_THAT(text_of(made), HasSubstr("op: \"VarHandleOp\""));
  EXPECT_THAT(text_of(made), HasSubstr("op: \"Relu\"\n  input: \"read\""));
  EXPECT_THAT(text_of(made), HasSubstr("op: \"AssignVariableOp\"\n  input: \"v\"\n  input: \"y\"\n  input: \"^read\""));
  EXPECT_EQ(facts_of(read_back(made)), facts_of(resource));
}

// A zero in the place of an unknown axis would lead to another shape.
TEST(GraphDefOfGraph, ClaimsNoContentThatIsNotKnown) {
  const Graph graph = graph_of_text(R"(graph "" {
  input x : f32[2,3]
  constant to : i32[2]
  y = tensorflow::Reshape(x, to) "y" {T = opaque "type: DT_FLOAT"} : f32[3,2]
  output y
})");
  const GraphDefOfGraph made = graphdef_of_graph(graph);
  EXPECT_THAT(made.lost, ElementsAre("the content of constants"));
  EXPECT_EQ(facts_of(read_back(made)), facts_of(graph));
}

TEST(GraphDefOfGraph, KeepsKnownIntegers) {
  const Graph graph = graph_of_text(R"(graph "" {
  input x : f32[2,3]
  constant to : i32[2] = [3, -1]
  constant pad : i64[2,2] = [0, 1, 2, -9223372036854775807]
  constant none : f32[0,4]
  y = tensorflow::Reshape(x, to) "y" {T = opaque "type: DT_FLOAT"} : f32[3,2]
  output y
})");
  const GraphDefOfGraph made = graphdef_of_graph(graph);
  EXPECT_THAT(made.lost, IsEmpty());
  EXPECT_EQ(facts_of(read_back(made)), facts_of(graph));
}

TEST(GraphDefOfGraph, WritesOperatorsOfOtherSystemsForDisplay) {
  const Graph graph = graph_of_text(R"(graph "g" {
  input "a b" : f32[2,3]
  input "a:b" : f32[2,3]
  y = Conv("a b", _, "a:b", _) "y" {kernel_shape = [2, 2], auto_pad = "VALID"} : f32[2,<=3]
  z, _, i = com.microsoft::MaxPool(y) {value = opaque "tensor f32[9]"} : f8e4m3fn[2], i64[]
  q = caffe2.unsized::Relu(z) : u4[3]
  output i, "a b", q, y
})");
  const GraphDefOfGraph made = graphdef_of_graph(graph);
  EXPECT_THAT(made.lost, ElementsAre("attributes that the graph only describes", "the name of the graph"));
  const std::string text = text_of(made);
  EXPECT_THAT(text, HasSubstr("name: \"a_b\"\n  op: \"Placeholder\""));
  EXPECT_THAT(text, HasSubstr("name: \"a_b_2\"\n  op: \"Placeholder\""));
  EXPECT_THAT(text, HasSubstr("op: \"Onnx>Conv\"\n  input: \"a_b\"\n  input: \"a_b_2\""));
  EXPECT_THAT(text, HasSubstr("op: \"Com_microsoft>MaxPool\""));
  EXPECT_THAT(text, HasSubstr("op: \"Caffe2_unsized>Relu\""));
  EXPECT_EQ(facts_of(read_back(made)), facts_of(graph));
}

// A node of type Const would be read as a constant.
TEST(GraphDefOfGraph, KeepsNodesThatWouldBeReadAsSomethingElse) {
  const Graph graph = graph_of_text(R"(graph "" {
  input x : f32[2]
  c = tensorflow::Const() : f32[2]
  e = tensorflow::Enter(x) : f32[2]
  a = tensorflow::Assign(x, c) : f32[2]
  n = tensorflow::NoOp(x) : f32[2]
  tensorflow::Print(x)
  m = tensorflow::MatMul(x, c) : f32[7]
  r = tensorflow.once::Relu(x) : f32[2]
  output c, e, a, n, m, r
})");
  const GraphDefOfGraph made = graphdef_of_graph(graph);
  EXPECT_THAT(text_of(made), HasSubstr("op: \"Tensorflow>Const\""));
  EXPECT_EQ(facts_of(read_back(made)), facts_of(graph));
}

TEST(GraphDefOfGraph, LeavesSizesOpenThatAreNotKnown) {
  const Result<ProtoMessage> graphdef = read_graphdef(
      "node { name: 'x' op: 'Placeholder' } node { name: 'y' op: 'Relu' input: 'x' } "
      "node { name: 'z' op: 'Mystery' input: 'y' }");
  const GraphDefOptions options{.shapes = {}, .unit_sizes = true};
  const Graph graph = graph_of_graphdef(*graphdef, options)->graph;
  const GraphDefOfGraph made = graphdef_of_graph(graph);
  EXPECT_THAT(made.lost, Contains("sizes that are not known"));
  EXPECT_EQ(graph_of_graphdef(made.graphdef).error().code, ErrorCode::unresolved);
  EXPECT_EQ(facts_of(read_back(made, options)), facts_of(graph));
}

TEST(GraphDefOfGraph, LeavesBodiesOutButKeepsTheirOrder) {
  const GraphDefOfGraph made = graphdef_of_graph(graph_of_text(R"(graph "" {
  input cond : bool[]
  input x : f32[8]
  y = Relu(x) : f32[8]
  z = If(cond) { then_branch = graph "then" captures (y) {
      captured input y : f32[8]
      a = Neg(y) : f32[8]
      output a
    } } : f32[8]
  output z
})"));
  EXPECT_THAT(made.lost, ElementsAre("the graphs inside operators"));
  EXPECT_THAT(text_of(made), HasSubstr("op: \"Onnx>If\"\n  input: \"cond\"\n  input: \"^y\""));
}

TEST(GraphDefOfGraph, AddsWhatTensorFlowAsksFor) {
  const Graph graph = graph_of_text(R"(graph "" {
  input x : f32[4]
  a = tensorflow::AddN(x, x) "a" : f32[4]
  c = tensorflow::Cast(a) "c" : i64[4]
  g = tensorflow::Greater(a, x) "g" : bool[4]
  l = tensorflow::LogicalNot(g) "l" : bool[4]
  output c, l
})");
  const GraphDefOfGraph made = graphdef_of_graph(graph);
  const std::string text = text_of(made);
  EXPECT_THAT(text, HasSubstr("key: \"N\""));
  EXPECT_THAT(text, HasSubstr("key: \"SrcT\""));
  EXPECT_EQ(facts_of(read_back(made)), facts_of(graph));
}

// Any graph without bodies, with hostile names, upper bounds, all types and omitted operands.
TEST(GraphDefOfGraph, BringsRandomGraphsBack) {
  Random random(5);
  int exact = 0;
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = random_graph(random, 0);
    const Graph back = read_back(graphdef_of_graph(graph));
    ASSERT_EQ(facts_of(back), facts_of(graph)) << print_graph(graph);
    exact += back.nodes().size() > 0 ? 1 : 0;
  }
  EXPECT_GT(exact, 500);
}

// The same graphs with names of TensorFlow's operators, so that the rules for shapes see them.
TEST(GraphDefOfGraph, BringsRandomGraphsOfTensorFlowBack) {
  static const std::vector<std::string> kTypes = {
      "Relu", "Add",  "MatMul", "Reshape", "Split", "Const",  "Concat",  "Assign",  "Mean",           "Mystery",
      "NoOp", "Cast", "Shape",  "Enter",   "AddN",  "Conv2D", "Squeeze", "Greater", "ReadVariableOp", "Fill"};
  Random random(6);
  int nodes = 0;
  for (int round = 0; round < 1000; ++round) {
    const Graph shape = random_graph(random, 0);
    GraphBuilder builder("");
    for (TensorId id : all_ids<TensorId>(shape.tensors().size())) {
      const Role role = shape.tensor(id).role;
      builder.add_copy(shape, id, role == Role::output ? Role::temporary : role);
    }
    for (NodeId id : all_ids<NodeId>(shape.nodes().size())) {
      GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(shape, id);
      spec.domain = random.chance(80) ? "tensorflow" : "tensorflow.once";
      spec.type = kTypes[random.below(kTypes.size())];
      // A text in place of such an attribute would not be its type.
      std::erase_if(spec.attributes, [](const Attribute& attribute) {
        return std::holds_alternative<OpaqueAttribute>(attribute.value);
      });
      builder.add_node(std::move(spec));
      ++nodes;
    }
    builder.set_outputs(shape.outputs());
    const Graph graph = *std::move(builder).build();
    ASSERT_EQ(facts_of(read_back(graphdef_of_graph(graph))), facts_of(graph)) << print_graph(graph);
  }
  EXPECT_GT(nodes, 1000);
}

TEST(GraphDefOfGraph, RefusesDamagedMarks) {
  const auto refusal = [](const std::string& mark) {
    const Result<ProtoMessage> read = read_graphdef(
        "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { "
        "shape { dim { size: 2 } } } } } node { name: 'y' op: 'Relu' input: 'x' attr { key: 'T' value { type: DT_FLOAT "
        "} } attr { " +
        mark + " } }");
    const Result<GraphOfGraphDef> graph = graph_of_graphdef(*read);
    return graph ? "accepted" : graph.error().describe();
  };
  EXPECT_THAT(refusal("key: '_lowtide_inputs' value { list { i: [5, 9999999999] } }"), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("key: '_lowtide_inputs' value { list { i: [0] } }"), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("key: '_lowtide_outputs' value { list { i: [4, 0] } }"), HasSubstr("that it does not have"));
  EXPECT_THAT(refusal("key: '_lowtide_outputs' value { list { i: [0, 0, 0, 0] } }"), HasSubstr("one place twice"));
  EXPECT_THAT(refusal("key: '_lowtide_names' value { list { s: ['y', 'x'] } }"), HasSubstr("'x'"));
  EXPECT_EQ(refusal("key: '_lowtide_types' value { list { s: ['f32[2]'] } }"), "accepted");
  EXPECT_EQ(refusal("key: '_lowtide_types' value { list { s: ['nonsense'] } }"), "accepted");
}

// The variable and its slots are inputs 0 to 2 of ResourceApplyAdam, and all are handles.
TEST(GraphDefOfGraph, SlotsOfResourcesAreHandles) {
  const std::string step =
      "  tensorflow.once::ResourceApplyAdam(v, m, n, p, p, p, p, p, p, g) \"step\" {T = opaque \"type: DT_FLOAT\"}\n";
  const std::string text = text_of(graphdef_of_graph(
      graph_of_text("graph \"\" {\n  input g : f32[8]\n  input p : f32[]\n  state v : f32[8]\n  state m : f32[8]\n"
                    "  state n : f32[8]\n" +
                    step + "  output g\n}\n")));
  EXPECT_THAT(text, Not(HasSubstr("VariableV2")));
}

}  // namespace
}  // namespace lowtide::testing
