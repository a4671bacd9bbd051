// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/text.h"

#include <gmock/gmock.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "lowtide/base/limits.h"
#include "lowtide/graph/builder.h"
#include "tests/graph/random_graph.h"
#include "tests/graph/same_graph.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph parse(std::string_view text) {
  Result<Graph> graph = parse_graph(text, "test.graph");
  if (!graph) throw std::runtime_error(graph.error().describe());
  return std::move(graph).value();
}

constexpr std::string_view kEverything = R"(graph "everything" {
  input x : f32[1,3,8,8]
  constant w : f32[4,3,3,3] data 7
  constant axes : i64[2] data 0 = [2, 3]
  state h : f16[8]
  y = Conv(x, w) "conv1" {strides = [2, 2], auto_pad = "SAME", alpha = 0.5, beta = 0.1f} : f32[1,4,8,8]
  m, _, i = MaxPool(y, _) : f32[1,4,4,4], i64[<=100,4]
  com.example::Log(m) "" after (y)
  s = Shape(m) : i64[4] = [1, 4, 4, 4]
  z = "my domain"::"odd type"(m, s) after (m, node 2) {
    k = 3,
    kind = opaque "tensor f32[4]",
    then_branch = graph "b" captures (m, near = y) {
      captured input m : f32[1,4,4,4]
      captured constant near : f32[1,4,8,8]
      q = Relu(m) : f32[1,4,4,4]
      output q, near
    }
  } : f32[]
  output z, x, z
}
)";

TEST(GraphText, ReadsEveryPartOfTheForm) {
  const Graph graph = parse(kEverything);
  EXPECT_EQ(graph.name(), "everything");
  ASSERT_EQ(graph.tensors().size(), 9U);  // x w axes h y m i s z
  EXPECT_THAT(graph.inputs(), ElementsAre(TensorId(0)));
  EXPECT_EQ(graph.tensor(TensorId(1)).role, Role::constant);
  EXPECT_EQ(graph.tensor(TensorId(1)).constant, ConstantId(7));
  EXPECT_EQ(graph.tensor(TensorId(2)).constant, ConstantId(0));
  EXPECT_EQ(graph.tensor(TensorId(3)).constant, std::nullopt);
  EXPECT_THAT(*graph.known_integers(TensorId(2)), ElementsAre(2, 3));
  EXPECT_EQ(graph.tensor(TensorId(3)).role, Role::state);
  EXPECT_EQ(graph.tensor(TensorId(3)).size, Bytes(16));  // 8 elements of 2 bytes
  EXPECT_THAT(graph.outputs(), ElementsAre(TensorId(8), TensorId(0), TensorId(8)));
  EXPECT_EQ(graph.tensor(TensorId(8)).role, Role::output);
  EXPECT_EQ(graph.tensor(TensorId(0)).role, Role::input);

  ASSERT_EQ(graph.nodes().size(), 5U);
  const Node& conv = graph.node(NodeId(0));
  EXPECT_EQ(conv.name, "conv1");
  EXPECT_EQ(*find_attribute<std::string>(conv.attributes, "auto_pad"), "SAME");
  EXPECT_EQ(*find_attribute<double>(conv.attributes, "alpha"), 0.5);
  EXPECT_EQ(*find_attribute<double>(conv.attributes, "beta"), static_cast<double>(0.1F));
  EXPECT_THAT(*find_attribute<std::vector<std::int64_t>>(conv.attributes, "strides"), ElementsAre(2, 2));

  const Node& pool = graph.node(NodeId(1));
  EXPECT_THAT(pool.inputs, ElementsAre(TensorId(4), std::nullopt));
  EXPECT_THAT(pool.outputs, ElementsAre(TensorId(5), std::nullopt, TensorId(6)));
  EXPECT_TRUE(graph.tensor(TensorId(6)).shape.is_at_most(0));
  EXPECT_FALSE(graph.tensor(TensorId(6)).shape.is_at_most(1));

  EXPECT_EQ(graph.op(NodeId(2)).domain, "com.example");
  EXPECT_TRUE(graph.node(NodeId(2)).outputs.empty());
  EXPECT_THAT(*graph.known_integers(TensorId(7)), ElementsAre(1, 4, 4, 4));

  const Node& odd = graph.node(NodeId(4));
  EXPECT_EQ(graph.op(NodeId(4)).domain, "my domain");
  EXPECT_EQ(graph.op(NodeId(4)).type, "odd type");
  EXPECT_THAT(odd.control_inputs, ElementsAre(NodeId(1), NodeId(2)));
  EXPECT_EQ(find_attribute<OpaqueAttribute>(odd.attributes, "kind")->description, "tensor f32[4]");
  ASSERT_EQ(odd.bodies.size(), 1U);
  // Sorted by the outer tensor: y (4) before m (5).
  EXPECT_THAT(odd.bodies[0].captures,
              ElementsAre(std::pair(TensorId(4), TensorId(1)), std::pair(TensorId(5), TensorId(0))));
  EXPECT_TRUE(odd.bodies[0].graph->tensor(TensorId(0)).is_captured);
  EXPECT_THAT(graph.reads(NodeId(4)), ElementsAre(TensorId(4), TensorId(5), TensorId(7)));
}

