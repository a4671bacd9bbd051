// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/builder.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "lowtide/base/limits.h"
#include "lowtide/base/random.h"
#include "tests/graph/refused_builds.h"

namespace lowtide::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(GraphBuilder, KeepsWhatItIsGiven) {
  GraphBuilder builder("tiny");
  const TensorId x = builder.add_tensor(floats("x"), Role::input);
  const TensorId w = builder.add_tensor(floats("w", 2), Role::constant);
  const TensorId y = builder.add_tensor(floats("y"));
  builder.add_node(
      {.name = "n", .type = "Add", .inputs = {x, w}, .outputs = {y}, .attributes = {{"a", std::int64_t{1}}}});
  builder.set_outputs({y});
  builder.set_known_integers(w, {3, 4});
  const Graph graph = std::move(builder).build().value();
  EXPECT_EQ(graph.name(), "tiny");
  EXPECT_THAT(graph.inputs(), ElementsAre(x));
  EXPECT_THAT(graph.outputs(), ElementsAre(y));
  EXPECT_EQ(graph.tensor(x).size, Bytes(16));  // 4 elements of 4 bytes
  EXPECT_EQ(graph.tensor(y).role, Role::output);
  EXPECT_EQ(graph.tensor(y).producer, NodeId(0));
  EXPECT_EQ(graph.tensor(x).producer, std::nullopt);
  EXPECT_EQ(graph.op(NodeId(0)).type, "Add");
  EXPECT_EQ(graph.op(NodeId(0)).traits.in_place, InPlaceKind::any_input);
  EXPECT_THAT(*graph.known_integers(w), ElementsAre(3, 4));
  EXPECT_EQ(graph.known_integers(x), nullptr);
  EXPECT_EQ(graph.total_nodes(), 1);
  EXPECT_EQ(graph.total_tensors(), 3);
  EXPECT_EQ(graph.body_nesting(), 0);
}

TEST(GraphBuilder, SortsStateUpdatesAndMarksTheirNextTensors) {
  GraphBuilder builder("g");
  const TensorId h = builder.add_tensor(floats("h"), Role::state);
  const TensorId i = builder.add_tensor(floats("i"), Role::state);
  const TensorId y = builder.add_tensor(floats("y"));
  builder.add_node({.type = "Relu", .inputs = {h}, .outputs = {y}});
  builder.add_state_update(i, y);
  builder.add_state_update(h, y);
  const Graph graph = std::move(builder).build().value();
  EXPECT_THAT(graph.state_updates(), ElementsAre(StateUpdate{h, y}, StateUpdate{i, y}));
  EXPECT_TRUE(graph.is_needed_at_end(y));
  EXPECT_FALSE(graph.is_needed_at_end(h));
  EXPECT_EQ(graph.tensor(y).role, Role::temporary);
}

TEST(GraphBuilder, RefusesInvalidStateUpdates) {
  const auto with = [](std::uint32_t state, std::uint32_t next) {
    GraphBuilder builder("g");
    builder.add_tensor(floats("x"), Role::input);     // 0
    builder.add_tensor(floats("h"), Role::state);     // 1
    builder.add_tensor(floats("i"), Role::state);     // 2
    builder.add_tensor(floats("z", 2), Role::input);  // 3
    builder.add_state_update(TensorId(1), TensorId(0));
    builder.add_state_update(TensorId(state), TensorId(next));
    return builder;
  };
  EXPECT_TRUE(std::move(with(2, 0)).build().ok());
  expect_refused(with(0, 0), ErrorCode::invalid, "'x': is updated, but it is an input; only a state can be updated");
  expect_refused(with(1, 0), ErrorCode::invalid, "'h': is updated twice");
  expect_refused(with(2, 2), ErrorCode::invalid, "name another tensor of the same type and size");
  expect_refused(with(2, 3), ErrorCode::invalid, "cannot be updated by 'z' of type f32[2]");
  expect_refused(with(2, 1), ErrorCode::invalid, "'h': is updated and is also the next tensor of another state");
  expect_refused(with(2, 9), ErrorCode::invalid, "");
  GraphBuilder as_output = with(2, 0);
  as_output.set_outputs({TensorId(2)});
  expect_refused(std::move(as_output), ErrorCode::invalid, "'i': is updated and is a graph output");
}

TEST(GraphBuilder, OutputsThatAreInputsOrConstantsKeepTheirRole) {
  GraphBuilder builder("g");
  const TensorId x = builder.add_tensor(floats("x"), Role::input);
  const TensorId w = builder.add_tensor(floats("w"), Role::constant);
  builder.set_outputs({x, w, x});
  const Graph graph = std::move(builder).build().value();
  EXPECT_EQ(graph.tensor(x).role, Role::input);
  EXPECT_EQ(graph.tensor(w).role, Role::constant);
  EXPECT_THAT(graph.outputs(), ElementsAre(x, w, x));
}

