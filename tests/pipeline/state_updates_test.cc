// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "lowtide/pipeline/planned_graph.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/verify/interleavings.h"

namespace lowtide::testing {
namespace {

// Floats are 4 bytes, the alignment is 64: every tensor takes 64.
constexpr const char* kRecurrent = R"(graph "g" {
  input x : f32[16]
  state h : f32[16]
  y = Add(x, h) : f32[16]
  z = Relu(y) : f32[16]
  output z
  update h = y
})";

TEST(StateUpdates, AreCopiesAtTheEndOfTheProgram) {
  const Plan plan = must_plan(graph_of(kRecurrent)).plan;
  // Values 0 to 3 are those of x, h, y and z; 4 is the new content of h.
  ASSERT_EQ(plan.program.steps.size(), 3U);
  const Step& copy = plan.program.steps[StepId(2)];
  EXPECT_EQ(copy.work, Work(Copy{{0, 64}}));
  EXPECT_EQ(copy.reads, std::vector{ValueId(2)});
  EXPECT_EQ(copy.writes, std::vector{ValueId(4)});
  EXPECT_EQ(plan.program.values[ValueId(4)], (Value{TensorId(2), StepId(2)}));
  EXPECT_EQ(plan.program.updates, std::vector{ValueId(4)});
  EXPECT_EQ(plan.layout.values[ValueId(4)], plan.layout.values[ValueId(1)]);
  const Buffer& state = plan.layout.buffers[plan.layout.values[ValueId(1)].buffer];
  EXPECT_EQ(state.kind, BufferKind::state);
  EXPECT_EQ(state.lifespan, (Lifespan{StepId(0), StepId(3)}));
  EXPECT_FALSE(state.placement.has_value());
}

// y is needed after the Relu, which therefore cannot write over it: 64 + 64.
TEST(StateUpdates, KeepWhatTheyReadToTheEnd) {
  const PlannedGraph planned = must_plan(graph_of(kRecurrent));
  const Plan& plan = planned.plan;
  EXPECT_EQ(arena_bytes(plan), Bytes(128));
  EXPECT_EQ(plan.claims.load, Bytes(128));
  EXPECT_EQ(planned.plain.load_as_given, Bytes(128));
  const Buffer& next = plan.layout.buffers[plan.layout.values[ValueId(2)].buffer];
  EXPECT_EQ(next.kind, BufferKind::temporary);
  EXPECT_EQ(next.lifespan, (Lifespan{StepId(0), StepId(3)}));
  EXPECT_NE(plan.layout.values[ValueId(2)].buffer, plan.layout.values[ValueId(3)].buffer);
}

// Another plan might compute y in the bytes of h, so only z counts: 64.
TEST(StateUpdates, CountNothingInABound) {
  const Plan plan = must_plan(graph_of(kRecurrent)).plan;
  EXPECT_EQ(bound_of(plan).bytes, Bytes(64));
  EXPECT_FALSE(plan.claims.schedule_optimal);
}

// The Add writes y into i, and the other three updates are copies.
TEST(StateUpdates, MayReadInputsAndConstantsAndOneTensorTwice) {
  const Plan plan = must_plan(graph_of(R"(graph "g" {
    input x : f32[16]
    constant w : f32[16]
    state g : f32[16]
    state h : f32[16]
    state i : f32[16]
    state j : f32[16]
    y = Add(g, h) : f32[16]
    update g = x
    update h = w
    update i = y
    update j = y
  })"))
                        .plan;
  ASSERT_EQ(plan.program.steps.size(), 4U);
  EXPECT_EQ(plan.program.steps[StepId(1)].reads, std::vector{ValueId(0)});
  EXPECT_EQ(plan.program.steps[StepId(2)].reads, std::vector{ValueId(1)});
  EXPECT_EQ(plan.program.updates[2], ValueId(6));
  EXPECT_EQ(plan.program.steps[StepId(3)].reads, std::vector{ValueId(6)});
  EXPECT_EQ(arena_bytes(plan), Bytes(0));
}

TEST(StateUpdates, NeedNoNode) {
  const Plan plan = must_plan(graph_of(R"(graph "g" {
    input x : f32[16]
    state h : f32[16]
    update h = x
  })"))
                        .plan;
  EXPECT_EQ(plan.program.steps.size(), 1U);
  EXPECT_EQ(arena_bytes(plan), Bytes(0));
}