TEST(GraphText, PrintsWhatAPersonWouldWrite) {
  const std::string printed = print_graph(parse(kEverything));
  EXPECT_EQ(printed, R"(graph "everything" {
  input x : f32[1,3,8,8]
  constant w : f32[4,3,3,3] data 7
  constant axes : i64[2] data 0 = [2, 3]
  state h : f16[8]
  y = Conv(x, w) "conv1" {strides = [2, 2], auto_pad = "SAME", alpha = 0.5, beta = 0.1f} : f32[1,4,8,8]
  m, _, i = MaxPool(y, _) : f32[1,4,4,4], i64[<=100,4]
  com.example::Log(m) after (y)
  s = Shape(m) : i64[4] = [1, 4, 4, 4]
  z = "my domain"::"odd type"(m, s) after (m, node 2) {
    k = 3,
    kind = opaque "tensor f32[4]",
    then_branch = graph "b" captures (near = y, m) {
      captured input m : f32[1,4,4,4]
      captured constant near : f32[1,4,8,8]
      q = Relu(m) : f32[1,4,4,4]
      output q, near
    }
  } : f32[]
  output z, x, z
}
)");
}

TEST(GraphText, StateUpdatesAreSortedByState) {
  const Graph graph = parse(R"(graph "g" {
    update "update" = y
    update a = x
    input x : f32[4]
    state a : f32[4]
    state "update" : f32[4]
    y = Add(x, "update") : f32[4]
  })");
  EXPECT_THAT(graph.state_updates(),
              ElementsAre(StateUpdate{TensorId(1), TensorId(0)}, StateUpdate{TensorId(2), TensorId(3)}));
  EXPECT_TRUE(graph.is_needed_at_end(TensorId(3)));
  EXPECT_EQ(graph.tensor(TensorId(3)).role, Role::temporary);
  EXPECT_EQ(print_graph(graph), R"(graph "g" {
  input x : f32[4]
  state a : f32[4]
  state "update" : f32[4]
  y = Add(x, "update") : f32[4]
  update a = x
  update "update" = y
}
)");
}

TEST(GraphText, KeepsIdsThatDoNotFollowTheOrderOfTheNodes) {
  GraphBuilder builder("ids");
  const TensorId late = builder.add_tensor({.name = "late"});
  const TensorId x = builder.add_tensor({.name = "x"}, Role::input);
  const TensorId early = builder.add_tensor({.name = "early"});
  builder.add_node({.type = "Relu", .inputs = {x}, .outputs = {early}});
  builder.add_node({.type = "Relu", .inputs = {early}, .outputs = {late}});
  builder.set_outputs({late});
  const Graph graph = std::move(builder).build().value();
  EXPECT_EQ(print_graph(graph), R"(graph "ids" {
  tensor late : f32[]
  input x : f32[]
  early = Relu(x) : f32[]
  late = Relu(early)
  output late
}
)");
  EXPECT_EQ(difference(graph, parse(print_graph(graph))), "");
}

TEST(GraphText, LinesMayComeInAnyOrderAndNodesAreSorted) {
  const Graph graph = parse(R"(
    graph "g" {  # comments and blank lines are skipped
      output b

      b = Relu(a) : f32[4]; a = Relu(x) : f32[4]
      input x : f32[4]
    })");
  EXPECT_EQ(graph.tensor(*graph.node(NodeId(0)).outputs[0]).name, "a");
  EXPECT_EQ(graph.tensor(*graph.node(NodeId(1)).outputs[0]).name, "b");
}

TEST(GraphText, QuotedNameOnTheNextLineIsNotANodeName) {
  const Graph graph = parse(R"(graph "g" {
    input x : f32[]
    "_", z = Split(x) : f32[], f32[]
    Print(x)
    "7" = Relu(z) "relu" : f32[]
  })");
  ASSERT_EQ(graph.nodes().size(), 3U);
  EXPECT_EQ(graph.node(NodeId(1)).name, "");
  EXPECT_EQ(graph.node(NodeId(2)).name, "relu");
  EXPECT_EQ(graph.tensor(TensorId(1)).name, "_");
  EXPECT_EQ(graph.tensor(TensorId(3)).name, "7");
}

