// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/remedies.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/graph/text.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

std::string with_16_bits(std::string text) {
  for (std::size_t at = text.find("f32"); at != std::string::npos; at = text.find("f32", at))
    text.replace(at, 3, "f16");
  return text;
}

// The peak with 16 bits that the remedies state, and that of a plan of the same graph in 16 bits.
void expect_equal_peaks(const Graph& graph, bool has_views = true) {
  const PlanOptions options{.order = "as_given", .views = has_views, .parts = has_views};
  const PlannedGraph wide = must_plan(graph, options);
  const PlannedGraph narrow = must_plan(graph_of(with_16_bits(print_graph(graph))), options);
  const ModelRemedies remedies = model_remedies(wide.plan, labels_of(graph));
  const Bytes load = narrow.plan.claims.load;
  if (remedies.type) {
    EXPECT_EQ(remedies.type->peak_16_bits, load) << print_graph(graph);
  } else {
    EXPECT_GT(load.count(), wide.plan.claims.load.count() * 99 / 100) << print_graph(graph);
  }
}

// The body has 128 + 128 bytes at the Add, and y has 128. With 16 bits, each of them has 64.
TEST(SmallerType, ScratchOfBodiesShrinksToo) {
  const Graph graph = graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[32]
    y = If(c) {
      then_branch = graph "t" captures (x) {
        captured input x : f32[32]
        p = Relu(x) : f32[32]
        q = Softmax(p) : f32[32]
        r = Add(p, q) : f32[32]
        output r
      },
      else_branch = graph "e" captures (x) {
        captured input x : f32[32]
        r = Neg(x) : f32[32]
        output r
      }
    } : f32[32]
    output y
  })");
  expect_equal_peaks(graph);
}

// Five numbers of 4 bytes and five of 2 bytes both take a unit of 64 bytes.
TEST(SmallerType, BuffersKeepWholeUnits) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[5]
    a = Relu(x) : f32[5]
    b = MatMul(a, a) : f32[5]
    output b
  })");
  EXPECT_FALSE(model_remedies(must_plan(graph).plan, labels_of(graph)).type);
  expect_equal_peaks(graph);
}

// Without views, because a part of a tensor may be a view only at multiples of the alignment.
TEST(SmallerType, RandomGraphsHaveThePeakOfTheSameGraphIn16Bits) {
  for (int round = 0; round < 300; ++round) {
    Random random(static_cast<std::uint64_t>(4000 + round));
    expect_equal_peaks(random_graph(random, static_cast<int>(random.between(2, 12))), false);
  }
}

}  // namespace
}  // namespace lowtide::testing
