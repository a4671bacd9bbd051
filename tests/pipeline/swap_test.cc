// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lowtide/target/add_link.h"
#include "lowtide/verify/verify.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"
#include "tests/verify/interleavings.h"

namespace lowtide::testing {
namespace {

// f0, f1 and f2 have 256 bytes, b2, b1 and b0 have 64. No f may run again, because two runs would give other numbers.
// The largest working set is that of f1 and f2, which read 256 bytes and write 256. While b2 runs, all f are needed
// later or now: 3 * 256 + 64 = 832. The caller holds x, 64 bytes.
constexpr const char* kStep = R"(graph "g" {
  input x : f32[16]
  f0 = RandomNormalLike(x) : f32[64]
  f1 = Conv(f0) : f32[64]
  r1 = RandomNormalLike(f1) : f32[64]
  b2 = Conv(r1) : f32[16]
  b1 = Conv(f1, b2) : f32[16]
  b0 = Conv(f0, b1) : f32[16]
  output b0
})";
constexpr Bytes kImage(64);
constexpr std::int64_t kFast = 1'000'000'000'000'000;  // bytes per second; each transfer takes 1 ns

Target linked(std::int64_t bytes_per_second) {
  Result<Target> target = add_link(dense_target(), {.bytes_per_second = bytes_per_second});
  EXPECT_TRUE(target.ok());
  return *std::move(target);
}

PlanOptions options_with_arena(std::int64_t arena) {
  return {.budget = kImage + Bytes(arena), .recompute_effort = 100'000'000};
}

bool moves(const Graph& graph, const PlannedGraph& planned, const std::string& name) {
  const std::vector<Swap>& swaps = planned.recomputation->swaps;
  return std::any_of(swaps.begin(), swaps.end(),
                     [&](const Swap& swap) { return graph.tensor(swap.tensor).name == name; });
}

TEST(Swap, KeepsABudgetThatRerunsCannotKeep) {
  const Graph graph = graph_of(kStep);
  const PlannedGraph without = must_plan(graph, options_with_arena(512));
  EXPECT_FALSE(without.fits());
  const PlannedGraph planned = must_plan(graph, options_with_arena(512), linked(kFast));
  EXPECT_TRUE(planned.fits());
  EXPECT_LE(arena_bytes(planned.plan), Bytes(512));
  ASSERT_TRUE(planned.recomputation);
  EXPECT_EQ(planned.recomputation->outcome, BudgetOutcome::found);
  EXPECT_TRUE(planned.recomputation->reruns.empty());
  EXPECT_TRUE(moves(graph, planned, "f0"));
  EXPECT_TRUE(moves(graph, planned, "f1") || moves(graph, planned, "r1"));
  // Two results of 256 bytes are outside at once, or one after another.
  EXPECT_GE(outside_bytes(planned.plan), Bytes(256));
  EXPECT_EQ(planned.recomputation->outside, outside_bytes(planned.plan));
  EXPECT_EQ(planned.plan.execution, ExecutionModel::streams);
  EXPECT_EQ(fault_of_some_run(graph, planned.plan), "");
}

TEST(Swap, IsInfeasibleOnlyBelowAWorkingSet) {
  const PlannedGraph planned = must_plan(graph_of(kStep), options_with_arena(511), linked(kFast));
  EXPECT_FALSE(planned.fits());
  ASSERT_TRUE(planned.recomputation);
  EXPECT_EQ(planned.recomputation->outcome, BudgetOutcome::infeasible);
  ASSERT_TRUE(planned.recomputation->obstruction);
  EXPECT_EQ(planned.recomputation->obstruction->kind, ObstructionKind::working_set);
  EXPECT_EQ(planned.recomputation->obstruction->sets, 0U);
}

TEST(Swap, OutputsAtTheEndAreAnObstruction) {
  // The outputs need 3 * 256 bytes, and no node more than 512.
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[64]
    b = Conv(a) : f32[64]
    c = Conv(b) : f32[64]
    output a
    output b
    output c
  })");
  const PlannedGraph planned = must_plan(graph, options_with_arena(767), linked(kFast));
  ASSERT_TRUE(planned.recomputation);
  EXPECT_EQ(planned.recomputation->outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(planned.recomputation->obstruction->kind, ObstructionKind::outputs_at_end);
  EXPECT_FALSE(planned.recomputation->obstruction->node);
}

