// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/plain_figures.h"

#include <gtest/gtest.h>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// Sizes in bytes: a 4, b 8, c 12, d 16.
//   step 0 writes a         live a            4
//   step 1 writes b         live a b         12
//   step 2 writes c         live a b c       24
//   step 3 writes d         live a c d       32     (a and c are read here)
TEST(PlainFigures, CountEachTensorFromProducerToLastReader) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[10]
    constant w : f32[100]
    a = Conv(x, w) : f32[1]
    b = Conv(a) : f32[2]
    c = Conv(b) : f32[3]
    d = Conv(c, a) : f32[4]
    output d
  })");
  const PlainFigures figures = plain_figures(graph);
  EXPECT_EQ(figures.inputs, Bytes(40));
  EXPECT_EQ(figures.constants, Bytes(400));
  EXPECT_EQ(figures.outputs, Bytes(16));
  EXPECT_EQ(figures.temporaries_sum, Bytes(4 + 8 + 12 + 16));
  EXPECT_EQ(figures.load_as_given, Bytes(4 + 12 + 16));
}

TEST(PlainFigures, ATensorWithoutReadersLivesInItsOwnStep) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a, unused = Conv(x) : f32[1], f32[100]
    b = Conv(a) : f32[2]
    output b
  })");
  EXPECT_EQ(plain_figures(graph).load_as_given, Bytes(4 + 400));
}

TEST(PlainFigures, OutputsLiveToTheEnd) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[100]
    b = Conv(x) : f32[2]
    c = Conv(b) : f32[3]
    output a, c
  })");
  EXPECT_EQ(plain_figures(graph).load_as_given, Bytes(400 + 8 + 12));
}

// The branches share bytes, so the larger one counts at the step of the If, in addition to the 4 bytes of y.
TEST(PlainFigures, BranchesOfAnIfShare) {
  const Graph graph = graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[1]
    y = If(c) {
      then_branch = graph "then" captures (x) {
        captured input x : f32[1]
        p = Conv(x) : f32[10]
        q = Conv(p) : f32[1]
        output q
      },
      else_branch = graph "else" captures (x) {
        captured input x : f32[1]
        r = Conv(x) : f32[1]
        output r
      }
    } : f32[1]
    output y
  })");
  const PlainFigures figures = plain_figures(graph);
  EXPECT_EQ(figures.load_as_given, Bytes(4 + (40 + 4)));
  EXPECT_EQ(figures.temporaries_sum, Bytes(4 + 40 + 4 + 4));
}

}  // namespace
}  // namespace lowtide::testing
