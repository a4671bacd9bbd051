// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/cost.h"

#include <gtest/gtest.h>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

std::int64_t modelled(const std::string& text) {
  const Graph graph = graph_of(text);
  return estimated_picoseconds(graph, NodeId(0), Kernel{});
}

// 1,000,000 to start; x and y of 64 bytes each: 128 x 100.
TEST(Cost, CountsBytesMoved) {
  EXPECT_EQ(modelled(R"(graph "g" {
    input x : f32[16]
    y = Relu(x) : f32[16]
    output y
  })"),
            1'012'800);
}

// x twice moves its bytes once: 64 + 64.
TEST(Cost, CountsAnOperandOnce) {
  EXPECT_EQ(modelled(R"(graph "g" {
    input x : f32[16]
    y = Add(x, x) : f32[16]
    output y
  })"),
            1'012'800);
}

// a 4x8, b 8x2, y 4x2: (32 + 16 + 8) x 4 = 224 bytes x 100; 8 results x 8 products x 2 x 20.
TEST(Cost, CountsOperationsOfMatrices) {
  EXPECT_EQ(modelled(R"(graph "g" {
    input a : f32[4,8]
    input b : f32[8,2]
    y = MatMul(a, b) : f32[4,2]
    output y
  })"),
            1'000'000 + 22'400 + 2'560);
}

// The same matrices; that of 8x2 is packed in blocks of 16: 16 x 16 x 4 = 1,024 bytes. (32 x 4 + 1,024 + 8 x 4) x 100.
TEST(Cost, CountsOperationsOfPackedMatrices) {
  EXPECT_EQ(modelled(R"(graph "g" {
    input a : f32[4,8]
    constant b : f32[256]
    y = lowtide::PackedMatMul(a, b) {weights = [8, 2], transB = 0, order = "blocks16"} : f32[4,2]
    output y
  })"),
            1'000'000 + 118'400 + 2'560);
}

// x 1x2x4x4 (128 bytes), w 3x2x1x1 (24), y 1x3x4x4 (192): 344 bytes x 100; 48 results x 2 products x 40.
TEST(Cost, CountsOperationsOfConvolutions) {
  EXPECT_EQ(modelled(R"(graph "g" {
    input x : f32[1,2,4,4]
    constant w : f32[3,2,1,1]
    y = Conv(x, w) : f32[1,3,4,4]
    output y
  })"),
            1'000'000 + 34'400 + 3'840);
}

TEST(Cost, UsesTheCostOfTheCatalogue) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    y = Relu(x) : f32[16]
    output y
  })");
  EXPECT_EQ(estimated_picoseconds(graph, NodeId(0), Kernel{.cost_seconds = 2e-6}), 2'000'000);
  EXPECT_EQ(estimated_picoseconds(graph, NodeId(0), Kernel{.cost_seconds = 1e-15}), 1);
  EXPECT_EQ(estimated_picoseconds(graph, NodeId(0), Kernel{.cost_seconds = 1e300}), cost_model::kMostPicoseconds);
}

}  // namespace
}  // namespace lowtide::testing
