// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/run_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/graph/text.h"
#include "lowtide/lower/common/bodies.h"
#include "tests/testing/block_formats.h"
#include "tests/testing/graphs.h"

namespace lowtide::lower_internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A pass of this file: gives each Exp the operator Neg, in bodies as well. The number of nodes and tensors stays.
Result<std::optional<Rewritten>> negate(const Graph& graph) {
  GraphRewriter rewriter(graph);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (graph.op(id).type != "Exp") continue;
    GraphBuilder::NodeSpec spec = rewriter.node(id);
    spec.type = "Neg";
    rewriter.replace_node(id, std::move(spec));
  }
  return finish_with_bodies(graph, std::move(rewriter), &negate);
}

constexpr auto kNegate = static_cast<PassId>(40);

constexpr Pass kNegateRow = {.id = kNegate,
                             .name = "negate",
                             .help = "computes the negative number in place of the exponential one",
                             .differs = "differ",
                             .use = PassUse::request,
                             .traits = {},
                             .run = [](const Graph& graph, PassInput& /*in*/) { return negate(graph); }};

// All passes, and one more at a place.
std::vector<Pass> table_with(const Pass& pass, std::size_t place) {
  std::vector<Pass> table(all_passes().begin(), all_passes().end());
  table.insert(table.begin() + static_cast<std::ptrdiff_t>(place), pass);
  return table;
}

constexpr std::string_view kBranches = R"(graph "g" {
  input c : bool[]
  input x : f32[4]
  y = If(c) {
    then_branch = graph "t" captures (x) {
      captured input x : f32[4]
      b = Exp(x) : f32[4]
      output b
    },
    else_branch = graph "e" captures (x) {
      captured input x : f32[4]
      b = Abs(x) : f32[4]
      output b
    }
  } : f32[4]
  output y
})";

TEST(RunPasses, KeepsAChangeOfAnOperatorInABody) {
  const Graph graph = testing::graph_of(kBranches);
  const std::vector<Pass> table = table_with(kNegateRow, all_passes().size());
  const Lowered lowered = run_passes(table, graph, {.passes = {kNegate}}).value();
  EXPECT_THAT(lowered.passes, ElementsAre("negate"));
  const std::vector<Body>& bodies = lowered.graph.node(NodeId(0)).bodies;
  EXPECT_EQ(bodies[0].graph->op(NodeId(0)).type, "Neg");
  EXPECT_EQ(bodies[1].graph->op(NodeId(0)).type, "Abs");
  ASSERT_TRUE(lowered.origins);
  EXPECT_EQ(lowered.origins->bodies.size(), 1U) << "the other body stays as it is";
  EXPECT_EQ(lowered.graph.total_nodes(), graph.total_nodes());
  EXPECT_EQ(lowered.graph.total_tensors(), graph.total_tensors());
}

TEST(RunPasses, ListsNoPassThatIsOffOrChangesNothing) {
  const Graph graph = testing::graph_of(kBranches);
  const std::vector<Pass> table = table_with(kNegateRow, 0);
  EXPECT_THAT(run_passes(table, graph, {}).value().passes, IsEmpty());
  const Graph other = testing::graph_of(R"(graph "g" {
    input x : f32[4]
    y = Abs(x) : f32[4]
    output y
  })");
  const Lowered lowered = run_passes(table, other, {.passes = {kNegate}}).value();
  EXPECT_THAT(lowered.passes, IsEmpty());
  EXPECT_FALSE(lowered.origins);
}

// An Exp of a constant is work on constants, and its row decides which operator that work has.
TEST(RunPasses, RunsPassesInTheOrderOfTheRows) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[4]
    constant a : f32[4]
    e = Exp(a) : f32[4]
    y = Add(x, e) : f32[4]
    output y
  })");
  const LowerOptions options{.passes = {kNegate, PassId::load_time}};
  const Lowered before = run_passes(table_with(kNegateRow, 0), graph, options).value();
  EXPECT_THAT(before.passes, ElementsAre("negate", "load_time"));
  EXPECT_EQ(before.load.op(NodeId(0)).type, "Neg");
  const Lowered after = run_passes(table_with(kNegateRow, all_passes().size()), graph, options).value();
  EXPECT_THAT(after.passes, ElementsAre("load_time")) << "nothing is left to change";
  EXPECT_EQ(after.load.op(NodeId(0)).type, "Exp");
}

TEST(RunPasses, LeavesOutAPassThatLacksWhatItNeeds) {
  const Graph graph = testing::graph_of(kBranches);
  Pass pass = kNegateRow;
  pass.traits = {PassTrait::needs_table, PassTrait::asks_machine};
  const std::vector<Pass> table = table_with(pass, 0);
  const ConstantTable constants;
  const PassSet passes = {kNegate};
  const auto runs = [&](const LowerOptions& options) {
    return !run_passes(table, graph, options).value().passes.empty();
  };
  EXPECT_FALSE(runs({.passes = passes}));
  EXPECT_FALSE(runs({.passes = passes, .table = &constants}));
  EXPECT_FALSE(runs({.passes = passes, .machine = testing::block_formats()}));
  EXPECT_TRUE(runs({.passes = passes, .table = &constants, .machine = testing::block_formats()}));
}

// A pass of this file: turns a constant into blocks of channels.
Result<std::optional<Rewritten>> reorder_constant(const Graph& graph, PassInput& /*in*/) {
  GraphRewriter rewriter(graph);
  const TensorId constant(1);
  const TensorId blocks = rewriter.add_tensor({.name = "blocks", .shape = Shape({1, 1, 1, 1, 16})}, {constant});
  rewriter.add_node({.domain = std::string(kOwnDomain),
                     .type = std::string(kReorderType),
                     .inputs = {constant},
                     .outputs = {blocks},
                     .attributes = {{std::string(kInputFormatAttribute), std::string("plain")},
                                    {std::string(kOutputFormatAttribute), std::string("nchw16c")},
                                    {std::string(kChannelsAttribute), std::int64_t{16}}}},
                    {});
  rewriter.add_output(blocks);
  return std::move(rewriter).finish_if_changed();
}

TEST(RunPasses, MovesAddedWorkOnConstantsToLoad) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[1,16,1,1]
    constant a : f32[1,16,1,1]
    y = Add(x, a) : f32[1,16,1,1]
    output y
  })");
  Pass pass = kNegateRow;
  pass.run = &reorder_constant;
  for (const bool adds_load_time : {false, true}) {
    if (adds_load_time) pass.traits = {PassTrait::adds_load_time};
    const std::vector<Pass> table = table_with(pass, all_passes().size());
    const Lowered lowered = run_passes(table, graph, {.passes = {kNegate, PassId::load_time}}).value();
    EXPECT_EQ(lowered.load.nodes().size(), adds_load_time ? 1U : 0U);
    EXPECT_EQ(lowered.graph.nodes().size(), adds_load_time ? 1U : 2U);
    EXPECT_EQ(lowered.passes.size(), adds_load_time ? 2U : 1U);
    const Lowered without = run_passes(table, graph, {.passes = {kNegate}}).value();
    EXPECT_EQ(without.graph.nodes().size(), 2U) << "the pass 'load_time' is off";
  }
}

}  // namespace
}  // namespace lowtide::lower_internal
