// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/pipeline/planned.h"
#include "tests/testing/concat_graphs.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// a is written into c at byte 64, x is copied to byte 0, and the concat runs nothing.
TEST(OperandCopies, RunRightBeforeTheirConcat) {
  const Plan plan = must_plan(graph_of(R"(graph "g" {
    input x : f32[1,16]
    a = Conv(x) : f32[1,16]
    c = Concat(x, a) {axis = 0} : f32[2,16]
    y = Conv(c) : f32[1,16]
    output y
  })"))
                        .plan;
  const Program& program = plan.program;
  ASSERT_EQ(program.steps.size(), 4U);
  EXPECT_TRUE(is_compute(program.steps[StepId(0)]));
  EXPECT_EQ(program.steps[StepId(1)].work, Work(Copy{{0, 64}}));
  EXPECT_EQ(program.steps[StepId(1)].reads, (std::vector<ValueId>{ValueId(0)}));
  EXPECT_EQ(program.steps[StepId(1)].writes, (std::vector<ValueId>{ValueId(4)}));
  EXPECT_EQ(program.steps[StepId(2)].work, Work(Alias{NodeId(1)}));
  EXPECT_EQ(program.steps[StepId(2)].reads, (std::vector<ValueId>{ValueId(4), ValueId(1)}));
  EXPECT_EQ(plan.layout.values[ValueId(4)], (ValuePlace{plan.layout.values[ValueId(2)].buffer, Offset(0)}));
  EXPECT_EQ(plan.layout.values[ValueId(1)], (ValuePlace{plan.layout.values[ValueId(2)].buffer, Offset(64)}));
  EXPECT_EQ(arena_bytes(plan), Bytes(128 + 64));  // c and y
  EXPECT_EQ(bound_of(plan).bytes, Bytes(128 + 64));
}

// z has no bytes, so c is x, which is the caller's. The node that makes z writes nothing into x.
TEST(OperandCopies, AnOperandWithoutBytesHasNoPlaceInTheConcat) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input x : f32[2,3,4]
    input k : f32[2,3,0]
    z = Relu(k) : f32[2,3,0]
    c = Concat(z, x) {axis = 2} : f32[2,3,4]
    y = Conv(c) : f32[16]
    output y
  })"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64));  // y
  EXPECT_TRUE(is_alias(planned.plan.program.steps[StepId(1)]));
}

// The graph is that of RunRightBeforeTheirConcat, with an operand without bytes between x and a.
TEST(OperandCopies, AreNotMadeOfAnOperandWithoutBytes) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input x : f32[1,16]
    input k : f32[0,16]
    a = Conv(x) : f32[1,16]
    z = Relu(k) : f32[0,16]
    c = Concat(x, z, a) {axis = 0} : f32[2,16]
    y = Conv(c) : f32[1,16]
    output y
  })"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(128 + 64));  // c and y
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(128 + 64));
  std::size_t copies = 0;
  for (const Step& step : planned.plan.program.steps) copies += is_copy(step) ? 1 : 0;
  EXPECT_EQ(copies, 1U);  // x
}

// Every plan is verified: in sequence, on streams, in waves, as dataflow, and without parts, results in place or views.
TEST(OperandCopies, AreCorrectInEveryExecutionModel) {
  Random random(7);
  std::size_t copies = 0;
  for (int round = 0; round < 150; ++round) {
    const Graph graph = random_concat_graph(random, static_cast<int>(random.between(2, 14)));
    PlanOptions options;
    options.order_effort = 300'000;
    options.allocate_effort = 300'000;
    options.bound_check_effort = 1'000'000;
    options.in_place = random.chance(80);
    options.views = random.chance(90);
    options.parts = random.chance(70);
    const PlannedGraph sequence = must_plan(graph, options);
    EXPECT_NE(sequence.bound_check.verdict, OrderBoundVerdict::refuted) << print_graph(graph);
    for (const Step& step : sequence.plan.program.steps) copies += is_copy(step) ? 1 : 0;
    options.bound_check_effort = 0;
    options.streams = 2;
    options.pareto_front = random.chance(30);
    (void)must_plan(graph, options);
    options.run = random.chance(50) ? ExecutionModel::waves : ExecutionModel::dataflow;
    (void)must_plan(graph, options);
  }
  EXPECT_GE(copies, 100U);
}

}  // namespace
}  // namespace lowtide::testing