TEST(GraphBuilder, NodesOfOneTypeShareAnOperator) {
  GraphBuilder builder("g");
  builder.add_node({.type = "A"});
  builder.add_node({.domain = "d", .type = "A"});
  builder.add_node({.type = "A"});
  const Graph graph = std::move(builder).build().value();
  EXPECT_EQ(graph.operators().size(), 2U);
  EXPECT_EQ(graph.node(NodeId(0)).op, graph.node(NodeId(2)).op);
}

TEST(GraphBuilder, ReadsAndReadersAreAscendingWithoutRepetition) {
  GraphBuilder inside("body");
  const TensorId inner =
      inside.add_tensor({.name = "c", .dtype = DType::f32, .shape = Shape({4}), .is_captured = true}, Role::input);
  inside.set_outputs({inner});
  auto body = std::make_shared<const Graph>(std::move(inside).build().value());
  EXPECT_TRUE(body->inputs().empty());  // a captured tensor is not passed as an input

  GraphBuilder builder("g");
  const TensorId x = builder.add_tensor(floats("x"), Role::input);
  const TensorId y = builder.add_tensor(floats("y"), Role::input);
  const TensorId z = builder.add_tensor(floats("z"));
  builder.add_node(
      {.type = "If", .inputs = {y, std::nullopt, y}, .outputs = {z}, .bodies = {{"then_branch", body, {{x, inner}}}}});
  builder.add_node({.type = "Add", .inputs = {y, y}});
  builder.set_outputs({z});
  const Graph graph = std::move(builder).build().value();
  EXPECT_THAT(graph.reads(NodeId(0)), ElementsAre(x, y));
  EXPECT_THAT(graph.reads(NodeId(1)), ElementsAre(y));
  EXPECT_THAT(graph.readers(x), ElementsAre(NodeId(0)));
  EXPECT_THAT(graph.readers(y), ElementsAre(NodeId(0), NodeId(1)));
  EXPECT_TRUE(graph.readers(z).empty());
  EXPECT_EQ(graph.total_tensors(), 4);
  EXPECT_EQ(graph.body_nesting(), 1);
}

