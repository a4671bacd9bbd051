// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Shows what grappler_weaknesses_test.cc does, for sums, swaps and sizes. The graphs of both planners are run by
// replay_graphdef, over one link.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"
#include "lowtide/earlier/rewrite/planner_runs.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/target.h"
#include "replayed_graphdef.h"
#include "weak_graphs.h"

namespace lowtide::testing {
namespace {

// Two links that are slower than the one that Grappler assumes.
constexpr TransferLink kSlow{.bytes_per_second = 4'000'000'000, .latency_nanoseconds = 20'000};
constexpr TransferLink kSlowest{.bytes_per_second = 200'000'000, .latency_nanoseconds = 20'000};

// The figures of a run over a link.
struct RunFigures {
  std::int64_t tensors = 0;
  std::int64_t microseconds = 0;
  std::size_t outs = 0;
  std::size_t ins = 0;

  friend bool operator==(const RunFigures&, const RunFigures&) = default;
  friend void PrintTo(const RunFigures& one, std::ostream* out) {
    *out << one.tensors << " tensors, " << one.microseconds << " us, " << one.outs << " out, " << one.ins << " in";
  }
};

RunFigures replayed(const ProtoMessage& graphdef, const std::string& fetch, const TransferLink& link) {
  const ReplayedGraphDef run =
      replay_graphdef(nodes_of_graphdef(graphdef), gpu_with(0), {.feeds = {}, .fetches = {fetch}}, link);
  return {
      .tensors = run.peak_bytes / kTensor, .microseconds = run.nanoseconds / 1000, .outs = run.outs, .ins = run.ins};
}

// W6: a sum in a temporary variable starts from zeros, and reads each operand once more. In parts, the first addition
// takes two operands. v and three tensors are live in both: a sum, an operand, and the next sum or a copy.
TEST(GrapplerSwaps, SumsBeginWithZeros) {
  const std::vector<DefNode> nodes = {matrix_node("v", "VariableV2"),  matrix_node("a", "Exp", {"v"}),
                                      matrix_node("b", "Neg", {"v"}),  matrix_node("c", "Sqrt", {"v"}),
                                      matrix_node("d", "Tanh", {"v"}), matrix_node("s", "AddN", {"a", "b", "c", "d"}),
                                      matrix_node("t", "Exp", {"s"})};
  const Figures theirs = grappler_figures(nodes, GrapplerLevel::scheduling, 4 * kTensor);
  EXPECT_EQ(theirs, (Figures{.tensors = 4, .microseconds = 520, .reruns = 0}));
  EXPECT_EQ(figures_of(planned(nodes, 4 * kTensor)), (Figures{.tensors = 4, .microseconds = 416, .reruns = 0}));
  EXPECT_EQ(figures_of(planned(nodes, 6 * kTensor)), (Figures{.tensors = 6, .microseconds = 376, .reruns = 0}));
}

// w -> a, which the operators g0, g1 and g2 read late. In between, a chain b0, ..., b5 needs memory. a runs once,
// because u writes w.
std::vector<DefNode> with_late_readers() {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2"), matrix_node("w", "VariableV2"),
                                matrix_node("a", "Square", {"w"}), matrix_node("b0", "Exp", {"a"}),
                                matrix_node("b1", "MatMul", {"b0", "v"})};
  for (int at = 2; at < 6; ++at)
    nodes.push_back(matrix_node("b" + std::to_string(at), "MatMul", {nodes.back().name, "b" + std::to_string(at - 2)}));
  for (int at = 0; at < 3; ++at) {
    nodes.push_back(matrix_node("g" + std::to_string(at), "MatMul", {nodes.back().name, "a"}));
    set_integers(nodes.back(), "_swap_to_host", {1});
  }
  nodes.push_back(matrix_node("u", "AssignAdd", {"w", "g2"}));
  return nodes;
}

// W7: each late reader has a pair of copies. v, w, a and three of the chain are live without swaps.
TEST(GrapplerSwaps, EachReaderHasAPairOfCopies) {
  const std::vector<DefNode> nodes = with_late_readers();
  const GrapplerResult theirs = rewritten(nodes, GrapplerLevel::manual, 5 * kTensor);
  EXPECT_EQ(replayed(theirs.graphdef, "u", kLinkOfGrappler),
            (RunFigures{.tensors = 6, .microseconds = 16190, .outs = 3, .ins = 3}));
  const LeanGraphDef ours = planned(nodes, 5 * kTensor, kLinkOfGrappler);
  EXPECT_EQ(replayed(ours.graphdef, "u", kLinkOfGrappler),
            (RunFigures{.tensors = 5, .microseconds = 16065, .outs = 1, .ins = 1}));
}

// W8: the copy of a comes back before e runs, when v, b, c and e are there, so by Grappler's own simulation the swap
// raises the peak. Lowtide's copy comes back after e.
TEST(GrapplerSwaps, ASwapRaisesThePeak) {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2"),      matrix_node("a", "Square", {"v"}),
                                matrix_node("b", "Exp", {"a"}),      matrix_node("c", "Sqrt", {"b"}),
                                matrix_node("e", "Mul", {"c", "b"}), matrix_node("f", "Tanh", {"e"}),
                                matrix_node("d", "Add", {"a", "f"})};
  set_integers(nodes.back(), "_swap_to_host", {0});
  const GrapplerResult theirs = rewritten(nodes, GrapplerLevel::manual, 4 * kTensor);
  EXPECT_EQ(theirs.peaks.at(0).before, 4 * kTensor);
  EXPECT_EQ(theirs.peaks.at(0).after, 5 * kTensor);
  EXPECT_EQ(replayed(theirs.graphdef, "d", kLinkOfGrappler).microseconds, 360);
  const LeanGraphDef ours = planned(nodes, 4 * kTensor, kLinkOfGrappler);
  EXPECT_EQ(replayed(ours.graphdef, "d", kLinkOfGrappler),
            (RunFigures{.tensors = 4, .microseconds = 298, .outs = 1, .ins = 1}));
  EXPECT_TRUE(ours.answer.is_optimal());
}

// W9: Grappler takes the link for one of 16 GB/s without latency, so its copies come back too late on a slower one. It
// also stops above the memory.
TEST(GrapplerSwaps, TheLinkIsTakenForAFastOne) {
  const std::vector<DefNode> nodes = chain(8, "MatMul");
  const GrapplerResult theirs = rewritten(nodes, GrapplerLevel::swapping, 7 * kTensor);
  EXPECT_EQ(replayed(theirs.graphdef, nodes.back().name, kSlow),
            (RunFigures{.tensors = 9, .microseconds = 19055, .outs = 2, .ins = 2}));
  const LeanGraphDef ours = planned(nodes, 7 * kTensor, kSlow);
  EXPECT_EQ(replayed(ours.graphdef, nodes.back().name, kSlow),
            (RunFigures{.tensors = 7, .microseconds = 18992, .outs = 4, .ins = 4}));
  EXPECT_EQ(ours.answer.cost_bound / 1000, 18838);
}

// W12: live bytes alone. A hundred numbers that are added need 100 places of 256 bytes in memory with that alignment.
// The sum is written over one of them, and the variable is outside of the arena.
TEST(GrapplerSwaps, AlignmentIsNotCounted) {
  std::vector<DefNode> nodes = {matrix_node("v", "VariableV2")};
  set_shape(nodes[0], "shape", {});
  std::vector<std::string> operands;
  for (int at = 0; at < 100; ++at) {
    nodes.push_back(matrix_node("a" + std::to_string(at), "Square", {"v"}));
    operands.push_back(nodes.back().name);
  }
  nodes.push_back(matrix_node("s", "AddN", operands));
  EXPECT_EQ(rewritten(nodes, GrapplerLevel::manual, kTensor).peaks.at(0).before, 102 * 4);
  Target target = dense_target();
  for (Region& region : target.machine.regions) region.alignment = Bytes(256);
  const Result<GraphOfGraphDef> graph = graph_of_graphdef(with_nodes({}, nodes), {});
  ASSERT_TRUE(graph) << graph.error().describe();
  PlanOptions options;
  options.budget = Bytes(99 * 256);
  const Result<PlannedGraph> plan = plan_graph(graph->graph, target, options);
  ASSERT_TRUE(plan) << plan.error().describe();
  EXPECT_EQ(plan->counted, Bytes(100 * 256 + 4));
  EXPECT_GT(plan->shortfall, Bytes(0));
}

// W13: one or the other. With a link so slow that a product takes no longer than a copy, the best sequence for 7
// tensors runs three nodes again and moves one. In the second graph all nodes run once, because they read a variable
// that a node writes.
TEST(GrapplerSwaps, RecomputationAndSwapsWorkTogether) {
  const std::vector<DefNode> nodes = chain(8, "MatMul");
  const LeanGraphDef reruns = planned(nodes, 7 * kTensor);
  EXPECT_EQ(figures_of(reruns), (Figures{.tensors = 7, .microseconds = 26036, .reruns = 4}));
  std::vector<DefNode> once = nodes;
  once.push_back(matrix_node("u", "AssignAdd", {"v", once.back().name}));
  EXPECT_EQ(planned(once, 7 * kTensor, kSlowest).answer.cost / 1000, 42237);
  const LeanGraphDef both = planned(nodes, 7 * kTensor, kSlowest);
  EXPECT_EQ(figures_of(both), (Figures{.tensors = 7, .microseconds = 24053, .reruns = 3}));
  EXPECT_EQ(both.swaps.size(), 1U);
  EXPECT_TRUE(both.answer.is_optimal());
}

// W13: less memory never takes less time, and has no lower bound.
TEST(GrapplerSwaps, LessMemoryNeverTakesLessTime) {
  const std::vector<DefNode> nodes = chain(8, "MatMul");
  std::int64_t cost = 0;
  for (std::int64_t tensors = 11; tensors >= 4; --tensors) {
    const LeanGraphDef plan = planned(nodes, tensors * kTensor, kSlowest);
    ASSERT_EQ(plan.answer.outcome, BudgetOutcome::found) << tensors;
    EXPECT_GE(plan.answer.cost, cost) << tensors;
    EXPECT_LE(plan.answer.cost_bound, plan.answer.cost) << tensors;
    cost = plan.answer.cost;
  }
}

}  // namespace
}  // namespace lowtide::testing