// No node reads h. So the Relu writes y into its bytes, and y occupies none in the arena: 64 for a.
TEST(StateUpdates, AreWrittenInPlaceIfNoNodeReadsTheState) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    state h : f32[16]
    a = Neg(x) : f32[16]
    y = Relu(a) : f32[16]
    update h = y
  })");
  const PlannedGraph planned = must_plan(graph);
  const Plan& plan = planned.plan;
  EXPECT_EQ(plan.program.steps.size(), 2U);
  EXPECT_EQ(plan.program.updates, std::vector{ValueId(3)});
  EXPECT_EQ(plan.layout.values[ValueId(3)], plan.layout.values[ValueId(1)]);
  EXPECT_EQ(arena_bytes(plan), Bytes(64));
  EXPECT_TRUE(plan.claims.schedule_optimal);
}

// Both operands of the concat and the source of the reshape are computed in the states. Each Split copies its result,
// because its whole tensor of 256 bytes does not fit into a state: 256 in the arena.
TEST(StateUpdates, TakeTheirViewsWithThem) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    state f : f32[32]
    state g : f32[4,4]
    state h : f32[32]
    state i : f32[32]
    a = Neg(x) : f32[16]
    b = Exp(x) : f32[16]
    c = Concat(a, b) {axis = 0} : f32[32]
    d = Sin(x) : f32[16]
    e = Reshape(d) : f32[4,4]
    t = Tile(x) : f32[64]
    p, q = Split(t) {axis = 0} : f32[32], f32[32]
    update f = c
    update g = e
    update h = p
    update i = q
  })");
  const PlannedGraph planned = must_plan(graph);
  const Plan& plan = planned.plan;
  EXPECT_EQ(plan.program.steps.size(), 7U);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Buffer& buffer = plan.layout.buffers[plan.layout.values[ValueId(id.value())].buffer];
    EXPECT_EQ(buffer.placement.has_value(), graph.tensor(id).name == "t") << graph.tensor(id).name;
  }
  EXPECT_EQ(arena_bytes(plan), Bytes(256));
  EXPECT_TRUE(plan.claims.schedule_optimal);
}

// The output z is a view of the tensor that replaces a state, so it gets its own bytes: 64 + 64.
TEST(StateUpdates, ShareNoBytesWithOutputs) {
  const Plan plan = must_plan(graph_of(R"(graph "g" {
    state h : f32[16]
    y = Relu(h) : f32[16]
    z = Reshape(y) : f32[4,4]
    output z
    update h = y
  })"))
                        .plan;
  EXPECT_TRUE(is_compute(plan.program.steps[StepId(1)]));
  EXPECT_EQ(arena_bytes(plan), Bytes(128));
}

// y is a view of g and replaces h. Because g is replaced as well, the Identity copies it into h.
TEST(StateUpdates, ViewsOfStatesAreCopied) {
  const Plan plan = must_plan(graph_of(R"(graph "g" {
    input x : f32[16]
    state g : f32[16]
    state h : f32[16]
    y = Identity(g) : f32[16]
    update g = x
    update h = y
  })"))
                        .plan;
  EXPECT_TRUE(is_compute(plan.program.steps[StepId(0)]));
  EXPECT_EQ(arena_bytes(plan), Bytes(0));
}

// Two branches. Each reads the state that the result of the other one replaces.
constexpr const char* kBranchesOfStates = R"(graph "g" {
  input x : f32[16]
  state g : f32[16]
  state h : f32[16]
  a = Conv(x, g) : f32[16]
  b = Conv(x, h) : f32[16]
  c = Conv(a) : f32[16]
  d = Conv(b) : f32[16]
  output c, d
  update g = b
  update h = a
})";

TEST(StateUpdates, WaitForAllReadersOfTheOldContent) {
  const Graph graph = graph_of(kBranchesOfStates);
  for (ExecutionModel run : {ExecutionModel::streams, ExecutionModel::waves, ExecutionModel::dataflow}) {
    const PlannedGraph planned = must_plan(graph, {.streams = 2, .run = run, .arena_slack_percent = 400});
    EXPECT_EQ(planned.plan.execution, run);
    EXPECT_EQ(planned.plan.program.steps.size(), 6U);
    EXPECT_EQ(fault_of_some_run(graph, planned.plan), "") << to_string(run);
  }
}

}  // namespace
}  // namespace lowtide::testing