TEST(GraphBuilder, RefusesNamesThatAreEmptyRepeatedOrTooLong) {
  {
    GraphBuilder builder("g");
    builder.add_tensor(floats(""), Role::input);
    expect_refused(std::move(builder), ErrorCode::invalid, "graph 'g': tensor '': a tensor has an empty name");
  }
  {
    GraphBuilder builder("g");
    builder.add_tensor(floats("x"), Role::input);
    builder.add_tensor(floats("x"), Role::input);
    expect_refused(std::move(builder), ErrorCode::invalid, "tensor 'x': two tensors have this name");
  }
  {
    GraphBuilder builder("g");
    builder.add_tensor(floats(std::string(65'537, 'x')), Role::input);
    expect_refused(std::move(builder), ErrorCode::over_limit, "the name has 65537 bytes, above the limit of 65536");
  }
  GraphBuilder builder("g");
  builder.add_tensor(floats(std::string(65'536, 'x')), Role::input);
  EXPECT_TRUE(std::move(builder).build().ok());
}

TEST(GraphBuilder, RefusesASecondProducer) {
  GraphBuilder builder("g");
  const TensorId y = builder.add_tensor(floats("y"));
  builder.add_node({.name = "one", .type = "A", .outputs = {y}});
  builder.add_node({.name = "two", .type = "A", .outputs = {y}});
  expect_refused(std::move(builder), ErrorCode::invalid, "node 1 'two': writes 'y', which node 0 'one' writes too");
}

TEST(GraphBuilder, RefusesNodesThatWriteInputsConstantsOrStates) {
  for (Role role : {Role::input, Role::constant, Role::state}) {
    GraphBuilder builder("g");
    const TensorId x = builder.add_tensor(floats("x"), role);
    builder.add_node({.name = "n", .type = "A", .outputs = {x}});
    expect_refused(std::move(builder), ErrorCode::invalid,
                   std::string("node 0 'n': writes 'x', but no node may write ") +
                       (role == Role::input ? "an " : "a ") + std::string(to_string(role)));
  }
}

TEST(GraphBuilder, RefusesTensorsWithoutAProducer) {
  {
    GraphBuilder builder("g");
    builder.add_node({.name = "n", .type = "A", .inputs = {builder.add_tensor(floats("y"))}});
    expect_refused(std::move(builder), ErrorCode::invalid, "node 0 'n': reads 'y', which nothing produces");
  }
  {
    GraphBuilder builder("g");
    builder.set_outputs({builder.add_tensor(floats("y"))});
    expect_refused(std::move(builder), ErrorCode::invalid, "tensor 'y': this graph output is never produced");
  }
  GraphBuilder builder("g");
  builder.add_tensor(floats("y"));
  expect_refused(std::move(builder), ErrorCode::invalid, "tensor 'y': nothing produces this tensor");
}

TEST(GraphBuilder, RefusesIdsOutOfRange) {
  const std::string message = "graph 'g': a node, output or state update has an id that does not exist";
  const auto expect_bad_node = [&](GraphBuilder::NodeSpec spec) {
    GraphBuilder builder("g");
    builder.add_tensor(floats("x"), Role::input);
    builder.add_node(std::move(spec));
    expect_refused(std::move(builder), ErrorCode::invalid, message);
  };
  expect_bad_node({.type = "A", .inputs = {TensorId(1)}});
  expect_bad_node({.type = "A", .outputs = {TensorId(1)}});
  expect_bad_node({.type = "A", .control_inputs = {NodeId(1)}});
  expect_bad_node({.type = "A", .bodies = {{"b", nullptr, {}}}});
  const auto empty = std::make_shared<const Graph>(GraphBuilder("empty").build().value());
  expect_bad_node({.type = "A", .bodies = {{"b", empty, {{TensorId(0), TensorId(0)}}}}});

  GraphBuilder builder("g");
  builder.set_outputs({TensorId(0)});
  expect_refused(std::move(builder), ErrorCode::invalid, message);
}

TEST(GraphBuilder, RefusesSizesAboveTheLimits) {
  {
    GraphBuilder builder("g");  // 2^45 elements of 4 bytes are 2^47, one byte above the limit
    builder.add_tensor(floats("x", std::int64_t{1} << 45), Role::input);
    expect_refused(std::move(builder), ErrorCode::over_limit, "graph 'g': tensor 'x': a tensor of f32[35184372088832]");
  }
  {
    GraphBuilder builder("g");  // 2^15 tensors of 2^47 - 4 bytes stay below 2^62, one more does not
    for (int at = 0; at <= (1 << 15); ++at) {
      builder.add_tensor(floats("t" + std::to_string(at), (std::int64_t{1} << 45) - 1), Role::input);
    }
    expect_refused(std::move(builder), ErrorCode::over_limit, "tensor 't32768': the tensors up to this one have");
  }
  GraphBuilder builder("g");
  builder.add_tensor({.name = "x", .dtype = DType::f32, .shape = Shape({-1})}, Role::input);
  expect_refused(std::move(builder), ErrorCode::invalid, "extent -1 of shape [-1] is negative");
}

// Each level runs the level below twice, so a few objects have 2^levels nodes.
TEST(GraphBuilder, RefusesBodiesThatMultiplyBeyondTheLimits) {
  Result<Graph> graph = GraphBuilder("leaf").build();
  int levels = 0;
  while (graph.ok() && levels < 100) {
    auto body = std::make_shared<const Graph>(std::move(graph).value());
    GraphBuilder builder("level");
    builder.add_node({.name = "n", .type = "If", .bodies = {{"then_branch", body, {}}, {"else_branch", body, {}}}});
    graph = std::move(builder).build();
    ++levels;
  }
  // Level n has 2^n - 1 nodes: 2^23 - 1 are below 10,000,000, and 2^24 - 1 are not.
  EXPECT_EQ(levels, 24);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::over_limit);
  EXPECT_THAT(graph.error().message, AllOf(HasSubstr("16777215 nodes"), HasSubstr("kMaxNodes")));
}

TEST(GraphBuilder, RefusesBodiesNestedTooDeep) {
  Result<Graph> graph = GraphBuilder("leaf").build();
  int levels = 0;
  while (graph.ok() && levels < 100) {
    auto body = std::make_shared<const Graph>(std::move(graph).value());
    GraphBuilder builder("level");
    builder.add_node({.name = "n", .type = "If", .bodies = {{"then_branch", body, {}}}});
    graph = std::move(builder).build();
    ++levels;
  }
  EXPECT_EQ(levels, limits::kMaxBodyNesting + 1);
  EXPECT_EQ(graph.error().code, ErrorCode::over_limit);
  EXPECT_THAT(graph.error().describe(), HasSubstr("node 0 'n': bodies are nested 33 deep"));
}

}  // namespace
}  // namespace lowtide::testing
