// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/peak.h"

#include <gtest/gtest.h>

#include "lowtide/analysis/as_given.h"
#include "lowtide/analysis/plain_figures.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kUnit = 64;

// The plan of a graph as given, and its peaks.
struct Given {
  explicit Given(const char* text) : graph(graph_of(text)), plan(plan_as_given(graph)), labels(labels_of(graph)) {
    peaks = peaks_of(plan, labels);
  }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;

  [[nodiscard]] const std::string& name(const LiveBuffer& live) const {
    return labels.tensors[plan.program.values[*peaks[0].uses[live.buffer].name].tensor].name;
  }

  Graph graph;
  Plan plan;
  Labels labels;
  std::vector<Peak> peaks;
};

// a, b and c of 256 bytes each are live at the Add.
TEST(PlanAsGiven, HasThePeakOfPlainFigures) {
  const Given given(R"(graph "small" {
    input x : f32[64]
    a = Relu(x) : f32[64]
    b = Sigmoid(a) : f32[64]
    c = Add(a, b) : f32[64]
    d = ReduceSum(c) : f32[1]
    output d
  })");
  ASSERT_EQ(given.peaks.size(), 1U);
  const Peak& peak = given.peaks[0];
  EXPECT_EQ(peak.bytes, Bytes(3 * 256));
  EXPECT_EQ(peak.bytes, plain_figures(given.graph).load_as_given);
  EXPECT_EQ(peak.step, StepId(2));
  ASSERT_EQ(peak.buffers.size(), 3U);
  EXPECT_EQ(given.name(peak.buffers[0]), "a");
  const BufferUse& use = peak.uses[peak.buffers[0].buffer];
  EXPECT_EQ(use.first_write, StepId(0));
  EXPECT_EQ(use.last_read, StepId(2));
  EXPECT_EQ(given.plan.layout.buffers[peak.buffers[0].buffer].lifespan, (Lifespan{StepId(0), StepId(3)}));
}

// y and z of 256 bytes each, and p, q and r in one branch. The other branch has only s and t.
TEST(PlanAsGiven, CountsTheLargestBodyAsScratch) {
  const Given given(R"(graph "branches" {
    input condition : bool[]
    input x : f32[64]
    y = Relu(x) : f32[64]
    z = If(condition) "if" {
      then_branch = graph "then" captures (inner = y) {
        captured input inner : f32[64]
        p = Relu(inner) : f32[64]
        q = Sigmoid(inner) : f32[64]
        r = Add(p, q) : f32[64]
        output r
      },
      else_branch = graph "else" captures (inner = y) {
        captured input inner : f32[64]
        s = Relu(inner) : f32[64]
        t = Sigmoid(s) : f32[64]
        output t
      }
    } : f32[64]
    w = Add(y, z) : f32[64]
    output w
  })");
  ASSERT_EQ(given.peaks.size(), 2U);
  EXPECT_EQ(given.peaks[0].bytes, Bytes(5 * 256));
  EXPECT_EQ(given.peaks[0].bytes, plain_figures(given.graph).load_as_given);
  const LiveBuffer& scratch = given.peaks[0].buffers[0];
  EXPECT_EQ(given.plan.layout.buffers[scratch.buffer].kind, BufferKind::scratch);
  EXPECT_EQ(scratch.bytes, Bytes(3 * 256));
  EXPECT_EQ(given.peaks[0].uses[scratch.buffer].name, std::nullopt);
  EXPECT_EQ(given.peaks[0].uses[scratch.buffer].first_write, StepId(1));
  EXPECT_EQ(given.peaks[1].body, "then_branch");
  EXPECT_EQ(given.peaks[1].body_position, 0U);
  EXPECT_EQ(given.peaks[1].bytes, Bytes(3 * 256));
}

TEST(PlanAsGiven, HasNoStepForAGraphWithoutNodes) {
  const Given given("graph \"empty\" {\n  input x : f32[4]\n  output x\n}");
  ASSERT_EQ(given.peaks.size(), 1U);
  EXPECT_EQ(given.peaks[0].step, std::nullopt);
  EXPECT_EQ(given.peaks[0].bytes, Bytes(0));
  EXPECT_TRUE(given.peaks[0].buffers.empty());
}

// A plan of one region in which each step writes one value of 64 bytes, read by the next step.
Plan chain_of(const std::vector<Work>& works, Labels& labels) {
  Plan plan;
  plan.machine.regions.emplace_back();
  plan.layout.arena = {Bytes(2 * kUnit)};
  const auto end = static_cast<std::uint32_t>(works.size());
  for (std::uint32_t at = 0; at < end; ++at) {
    labels.nodes.push_back({"n" + std::to_string(at), "Relu"});
    labels.tensors.push_back({.name = "t" + std::to_string(at), .size = Bytes(kUnit)});
    const BufferId buffer = plan.layout.buffers.push_back(
        {.size = Bytes(kUnit), .lifespan = {StepId(at), StepId(std::min(at + 2, end))}, .placement = Placement{}});
    plan.layout.values.push_back({buffer, Offset(0)});
    Step step{.work = works[at], .writes = {plan.program.values.push_back({TensorId(at), StepId(at)})}};
    if (at > 0) step.reads = {ValueId(at - 1)};
    plan.program.steps.push_back(step);
    plan.layout.steps.push_back({});
  }
  return plan;
}

