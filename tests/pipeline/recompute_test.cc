// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

constexpr Bytes kInputBytes(64);

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, old.size(), by);
}

std::vector<std::string> reruns_of(const Graph& graph, const PlannedGraph& planned) {
  std::vector<std::string> names;
  for (const Rerun& rerun : planned.recomputation->reruns) {
    const std::string& name = graph.tensor(*graph.node(rerun.node).outputs[0]).name;
    names.push_back(name + " " + std::to_string(rerun.times));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Recompute, KeepsABudgetWithOneMoreRun) {
  const Graph graph = graph_of(kTrainingStep);
  const PlannedGraph planned = must_plan(graph, {.budget = kInputBytes + Bytes(576)});
  EXPECT_TRUE(planned.fits());
  EXPECT_LE(arena_bytes(planned.plan), Bytes(576));
  ASSERT_TRUE(planned.recomputation);
  EXPECT_EQ(planned.recomputation->outcome, BudgetOutcome::found);
  EXPECT_EQ(reruns_of(graph, planned), Names{"f0 1"});
  EXPECT_TRUE(recomputes(planned.plan.program));
  EXPECT_EQ(planned.recomputation->picoseconds,
            planned.recomputation->base_picoseconds + planned.recomputation->reruns[0].picoseconds);
  EXPECT_EQ(planned.recomputation->picoseconds, planned.recomputation->bound_picoseconds);
}

// While b2 runs, f1 is kept for b1. Its node reads f0, which is not kept, so f0 would have to run earlier, too. With a
// hint, it may not leave.
TEST(Recompute, SaysWhatIsKeptAtThePeakAndWhy) {
  const Graph graph = graph_of(kTrainingStep);
  const PlannedGraph planned = must_plan(graph, {.budget = kInputBytes + Bytes(576)});
  ASSERT_TRUE(planned.recomputation);
  ASSERT_EQ(planned.recomputation->kept.size(), 1U);
  const KeptTensor& kept = planned.recomputation->kept[0];
  const NodeId f1(1);
  EXPECT_EQ(graph.tensor(kept.tensor).name, "f1");
  EXPECT_EQ(kept.bytes, Bytes(256));
  EXPECT_EQ(node_of(planned.plan.program.steps[kept.step]), NodeId(3));  // b2
  ASSERT_TRUE(kept.next_read);
  EXPECT_EQ(node_of(planned.plan.program.steps[*kept.next_read]), NodeId(4));  // b1
  EXPECT_EQ(kept.reason, KeptReason::costs_more);
  EXPECT_GT(kept.picoseconds, 0);
  ASSERT_EQ(kept.absent.size(), 1U);
  EXPECT_EQ(graph.tensor(kept.absent[0]).name, "f0");
  const PlannedGraph hinted = must_plan(graph, {.budget = kInputBytes + Bytes(576), .hints = {{f1, HintKind::keep}}});
  ASSERT_EQ(hinted.recomputation->kept.size(), 1U);
  EXPECT_EQ(hinted.recomputation->kept[0].reason, KeptReason::hint);
}

TEST(Recompute, ProvesThatNoRecomputationFits) {
  // b1 reads f1 and b2. Whichever is made last, the other is live: f1 is made from f0, 256 + 256 + 64 bytes, and b2
  // from f2, 256 + 64 + 256.
  const PlannedGraph planned = must_plan(graph_of(kTrainingStep), {.budget = kInputBytes + Bytes(575)});
  EXPECT_FALSE(planned.fits());
  ASSERT_TRUE(planned.recomputation);
  EXPECT_EQ(planned.recomputation->outcome, BudgetOutcome::infeasible);
  ASSERT_TRUE(planned.recomputation->obstruction);
  EXPECT_GT(planned.recomputation->obstruction->sets, 0U);
  EXPECT_FALSE(recomputes(planned.plan.program));
}

TEST(Recompute, DoesNothingIfThePlanFits) {
  const Graph graph = graph_of(kTrainingStep);
  const PlannedGraph planned = must_plan(graph, {.budget = kInputBytes + Bytes(832)});
  EXPECT_FALSE(planned.recomputation);
  EXPECT_EQ(planned.plan.program, must_plan(graph).plan.program);
}

TEST(Recompute, CanBeSkipped) {
  const PlannedGraph planned =
      must_plan(graph_of(kTrainingStep), {.budget = kInputBytes + Bytes(576), .skip = {PlanStage::recompute}});
  EXPECT_FALSE(planned.fits());
  EXPECT_FALSE(planned.recomputation);
}

// A second run would give other numbers, or have effects twice.
TEST(Recompute, NeverRepeatsRandomUnknownOrStatefulNodes) {
  for (const std::string op : {"RandomNormalLike", "custom::Unknown"}) {
    const Graph graph = graph_of(replaced(kTrainingStep, "f0 = Conv(x)", "f0 = " + op + "(x)"));
    const PlannedGraph planned =
        must_plan(graph, {.budget = kInputBytes + Bytes(576), .recompute_effort = 100'000'000});
    EXPECT_FALSE(planned.fits()) << op;
    ASSERT_TRUE(planned.recomputation);
    EXPECT_EQ(planned.recomputation->outcome, BudgetOutcome::not_found) << op;
    EXPECT_FALSE(recomputes(planned.plan.program));
  }
}

// b0 reads f0 through two views. They follow the second run, and take no time.
TEST(Recompute, ViewsFollowTheRunThatTheyRead) {
  const std::string views = "v = Flatten(f0) : f32[1,64]\n  w = Identity(v) : f32[1,64]\n  b0 = Conv(w, b1)";
  const Graph graph = graph_of(replaced(kTrainingStep, "b0 = Conv(f0, b1)", views));
  const PlannedGraph planned = must_plan(graph, {.budget = kInputBytes + Bytes(576)});
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(reruns_of(graph, planned), Names{"f0 1"});
}

TEST(Recompute, ANodeWithSeveralOutputsRunsAgainAsAWhole) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    f0, g0 = TopK(x) : f32[64], f32[16]
    f1 = Conv(f0) : f32[64]
    f2 = Conv(f1) : f32[64]
    b2 = Conv(f2) : f32[16]
    b1 = Conv(f1, b2) : f32[16]
    b0 = Conv(f0, b1, g0) : f32[16]
    output b0
  })");
  EXPECT_FALSE(must_plan(graph, {.budget = kInputBytes + Bytes(640), .skip = {PlanStage::recompute}}).fits());
  const PlannedGraph planned = must_plan(graph, {.budget = kInputBytes + Bytes(640)});
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(reruns_of(graph, planned), Names{"f0 1"});
}

