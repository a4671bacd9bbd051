// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/node_figures.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "lowtide/analysis/plain_figures.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

constexpr std::string_view kTwoProducts = R"(graph "g" {
  input x : f32[2,3]
  constant w : f32[3,3]
  a = MatMul(x, w) : f32[2,3]
  b = MatMul(a, w) : f32[2,3]
  c = Mul(b, b) : f32[2,3]
  d = com.example::Mystery(c) : f32[1]
  output d
})";

TEST(NodeFigures, CountBytesByTheirRole) {
  const Graph graph = graph_of(kTwoProducts);
  const GraphFigures figures = graph_figures(graph, dense_target());
  ASSERT_EQ(figures.nodes.size(), 4U);
  const NodeFigures& first = figures.nodes[0];
  EXPECT_EQ(first.read, Bytes(24));
  EXPECT_EQ(first.written, Bytes(24));
  EXPECT_EQ(first.constants, Bytes(36));
  EXPECT_EQ(first.scratch, Bytes(0));
  EXPECT_EQ(first.macs, 2 * 3 * 3);
  EXPECT_EQ(figures.nodes[2].read, Bytes(24));  // b twice is read once
  EXPECT_EQ(figures.nodes[2].macs, 0);
  EXPECT_EQ(figures.nodes[3].macs, std::nullopt);
  EXPECT_EQ(figures.nodes[3].scratch, std::nullopt);
}

TEST(NodeFigures, TotalsCountAWeightOnce) {
  const Graph graph = graph_of(kTwoProducts);
  const GraphFigures figures = graph_figures(graph, dense_target());
  EXPECT_EQ(figures.totals.nodes, 4);
  EXPECT_EQ(figures.totals.constants, Bytes(36));
  EXPECT_EQ(figures.totals.read.sum, 4 * 24);
  EXPECT_EQ(figures.totals.written.sum, 3 * 24 + 4);
  EXPECT_EQ(figures.totals.macs.sum, 2 * 18);
  EXPECT_EQ(figures.totals.macs.left_out, 1);
  ASSERT_EQ(figures.operators.size(), 3U);
  EXPECT_EQ(figures.operators[0].op, "MatMul");
  EXPECT_EQ(figures.operators[0].totals.constants, Bytes(36));
}

// The branches capture w, which is also an operand of the graph itself. All of them count it once.
TEST(NodeFigures, NodesOfBodiesFollowTheirNode) {
  const Graph graph = graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[2,3]
    constant w : f32[3,3]
    a = MatMul(x, w) : f32[2,3]
    y = If(c) {
      then_branch = graph "then" captures (a, w) {
        captured input a : f32[2,3]
        captured constant w : f32[3,3]
        p = MatMul(a, w) : f32[2,3]
        output p
      },
      else_branch = graph "else" captures (a) {
        captured input a : f32[2,3]
        constant v : f32[3,3]
        q = MatMul(a, v) : f32[2,3]
        output q
      }
    } : f32[2,3]
    z = Relu(y) : f32[2,3]
    output z
  })");
  const GraphFigures figures = graph_figures(graph, dense_target());
  std::vector<int> depths;
  for (const NodeFigures& row : figures.nodes) depths.push_back(row.depth);
  EXPECT_EQ(depths, (std::vector<int>{0, 0, 1, 1, 0}));
  EXPECT_EQ(figures.nodes[1].read, Bytes(1));  // without captures
  EXPECT_EQ(figures.nodes[1].macs, 0);
  ASSERT_TRUE(figures.nodes[3].outer.has_value());
  EXPECT_EQ(figures.nodes[3].outer->row, 1U);
  EXPECT_EQ(figures.nodes[3].outer->position, 1U);
  EXPECT_EQ(figures.nodes[2].constants, Bytes(36));
  EXPECT_EQ(figures.totals.constants, Bytes(2 * 36));
  EXPECT_EQ(figures.totals.constants, plain_figures(graph).constants);
  EXPECT_EQ(figures.totals.macs.sum, 3 * 18);
}

TEST(NodeFigures, ScratchIsThatOfTheFirstKernel) {
  class Workspace final : public Catalogue {
   public:
    [[nodiscard]] std::vector<Kernel> kernels(const Graph& /*graph*/, NodeId node) const override {
      return {{.name = "first", .scratch = Bytes(100 * (node.value() + 1))}, {.name = "second", .scratch = Bytes(1)}};
    }
  };
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Relu(x) : f32[1]
    b = Relu(a) : f32[1]
    output b
  })");
  Target target = dense_target();
  target.catalogue = std::make_shared<Workspace>();
  const GraphFigures figures = graph_figures(graph, target);
  EXPECT_EQ(figures.nodes[0].scratch, Bytes(100));
  EXPECT_EQ(figures.totals.scratch, Bytes(200));  // the nodes run one after another
}

TEST(NodeFigures, SumsLeaveOutWhatWouldOverflow) {
  FigureSum sum;
  sum.add(std::numeric_limits<std::int64_t>::max());
  sum.add(1);
  sum.add(std::nullopt);
  EXPECT_EQ(sum.sum, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(sum.left_out, 2);
}

}  // namespace
}  // namespace lowtide::testing