// Two buffers are live at every step except the first. A kernel is shown before an alias, and an alias before a copy.
TEST(PeakStep, PrefersKernelsThenAliases) {
  const Compute kernel{NodeId(0), KernelId(0)};
  const Copy copy{{0, kUnit}};
  Labels labels;
  const Plan mixed = chain_of({kernel, copy, Alias{NodeId(2)}, kernel, kernel}, labels);
  EXPECT_EQ(peak_step(mixed, load_by_step(mixed.layout)), StepId(3));
  const Plan without_kernel = chain_of({kernel, copy, Alias{NodeId(2)}, Alias{NodeId(3)}}, labels);
  EXPECT_EQ(peak_step(without_kernel, load_by_step(without_kernel.layout)), StepId(2));
  const Plan only_copies = chain_of({kernel, copy, copy}, labels);
  EXPECT_EQ(peak_step(only_copies, load_by_step(only_copies.layout)), StepId(1));
}

// t0 is live to the end, so 128 bytes are live at step 1, and 192 at steps 2 and 3. Only step 3 touches all of them.
TEST(PeakStep, PrefersTheKernelThatTouchesMost) {
  Labels labels;
  Plan plan = chain_of(std::vector<Work>(4, Compute{NodeId(0), KernelId(0)}), labels);
  plan.layout.buffers[BufferId(0)].lifespan.end = StepId(4);
  plan.program.steps[StepId(3)].reads = {ValueId(0), ValueId(2), ValueId(2)};
  EXPECT_EQ(touched_bytes(plan, StepId(2)), Bytes(2 * kUnit));
  EXPECT_EQ(touched_bytes(plan, StepId(3)), Bytes(3 * kUnit));
  EXPECT_EQ(peak_step(plan, load_by_step(plan.layout)), StepId(3));
  plan.program.steps[StepId(2)].work = Alias{NodeId(2)};
  EXPECT_EQ(touched_bytes(plan, StepId(2)), Bytes(0));
}

TEST(LoadByStep, CountsOneRegionOnRequest) {
  Labels labels;
  Plan plan = chain_of(std::vector<Work>(3, Compute{NodeId(0), KernelId(0)}), labels);
  EXPECT_EQ(load_by_step(plan.layout), (std::vector{Bytes(kUnit), Bytes(2 * kUnit), Bytes(2 * kUnit)}));
  plan.layout.buffers[BufferId(0)].placement->region = RegionId(1);
  EXPECT_EQ(load_by_step(plan.layout, RegionId(0)), (std::vector{Bytes(0), Bytes(kUnit), Bytes(2 * kUnit)}));
  EXPECT_EQ(load_by_step(plan.layout, RegionId(1)), (std::vector{Bytes(kUnit), Bytes(kUnit), Bytes(0)}));
}

// Three values in one buffer: t0 and t1 of 64 bytes each, and t2 of 32.
struct Shared {
  Shared() : plan(chain_of(std::vector<Work>(3, Compute{NodeId(0), KernelId(0)}), labels)) {
    for (ValuePlace& place : plan.layout.values) place.buffer = BufferId(0);
    labels.tensors[TensorId(2)].size = Bytes(kUnit / 2);
  }
  [[nodiscard]] std::optional<ValueId> name() const { return buffer_uses(plan, labels)[BufferId(0)].name; }

  Labels labels;
  Plan plan;
};

TEST(BufferUses, NameIsAnOutputThenTheLargestThenTheLastRead) {
  Shared shared;
  EXPECT_EQ(shared.name(), ValueId(1));  // as large as t0 and read later
  shared.labels.tensors[TensorId(0)].size = Bytes(2 * kUnit);
  EXPECT_EQ(shared.name(), ValueId(0));
  shared.plan.program.outputs = {ValueId(2)};
  EXPECT_EQ(shared.name(), ValueId(2));
}

TEST(BufferUses, TheFirstOfEqualValuesGivesTheName) {
  Shared shared;
  shared.plan.program.steps[StepId(2)].reads = {ValueId(0), ValueId(1)};
  EXPECT_EQ(shared.name(), ValueId(0));
  const BufferUse use = buffer_uses(shared.plan, shared.labels)[BufferId(0)];
  EXPECT_EQ(use.first_write, StepId(0));
  EXPECT_EQ(use.last_read, StepId(2));
}

}  // namespace
}  // namespace lowtide::testing
