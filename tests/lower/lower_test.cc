// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/lower.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string_view>

#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

constexpr std::string_view kWithWorkOnConstants = R"(graph "g" {
  input x : f32[4]
  constant a : f32[4]
  w = Neg(a) : f32[4]
  y = Add(x, w) : f32[4]
  output y
})";

TEST(Lower, ListsThePassesThatChangedTheGraph) {
  const Graph graph = testing::graph_of(kWithWorkOnConstants);
  const Result<Lowered> both = lower(graph, {.passes = {PassId::load_time, PassId::inputs_in_arena}});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->passes, (std::vector<std::string>{"load_time", "inputs_in_arena"}));
  EXPECT_EQ(both->graph.nodes().size(), 2U);  // Inputs and Add
  EXPECT_EQ(both->load.nodes().size(), 1U);   // Neg

  const Result<Lowered> none = lower(graph, {.passes = {}});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->passes.empty());
  EXPECT_EQ(print_graph(none->graph), print_graph(graph));
}

TEST(Lower, RefusesTypesThatContradictEachOther) {
  const Result<Lowered> lowered = lower(testing::graph_of(R"(graph "g" {
    input x : f32[4]
    input n : i64[4]
    y = Mul(x, n) "product" : f32[4]
    output y
  })"));
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().code, ErrorCode::invalid);
  EXPECT_EQ(lowered.error().message, "Mul: input 'n' is i64, and has to have the type of input 'x', which is f32");
  EXPECT_EQ(lowered.error().place, "graph 'g': product");
}

TEST(Lower, ListsNoPassThatChangesNothing) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[4]
    y = Neg(x) : f32[4]
    output y
  })");
  const Result<Lowered> lowered = lower(graph);
  ASSERT_TRUE(lowered.ok());
  EXPECT_TRUE(lowered->passes.empty());
  EXPECT_EQ(print_graph(lowered->graph), print_graph(graph));
}

TEST(Lower, ReadsItsOptionsFromTheNamesOfPasses) {
  const Result<LowerOptions> options = lower_options({"inputs_in_arena"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->passes, PassSet{PassId::inputs_in_arena});
  EXPECT_EQ(lower_options({"fuse"}).error().code, ErrorCode::unsupported);
}

// The list of a plan is a sequence. Each pass has one place in it.
TEST(Lower, RefusesNamesThatAreRepeatedOrOutOfOrder) {
  EXPECT_TRUE(lower_options({"unneeded", "load_time", "chains", "formats", "outputs_at_caller"}).ok());
  const Result<LowerOptions> twice = lower_options({"chains", "chains"});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, ErrorCode::invalid);
  EXPECT_EQ(twice.error().message, "the pass 'chains' is listed twice");
  const Result<LowerOptions> turned = lower_options({"formats", "chains"});
  ASSERT_FALSE(turned.ok());
  EXPECT_EQ(turned.error().code, ErrorCode::invalid);
  EXPECT_EQ(turned.error().message, "the pass 'chains' is listed after 'formats', but runs before it");
}

}  // namespace
}  // namespace lowtide
