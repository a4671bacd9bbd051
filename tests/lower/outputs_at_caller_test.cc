// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/memory/outputs_at_caller.h"

#include <gtest/gtest.h>

#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

// y is listed twice, and x is an input. The name "y (caller)" is taken.
TEST(OutputsAtCaller, AreNextContentsOfStates) {
  const Graph graph = testing::graph_of(R"g(graph "g" {
    input x : f32[4]
    state h : f32[4]
    "y (caller)" = Neg(x) : f32[4]
    y = Add("y (caller)", h) : f32[4]
    output y, x, y
    update h = y
  })g");
  const std::optional<Rewritten> rewritten = place_outputs_at_caller(graph).value();
  ASSERT_TRUE(rewritten);
  const Graph* placed = &rewritten->graph;
  EXPECT_EQ(print_graph(*placed), R"g(graph "g" {
  input x : f32[4]
  state h : f32[4]
  "y (caller)" = Neg(x) : f32[4]
  y = Add("y (caller)", h) : f32[4]
  state "y (caller) (caller)" : f32[4]
  state "x (caller)" : f32[4]
  state "y (caller) (caller) (caller)" : f32[4]
  update h = y
  update "y (caller) (caller)" = y
  update "x (caller)" = x
  update "y (caller) (caller) (caller)" = y
}
)g");
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    EXPECT_EQ(placed->tensor(id).name, graph.tensor(id).name);
    EXPECT_EQ(rewritten->origins.tensors[id], std::vector{id});
  }
  EXPECT_TRUE(rewritten->origins.tensors[TensorId(4)].empty());
}

TEST(OutputsAtCaller, ChangesNoGraphWithoutOutputs) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[4]
    state h : f32[4]
    y = Neg(x) : f32[4]
    update h = y
  })");
  EXPECT_FALSE(place_outputs_at_caller(graph).value());
}

}  // namespace
}  // namespace lowtide