// A slow link makes the plan wait. With a fast one, only the kernels take time, except for a few nanoseconds.
TEST(Swap, TheClockCountsWhatTheLinkDelays) {
  const Graph graph = graph_of(kStep);
  const PlannedGraph fast = must_plan(graph, options_with_arena(512), linked(kFast));
  const PlannedGraph slow = must_plan(graph, options_with_arena(512), linked(1'000'000));
  ASSERT_TRUE(fast.fits() && slow.fits());
  EXPECT_LE(fast.recomputation->stall_picoseconds, 10'000);
  // f0 leaves before f1 has all bytes of r1, so its 256 bytes take 256 us out and 256 us in: 512e6 picoseconds.
  EXPECT_GE(slow.recomputation->picoseconds, 512'000'000);
  std::int64_t kernels = slow.recomputation->base_picoseconds;
  for (const Rerun& rerun : slow.recomputation->reruns) kernels += rerun.picoseconds;
  EXPECT_EQ(slow.recomputation->picoseconds, kernels + slow.recomputation->stall_picoseconds);
  EXPECT_GE(slow.recomputation->picoseconds, slow.recomputation->bound_picoseconds);
  EXPECT_GE(fast.recomputation->bound_picoseconds, fast.recomputation->base_picoseconds / 1000 * 999);
}

// The search takes a rerun where the link is slow, and a transfer where it is fast.
TEST(Swap, ChoosesBetweenARerunAndATransfer) {
  std::string text = kStep;
  for (const std::string name : {"f0", "r1"}) {
    const std::size_t at = text.find(name + " = RandomNormalLike");
    text.replace(at, name.size() + 19, name + " = Conv");
  }
  const Graph graph = graph_of(text);
  const PlannedGraph fast = must_plan(graph, options_with_arena(576), linked(kFast));
  const PlannedGraph slow = must_plan(graph, options_with_arena(576), linked(1'000));
  ASSERT_TRUE(fast.fits() && slow.fits());
  EXPECT_TRUE(fast.recomputation->reruns.empty());
  EXPECT_FALSE(fast.recomputation->swaps.empty());
  EXPECT_FALSE(slow.recomputation->reruns.empty());
  EXPECT_TRUE(slow.recomputation->swaps.empty());
  EXPECT_EQ(slow.plan.execution, ExecutionModel::sequence);
}

TEST(Swap, ViewsFollowWhatComesBack) {
  std::string text = kStep;
  const std::string old = "b0 = Conv(f0, b1)";
  text.replace(text.find(old), old.size(),
               "v = Flatten(f0) : f32[1,64]\n  w = Identity(v) : f32[1,64]\n  b0 = Conv(w, b1)");
  const Graph graph = graph_of(text);
  // With 512 bytes, f0 must leave: it is not read while f1 and r1 are.
  const PlannedGraph planned = must_plan(graph, options_with_arena(512), linked(kFast));
  EXPECT_TRUE(planned.fits());
  EXPECT_TRUE(moves(graph, planned, "f0"));
  EXPECT_EQ(fault_of_some_run(graph, planned.plan), "");
}

TEST(Swap, NeedsSpaceOutside) {
  Target target = linked(kFast);
  target.machine.regions[1].capacity = Bytes(255);
  const PlannedGraph planned = must_plan(graph_of(kStep), options_with_arena(512), target);
  EXPECT_FALSE(planned.fits());
  EXPECT_EQ(planned.recomputation->outcome, BudgetOutcome::not_found);
}

TEST(Swap, IsNotTriedWithoutALinkBack) {
  Target target = linked(kFast);
  const Link out = target.machine.links[LinkId(0)];
  target.machine.links = {};
  target.machine.links.push_back(Link(out));
  const PlannedGraph planned = must_plan(graph_of(kStep), options_with_arena(512), target);
  EXPECT_FALSE(planned.fits());
  EXPECT_FALSE(planned.recomputation->has_link);
}

TEST(Swap, HintsSayWhatRunsOnce) {
  std::string text = kStep;
  text.replace(text.find("RandomNormalLike"), 16, "Conv");
  const Graph graph = graph_of(text);
  const NodeId f0 = *graph.tensor(TensorId(1)).producer;
  const auto runs_again = [&](const PlanOptions& options) {
    const PlannedGraph planned = must_plan(graph, options, linked(1'000));
    EXPECT_TRUE(planned.fits());
    const std::vector<Rerun>& reruns = planned.recomputation->reruns;
    return std::any_of(reruns.begin(), reruns.end(), [&](const Rerun& rerun) { return rerun.node == f0; });
  };
  // A transfer of 256 bytes takes 256 ms each way, and a rerun about a microsecond.
  EXPECT_TRUE(runs_again(options_with_arena(576)));
  for (const HintKind kind : {HintKind::keep, HintKind::swap}) {
    PlanOptions options = options_with_arena(576);
    options.hints = {{f0, kind}};
    EXPECT_FALSE(runs_again(options));
  }
}

// What is outside does not count for the arena, so an output must not be left there.
TEST(Swap, AnOutputIsNotOutside) {
  const Graph graph = graph_of(kStep);
  PlannedGraph planned = must_plan(graph, options_with_arena(512), linked(kFast));
  const RegionId outside(1);
  for (BufferId id : all_ids<BufferId>(planned.plan.layout.buffers.size())) {
    Buffer& buffer = planned.plan.layout.buffers[id];
    if (buffer.kind == BufferKind::output) buffer.placement->region = outside;
  }
  const std::vector<Violation> found = verify(graph, planned.plan);
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const Violation& one) {
    return one.kind == ViolationKind::unreachable && one.message.find("holds an output in region") != std::string::npos;
  }));
}

// Nodes f0, f1, ... are a chain, and nodes b read them in the reverse order, some of them through views or joined with
// the next one. Nodes d read the next one after that.
Graph random_skips(Random& random) {
  const auto type_of = [&](std::int64_t rows) { return " : f32[" + std::to_string(rows) + ",4]\n"; };
  std::string text = "graph \"g\" {\n  input x" + type_of(1);
  const std::int64_t count = random.between(3, 4);
  std::vector<std::int64_t> rows;
  std::string last = "x";
  for (std::int64_t at = 0; at < count; ++at) {
    rows.push_back(random.between(1, 4));
    const std::string name = "f" + std::to_string(at);
    text += "  " + name + (random.chance(50) ? " = RandomNormalLike(" : " = Conv(") + last + ")" + type_of(rows.back());
    last = name;
  }
  for (std::int64_t at = count; at-- > 0;) {
    const std::string number = std::to_string(at);
    std::string read = "f" + number;
    if (random.chance(30)) {
      text += "  v" + number + " = Reshape(" + read + ")" + type_of(rows[static_cast<std::size_t>(at)]);
      read = "v" + number;
    } else if (at + 1 < count && random.chance(30)) {
      const std::int64_t both = rows[static_cast<std::size_t>(at)] + rows[static_cast<std::size_t>(at + 1)];
      text += "  v" + number + " = Concat(" + read + ", f" + std::to_string(at + 1) + ") {axis = 0}" + type_of(both);
      read = "v" + number;
    }
    text += "  b" + number + " = Conv(" + read + ", " + last + ")" + type_of(random.between(1, 2));
    last = "b" + number;
    // An operand of the joined tensor is read again after it.
    if (at + 1 < count && read.starts_with('v') && random.chance(40)) {
      text += "  d" + number + " = Conv(f" + std::to_string(at + 1) + ", " + last + ")" + type_of(1);
      last = "d" + number;
    }
  }
  return graph_of(text + "  output " + last + "\n}");
}

// Every way in which streams and waits let the steps run gives what it should, and the verifier finds nothing.
TEST(Swap, NoRunOfRandomPlansGoesWrong) {
  Random random(11);
  int moved = 0;
  int small = 0;
  Target base = dense_target();
  base.machine.regions[0].alignment = Bytes(16);  // of a row of four floats
  for (int round = 0; round < 200; ++round) {
    const Target target =
        *add_link(base, {.bytes_per_second = random.chance(50) ? kFast : std::int64_t{1'000'000'000}});
    const Graph graph = random_skips(random);
    const PlannedGraph plain = must_plan(graph, {}, target);
    const Bytes budget = plain.caller + arena_bytes(plain.plan) - Bytes(16 * random.between(1, 4));
    const PlannedGraph planned = must_plan(
        graph, {.budget = budget, .order_effort = 1'000'000, .allocate_effort = 100'000, .recompute_effort = 5'000'000},
        target);
    if (planned.plan.program.streams.size() == 1) continue;
    ++moved;
    ASSERT_TRUE(planned.fits());
    if (planned.plan.program.steps.size() > 20) continue;
    ++small;
    ASSERT_EQ(fault_of_some_run(graph, planned.plan), "") << print_graph(graph);
  }
  EXPECT_GE(moved, 60);
  EXPECT_GE(small, 50);
}

}  // namespace
}  // namespace lowtide::testing