TEST(GraphText, RandomGraphsAreReadBack) {
  Random random(1);
  std::int64_t nodes = 0;
  int with_bodies = 0;
  for (int run = 0; run < 3000; ++run) {
    const Graph graph = random_graph(random, static_cast<int>(random.below(4)));
    const std::string text = print_graph(graph);
    const Result<Graph> again = parse_graph(text, "again");
    ASSERT_TRUE(again.ok()) << again.error().describe() << "\n" << text;
    ASSERT_EQ(difference(graph, again.value()), "") << text;
    ASSERT_EQ(print_graph(again.value()), text);
    nodes += graph.total_nodes();
    if (graph.body_nesting() > 1) ++with_bodies;
  }
  EXPECT_GT(nodes, 10'000);  // the generated graphs are not trivial
  EXPECT_GT(with_bodies, 100);
}

TEST(GraphText, NumbersKeepTheirBitsAndStayShort) {
  const auto printed = [](double number) {
    GraphBuilder builder("n");
    builder.add_node({.type = "Op", .attributes = {{"a", number}}});
    const Graph graph = std::move(builder).build().value();
    EXPECT_EQ(difference(graph, parse(print_graph(graph))), "");
    const std::string text = print_graph(graph);
    const std::size_t begin = text.find("= ") + 2;
    return text.substr(begin, text.rfind("}\n}") - begin);
  };
  EXPECT_EQ(printed(1), "1.0");
  EXPECT_EQ(printed(-0.0), "-0.0");
  EXPECT_EQ(printed(0.1), "0.1");
  EXPECT_EQ(printed(static_cast<double>(0.1F)), "0.1f");
  EXPECT_EQ(printed(1e300), "1e+300");
  EXPECT_EQ(printed(5e-324), "5e-324");
  EXPECT_EQ(printed(16777217), "16777217.0");
  EXPECT_EQ(printed(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(printed(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(printed(std::bit_cast<double>(0x7FF8000000000000U)), "nan");
  EXPECT_EQ(printed(std::bit_cast<double>(0xFFF8000000000001U)), "nan(0xfff8000000000001)");
}

TEST(GraphText, EmptyListsKeepTheirKind) {
  constexpr std::string_view kText =
      "graph \"g\" {\n  Op() {a = int[], b = float[], c = text[], d = [1.0], e = [\"\"]}\n}\n";
  const Graph graph = parse(kText);
  const std::vector<Attribute>& attributes = graph.node(NodeId(0)).attributes;
  EXPECT_NE(find_attribute<std::vector<std::int64_t>>(attributes, "a"), nullptr);
  EXPECT_NE(find_attribute<std::vector<double>>(attributes, "b"), nullptr);
  EXPECT_NE(find_attribute<std::vector<std::string>>(attributes, "c"), nullptr);
  EXPECT_THAT(*find_attribute<std::vector<double>>(attributes, "d"), ElementsAre(1.0));
  EXPECT_THAT(*find_attribute<std::vector<std::string>>(attributes, "e"), ElementsAre(""));
  EXPECT_EQ(print_graph(graph), kText);
}

// Bodies that nest `depth` deep.
std::string nested(int depth) {
  std::string text = "graph \"g\" {";
  for (int level = 0; level < depth; ++level) text += "Op() {b = graph \"g\" {";
  for (int level = 0; level < depth; ++level) text += "}}";
  return text + "}";
}

TEST(GraphText, BodiesNestUpToTheLimitAndNoDeeper) {
  const Graph deepest = parse(nested(limits::kMaxBodyNesting));
  EXPECT_EQ(deepest.body_nesting(), limits::kMaxBodyNesting);
  EXPECT_EQ(difference(deepest, parse(print_graph(deepest))), "");

  const Result<Graph> deeper = parse_graph(nested(limits::kMaxBodyNesting + 1), "deep");
  ASSERT_FALSE(deeper.ok());
  EXPECT_EQ(deeper.error().code, ErrorCode::over_limit);
  EXPECT_THAT(deeper.error().message, HasSubstr("kMaxBodyNesting"));
  EXPECT_EQ(parse_graph(nested(100'000), "deep").error().code, ErrorCode::over_limit);
}

TEST(GraphText, ExamplesOfTheReferenceAreReadAndPrinted) {
  const std::filesystem::path root = std::filesystem::path(LOWTIDE_TEST_FILES).parent_path().parent_path();
  std::stringstream file;
  file << std::ifstream(root / "docs/graph-text-form.md").rdbuf();
  const std::string document = file.str();
  const std::string fence = "```graph\n";
  int examples = 0;
  for (std::size_t at = document.find(fence); at != std::string::npos; at = document.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    const std::string example = document.substr(begin, document.find("```", begin) - begin);
    EXPECT_EQ(print_graph(parse(example)), example);
    ++examples;
  }
  EXPECT_EQ(examples, 2);
}

TEST(GraphText, TensorTypesAreReadAndPrinted) {
  EXPECT_EQ(print_tensor_type(DType::i8, Shape({2, 3})), "i8[2,3]");
  const std::optional<TensorType> type = parse_tensor_type("bf16[1,<=100]");
  ASSERT_TRUE(type.has_value());
  EXPECT_EQ(type->dtype, DType::bf16);
  EXPECT_EQ(print_tensor_type(type->dtype, type->shape), "bf16[1,<=100]");
  for (std::string_view bad : {"", "f32", "f32[", "f32[1", "f32[1,]", "f32[-1]", "f32[1]x", "x[1]", "f32[1.5]",
                               "string[1]", "f32[9223372036854775808]", "f32[9223372036854775807]"}) {
    EXPECT_FALSE(parse_tensor_type(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace lowtide::testing
