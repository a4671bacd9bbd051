// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// One small graph for each weakness of Grappler in docs/baselines.md, with the figures of its table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/export/lean_graphdef.h"
#include "lowtide/graphdef/node_attributes.h"
#include "lowtide/graphdef/node_list.h"
#include "lowtide/grappler/grappler.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kTensor = 1'000'000;  // bytes of each tensor: 500 x 500 f32

Cluster gpu_with(std::int64_t memory) {
  return {.devices = {{.name = "/gpu:0",
                       .type = "GPU",
                       .memory_bytes = memory,
                       .cores = 1,
                       .megahertz = 1000,
                       .kilobytes_per_second = 100'000'000,
                       .architecture = "6"}}};
}

DefNode matrix_node(std::string name, std::string op, std::vector<std::string> inputs = {}) {
  DefNode node{
      .name = std::move(name), .op = std::move(op), .device = "/gpu:0", .inputs = std::move(inputs), .attributes = {}};
  set_type(node, "T", 1);
  if (node.op == "VariableV2") {
    set_type(node, "dtype", 1);
    set_shape(node, "shape", {500, 500});
  }
  return node;
}

// Live bytes in tensors, microseconds, and nodes that run again.
struct Figures {
  double tensors = 0;
  std::int64_t microseconds = 0;
  std::size_t reruns = 0;

  friend bool operator==(const Figures&, const Figures&) = default;
  friend void PrintTo(const Figures& one, std::ostream* out) {
    *out << one.tensors << " tensors, " << one.microseconds << " us, " << one.reruns << " reruns";
  }
};

LeanGraphDef planned(const std::vector<DefNode>& nodes, std::int64_t memory) {
  Result<LeanGraphDef> lean = lean_graphdef(
      with_nodes({}, nodes),
      {.cluster = gpu_with(memory), .ends = {.feeds = {}, .fetches = {nodes.back().name}}, .effort = 500'000'000});
  if (!lean) throw std::runtime_error(lean.error().describe());
  return *std::move(lean);
}

Figures figures_of(const LeanGraphDef& lean) {
  return {.tensors = static_cast<double>(lean.peak.count()) / kTensor,
          .microseconds = lean.answer.cost / 1000,
          .reruns = lean.recomputed.size()};
}

GrapplerResult rewritten(const std::vector<DefNode>& nodes, GrapplerLevel level, std::int64_t memory) {
  Result<GrapplerResult> result =
      run_grappler(with_nodes({}, nodes),
                   {.level = level, .feeds = {}, .fetches = {nodes.back().name}, .cluster = gpu_with(memory)});
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

// Of Grappler's graph, in the order with the fewest live bytes, which Grappler does not look for.
Figures grappler_figures(const std::vector<DefNode>& nodes, GrapplerLevel level, std::int64_t memory) {
  const GrapplerResult result = rewritten(nodes, level, memory);
  std::vector<DefNode> made = nodes_of_graphdef(result.graphdef);
  const auto last = std::ranges::find(made, nodes.back().name, &DefNode::name);
  std::rotate(last, last + 1, made.end());  // fetched
  Figures figures = figures_of(planned(made, 0));
  figures.reruns = result.recomputed.size();
  return figures;
}

// Forward nodes f0, f1, ..., each of the one before, and gradients g<n>, ..., g0, each of the one before and of f<i>.
std::vector<DefNode> chain(std::size_t count, const std::string& op) {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2")};
  for (std::size_t at = 0; at < count; ++at) {
    std::vector<std::string> inputs = {nodes.back().name};
    if (op == "MatMul") inputs.emplace_back("v");
    nodes.push_back(matrix_node("f" + std::to_string(at), op, inputs));
  }
  nodes.push_back(matrix_node("loss", "MatMul", {nodes.back().name, "v"}));
  for (std::size_t at = count; at-- > 0;) {
    nodes.push_back(
        matrix_node("gradients/g" + std::to_string(at), "Mul", {nodes.back().name, "f" + std::to_string(at)}));
  }
  return nodes;
}

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

// W8: v, a and b are live at once. The copy of a comes back before c runs, when v, b and a are still there, so the swap
// raises the peak.
TEST(GrapplerWeaknesses, ASwapRaisesThePeak) {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2"), matrix_node("a", "Square", {"v"}),
                                matrix_node("b", "Exp", {"a"}), matrix_node("c", "Sqrt", {"b"}),
                                matrix_node("d", "Add", {"a", "c"})};
  set_integers(nodes[4], "_swap_to_host", {0});
  const GrapplerResult result = rewritten(nodes, GrapplerLevel::manual, 3 * kTensor);
  EXPECT_EQ(result.swaps.size(), 1U);
  EXPECT_EQ(result.peaks.at(0).before, 3 * kTensor);
  EXPECT_EQ(result.peaks.at(0).after, 4 * kTensor);
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