TEST(Recompute, AnOutputMayBeComputedAgainAtTheEnd) {
  const Graph graph = graph_of(replaced(kTrainingStep, "output b0", "output b0, f0"));
  const PlannedGraph planned = must_plan(graph, {.budget = kInputBytes + Bytes(640)});
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(reruns_of(graph, planned), Names{"f0 1"});
}

// The branches run once, and read what runs again.
TEST(Recompute, NodesWithBodiesRunOnce) {
  const Graph graph = graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[16]
    f0 = Conv(x) : f32[64]
    f1 = Conv(f0) : f32[64]
    f2 = Conv(f1) : f32[64]
    b2 = Conv(f2) : f32[16]
    b1 = Conv(f1, b2) : f32[16]
    b0 = If(c) "choose" {
      then_branch = graph "then" captures (f0, b1) {
        captured input f0 : f32[64]
        captured input b1 : f32[16]
        p = Conv(f0, b1) : f32[16]
        output p
      },
      else_branch = graph "else" captures (b1) {
        captured input b1 : f32[16]
        q = Conv(b1) : f32[16]
        output q
      }
    } : f32[16]
    output b0
  })");
  const PlannedGraph planned = must_plan(graph, {.budget = kInputBytes + Bytes(1 + 576)});
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(reruns_of(graph, planned), Names{"f0 1"});
}

// Every plan within a budget is correct. A budget that some plan keeps is never called impossible, and no plan is
// faster than the bound for its arena.
TEST(Recompute, RandomPlansAreVerifiedAndWithinTheirBounds) {
  Random random(31);
  int found = 0;
  int infeasible = 0;
  for (int round = 0; round < 60; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(4, 24)));
    PlanOptions options{.order_effort = 10'000'000, .allocate_effort = 1'000'000, .recompute_effort = 20'000'000};
    const PlannedGraph plain = must_plan(graph, options);
    const Bytes arena = arena_bytes(plain.plan);
    options.budget = plain.caller + Bytes(arena.count() * random.between(50, 99) / 100);
    const PlannedGraph planned = must_plan(graph, options);
    if (!planned.recomputation) continue;
    infeasible += planned.recomputation->outcome == BudgetOutcome::infeasible ? 1 : 0;
    ASSERT_EQ(planned.fits(), planned.recomputation->outcome == BudgetOutcome::found);
    if (!planned.fits()) continue;
    ++found;
    ASSERT_GE(planned.recomputation->picoseconds, planned.recomputation->bound_picoseconds);
    options.budget = plain.caller + arena_bytes(planned.plan);
    const PlannedGraph again = must_plan(graph, options);
    ASSERT_TRUE(again.recomputation || again.fits());
    if (!again.recomputation) continue;
    ASSERT_NE(again.recomputation->outcome, BudgetOutcome::infeasible) << print_graph(graph);
    ASSERT_LE(again.recomputation->bound_picoseconds, planned.recomputation->picoseconds) << print_graph(graph);
  }
  EXPECT_GT(found, 3);
  EXPECT_GT(infeasible, 1);
}

}  // namespace
}  // namespace lowtide::testing
