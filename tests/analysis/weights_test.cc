// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/weights.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// Constants of 20, 64 and 4 bytes: with alignment 16, 32 + 64 + 16. The one of 4 bytes has the most padding.
constexpr const char* kConstants = R"(graph "g" {
  input x : f32[16]
  constant a : f32[5]
  constant b : f32[16]
  constant c : f32[1]
  y = Add(x, b) : f32[16]
  z = Mul(y, c) : f32[16]
  output z
})";

// The body captures w and has v of its own: 64 + 64.
constexpr const char* kBody = R"(graph "g" {
  input c : bool[]
  constant w : f32[16]
  y = If(c) "choose" {
    then_branch = graph "then" captures (w) {
      captured constant w : f32[16]
      p = Relu(w) : f32[16]
      output p
    },
    else_branch = graph "else" {
      constant v : f32[16]
      q = Neg(v) : f32[16]
      output q
    }
  } : f32[16]
  output y
})";

Machine machine(std::int64_t alignment, std::optional<Bytes> capacity = std::nullopt) {
  return {.regions = {{.name = "ram"}, {.name = "flash", .capacity = capacity, .alignment = Bytes(alignment)}},
          .links = {},
          .workers = {Worker{.name = "cpu"}},
          .constants = RegionId(1)};
}

TEST(Weights, AreUnknownUnlessTheMachineStatesTheirRegion) {
  Machine silent = machine(16);
  silent.constants = std::nullopt;
  EXPECT_FALSE(weights_of(graph_of(kConstants), silent));
}

TEST(Weights, OccupyAlignedBytesAndTheLastEndsUnpadded) {
  EXPECT_EQ(weights_of(graph_of(kConstants), machine(1))->bytes, Bytes(20 + 64 + 4));
  EXPECT_EQ(weights_of(graph_of(kConstants), machine(16))->bytes, Bytes(32 + 64 + 4));
  EXPECT_EQ(weights_of(graph_of(kConstants), machine(64))->bytes, Bytes(64 + 64 + 4));
  EXPECT_EQ(weights_of(graph_of("graph \"g\" {\n  input x : f32[1]\n  output x\n}"), machine(16))->bytes, Bytes(0));
}

TEST(Weights, OfBodiesCountAndCapturedOnesCountOnce) {
  EXPECT_EQ(weights_of(graph_of(kBody), machine(16))->bytes, Bytes(64 + 64));
}

TEST(Weights, ExcessAndSpaceLeftAddUpWithTheCapacity) {
  const Graph graph = graph_of(kConstants);
  EXPECT_EQ(weights_of(graph, machine(16))->left(), std::nullopt);
  EXPECT_EQ(weights_of(graph, machine(16))->excess(), Bytes(0));
  EXPECT_EQ(weights_of(graph, machine(16, Bytes(100)))->excess(), Bytes(0));
  EXPECT_EQ(weights_of(graph, machine(16, Bytes(100)))->left(), Bytes(0));
  EXPECT_EQ(weights_of(graph, machine(16, Bytes(99)))->excess(), Bytes(1));
  EXPECT_EQ(weights_of(graph, machine(16, Bytes(99)))->left(), Bytes(0));
  EXPECT_EQ(weights_of(graph, machine(16, Bytes(130)))->left(), Bytes(30));
}

}  // namespace
}  // namespace lowtide::testing
