// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/memory/inputs_in_arena.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string_view>

#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

// "r" reads a constant alone and "m" reads x. Only "r" needs a control input to come after the caller.
TEST(InputsInArena, OneNodeWritesAllInputsBeforeTheOthers) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[4]
    input z : f32[2]
    constant a : f32[4]
    r = RandomNormalLike(a) : f32[4]
    m = Neg(x) : f32[4]
    y = Add(m, r) : f32[4]
    output y
  })");
  const std::optional<Rewritten> rewritten = place_inputs_in_arena(graph).value();
  ASSERT_TRUE(rewritten);
  const Graph* placed = &rewritten->graph;
  EXPECT_TRUE(placed->inputs().empty());
  ASSERT_EQ(placed->nodes().size(), 4U);
  EXPECT_EQ(placed->op(NodeId(0)).type, "Inputs");
  EXPECT_EQ(placed->node(NodeId(0)).outputs.size(), 2U);
  EXPECT_EQ(placed->node(NodeId(1)).control_inputs, std::vector{NodeId(0)});
  EXPECT_TRUE(placed->node(NodeId(2)).control_inputs.empty());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    EXPECT_EQ(placed->tensor(id).name, graph.tensor(id).name);
    EXPECT_EQ(placed->tensor(id).role, graph.tensor(id).role == Role::input ? Role::temporary : graph.tensor(id).role);
    EXPECT_EQ(rewritten->origins.tensors[id], std::vector{id});
  }
  EXPECT_TRUE(rewritten->origins.nodes[NodeId(0)].empty());
  EXPECT_EQ(rewritten->origins.nodes[NodeId(3)], std::vector{NodeId(2)});
}

TEST(InputsInArena, ChangesNoGraphWithoutInputs) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    constant a : f32[4]
    y = RandomNormalLike(a) : f32[4]
    output y
  })");
  EXPECT_FALSE(place_inputs_in_arena(graph).value());
}

}  // namespace
}  // namespace lowtide
