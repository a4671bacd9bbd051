// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/kernels/kernel_run.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using testing::KernelRun;
using testing::tensor_data;
using testing::values_of;

constexpr const char* kRelu = R"(graph "g" {
  input x : f32[2,3]
  y = Relu(x) : f32[2,3]
  output y
})";

TEST(Relu, KeepsPositiveElementsAndClearsNegativeOnes) {
  const Graph graph = testing::graph_of(kRelu);
  KernelRun run(graph);
  const std::vector<float> x{-1, 0, 2, -std::numeric_limits<float>::infinity(), 1e-40F, 3};
  EXPECT_EQ(run.run({tensor_data(DType::f32, {2, 3}, x)}), RunStatus());
  EXPECT_THAT(values_of<float>(run.writes[0]), ElementsAre(0, 0, 2, 0, 1e-40F, 3));
}

TEST(Relu, KeepsNan) {
  const Graph graph = testing::graph_of(kRelu);
  KernelRun run(graph);
  EXPECT_EQ(run.run({tensor_data<float>(DType::f32, {2, 3}, {std::nanf(""), 1, 1, 1, 1, 1})}), RunStatus());
  EXPECT_TRUE(std::isnan(values_of<float>(run.writes[0])[0]));
}

TEST(Relu, WritesOverItsInput) {
  const Graph graph = testing::graph_of(kRelu);
  ASSERT_THAT(offered_kernels(graph, NodeId(0))[0].in_place, ElementsAre(std::pair(0, 0)));
  KernelRun run(graph);
  run.over = 0;
  EXPECT_EQ(run.run({tensor_data<float>(DType::f32, {2, 3}, {-1, 1, -2, 2, -3, 3})}), RunStatus());
  EXPECT_THAT(values_of<float>(run.writes[0]), ElementsAre(0, 1, 0, 2, 0, 3));
}

// The graph has at most 4 elements; this run has 3.
TEST(Relu, StoresTheExtentsOfADynamicResult) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[<=4]
    y = Relu(x) : f32[<=4]
    output y
  })");
  KernelRun run(graph);
  EXPECT_EQ(run.run({tensor_data<float>(DType::f32, {3}, {-1, 1, 2})}), RunStatus());
  EXPECT_THAT(run.writes[0].extents, ElementsAre(3));
  EXPECT_EQ(run.run({tensor_data<float>(DType::f32, {5}, {1, 1, 1, 1, 1})}).code, RunCode::size_exceeds_plan);
}

}  // namespace
}  // namespace lowtide
