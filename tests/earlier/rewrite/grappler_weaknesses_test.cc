// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// One small graph for each weakness of Grappler in docs/baselines.md, with the figures of its table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"
#include "weak_graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The arithmetic of a chain of n layers: v, f0 to f<n - 1>, the loss and one gradient are live at once, n + 3 tensors.

// W1: a list of cheap operators. Products of matrices are not in it, so Grappler runs none again.
TEST(GrapplerWeaknesses, OnlyCheapOperatorsRunAgain) {
  const std::vector<DefNode> nodes = chain(8, "MatMul");
  const Figures theirs = grappler_figures(nodes, GrapplerLevel::heuristics, 6 * kTensor);
  EXPECT_EQ(theirs, (Figures{.tensors = 11, .microseconds = 18183, .reruns = 0}));
  EXPECT_EQ(figures_of(planned(nodes, 6 * kTensor)), (Figures{.tensors = 6, .microseconds = 28019, .reruns = 5}));
}

// W2: no target. With room for everything, Grappler still recomputes each layer.
TEST(GrapplerWeaknesses, ItRecomputesWithoutNeed) {
  const std::vector<DefNode> nodes = chain(10, "Relu");
  const Figures theirs = grappler_figures(nodes, GrapplerLevel::recomputation, 100 * kTensor);
  EXPECT_EQ(theirs, (Figures{.tensors = 13, .microseconds = 2741, .reruns = 10}));
  EXPECT_EQ(figures_of(planned(nodes, 100 * kTensor)), (Figures{.tensors = 13, .microseconds = 2522, .reruns = 0}));
}

// W3: a residual net is one group, which runs before any gradient, so its tensors are all live once more.
TEST(GrapplerWeaknesses, AResidualNetIsOneGroup) {
  std::vector<DefNode> nodes = chain(8, "Relu");
  for (std::size_t at = 2; at < 9; ++at) {
    nodes[at] = matrix_node(nodes[at].name, "Add", {nodes[at - 1].name, nodes[at - 2].name});
  }
  const Figures theirs = grappler_figures(nodes, GrapplerLevel::recomputation, 5 * kTensor);
  EXPECT_EQ(theirs, (Figures{.tensors = 11, .microseconds = 2730, .reruns = 8}));
  EXPECT_EQ(figures_of(planned(nodes, 5 * kTensor)), (Figures{.tensors = 5, .microseconds = 2837, .reruns = 6}));
}

// W4: only the bare name of a node is redirected. Here the gradients read "f0:0", the same output.
TEST(GrapplerWeaknesses, OnlyBareNamesAreRedirected) {
  std::vector<DefNode> nodes = chain(8, "Relu");
  for (DefNode& node : nodes) {
    if (node.op == "Mul") node.inputs[1] += ":0";
  }
  const GrapplerResult result = rewritten(nodes, GrapplerLevel::recomputation, 0);
  for (const DefNode& node : nodes_of_graphdef(result.graphdef)) {
    if (node.op != "Mul") continue;
    EXPECT_THAT(node.inputs[1], Not(HasSubstr("Recomputed"))) << node.name;
  }
  EXPECT_EQ(figures_of(planned(nodes, 5 * kTensor)), (Figures{.tensors = 5, .microseconds = 2611, .reruns = 6}));
}

// W5: what is random runs again too, with another result, if a hint asks for it.
TEST(GrapplerWeaknesses, RandomNodesRunAgain) {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2"), matrix_node("r", "Multinomial", {"v", "v"}),
                                matrix_node("loss", "MatMul", {"r", "v"}),
                                matrix_node("gradients/g", "Mul", {"loss", "r"})};
  set_true(nodes[1], "_recompute_hint");
  EXPECT_THAT(rewritten(nodes, GrapplerLevel::manual, 0).recomputed, ElementsAre("r"));
  EXPECT_THAT(planned(nodes, kTensor).recomputed, IsEmpty());
}

// W10: one round. Grappler stops far above the memory, and does not say so. Lowtide keeps 4 tensors, which is proven to
// be the least time for them, and proves that 3 are too few.
TEST(GrapplerWeaknesses, ItStopsAboveTheMemory) {
  const std::vector<DefNode> nodes = chain(10, "Relu");
  const Figures theirs = grappler_figures(nodes, GrapplerLevel::heuristics, 4 * kTensor);
  EXPECT_EQ(theirs.tensors, 13);
  const LeanGraphDef four = planned(nodes, 4 * kTensor);
  EXPECT_EQ(four.answer.outcome, BudgetOutcome::found);
  EXPECT_EQ(figures_of(four).tensors, 4);
  EXPECT_EQ(planned(nodes, 4 * kTensor - 1).answer.outcome, BudgetOutcome::infeasible);
}

// W11: whole microseconds. Tensors of operators that take less all seem to live at once, or one after another.
TEST(GrapplerWeaknesses, ShortOperatorsFallOnOneMicrosecond) {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2")};
  set_shape(nodes[0], "shape", {1});
  for (int at = 0; at < 100; ++at)
    nodes.push_back(matrix_node("a" + std::to_string(at), "Square", {nodes.back().name}));
  Cluster cluster = gpu_with(0);
  cluster.devices[0].megahertz = 1'000'000;
  const SimulatedRun run = simulate_run(nodes, cluster, {.feeds = {}, .fetches = {nodes.back().name}}).value();
  const Result<LeanGraphDef> lean =
      lean_graphdef(with_nodes({}, nodes), {.cluster = cluster, .ends = {.feeds = {}, .fetches = {nodes.back().name}}});
  EXPECT_EQ(run.peak_bytes.at(0), 101 * 4);
  EXPECT_EQ(lean.value().peak, Bytes(3 * 4));
}

// W14: a hint that is a number is understood by the pass, but not by the simulation. What is no GPU gets no copies.
TEST(GrapplerWeaknesses, HintsOnACpuAreIgnored) {
  std::vector<DefNode> nodes = chain(3, "Relu");
  for (DefNode& node : nodes) node.device = "/cpu:0";
  set_true(nodes.back(), "_swap_to_host");
  Cluster cluster = gpu_with(0);
  cluster.devices[0].name = "/cpu:0";
  cluster.devices[0].type = "CPU";
  const Result<GrapplerResult> result =
      run_grappler(with_nodes({}, nodes),
                   {.level = GrapplerLevel::manual, .feeds = {}, .fetches = {nodes.back().name}, .cluster = cluster});
  EXPECT_THAT(result.value().swaps, IsEmpty());
}

}  // namespace
}  // namespace lowtide::testing
