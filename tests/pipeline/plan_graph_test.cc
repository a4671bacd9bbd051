// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_graph.h"

#include <gtest/gtest.h>

#include "lowtide/target/description.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

TEST(PlanGraph, AChainNeedsTwoNeighbours) {
  const PlannedGraph planned = must_plan(graph_of(kChain));
  EXPECT_EQ(planned.plan.claims.load, Bytes(256 + 64));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(256 + 64));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(256 + 64));
  EXPECT_TRUE(planned.plan.claims.schedule_optimal);
  EXPECT_TRUE(planned.plan.claims.allocate_optimal);
  EXPECT_EQ(planned.plain.load_as_given, Bytes(512));  // a and b in separate buffers
  EXPECT_EQ(planned.plain.temporaries_sum, Bytes(256 + 256 + 64));
}

// What the program says about the graph, besides bytes.
TEST(PlanGraph, ProgramNamesOutputsKernelsAndOperands) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Add(x, x) : f32[16]
    b = Conv(a) : f32[16]
    output b, x, b
  })");
  const Plan plan = must_plan(graph).plan;
  const Program& program = plan.program;
  EXPECT_EQ(program.outputs, (std::vector<ValueId>{ValueId(2), ValueId(0), ValueId(2)}));
  EXPECT_TRUE(program.updates.empty());
  EXPECT_EQ(program.steps[StepId(0)].reads, (std::vector<ValueId>{ValueId(0), ValueId(0)}));  // an operand each
  EXPECT_EQ(program.steps[StepId(0)].work, Work(Compute{NodeId(0), KernelId(0)}));
  EXPECT_EQ(plan.kernels, (IdVector<KernelId, PlannedKernel>{{"dense"}}));
  EXPECT_EQ(program.streams, (IdVector<StreamId, Stream>{{.worker = WorkerId(0), .link = std::nullopt}}));
  EXPECT_EQ(plan.execution, ExecutionModel::sequence);
  // Conv reads 64 bytes and writes 64, in every plan.
  EXPECT_EQ(plan.claims.bounds, (std::vector<Bound>{{BoundScope::run_once, Bytes(128), "live_set"},
                                                    {BoundScope::all_plans, Bytes(128), "working_set"}}));
}

TEST(PlanGraph, WithoutInPlaceTheReluNeedsItsOwnBuffer) {
  EXPECT_EQ(arena_bytes(must_plan(graph_of(kChain), {.in_place = false}).plan), Bytes(512));
}

// Every kernel needs 100 bytes of scratch, rounded up to 128.
Target target_with_scratch() {
  return parse_target(R"(name = "t"
[[region]]
name = "arena"
[[kernel]]
operator = "*"
name = "any"
scratch = 100
)",
                      "t.toml")
      .value();
}

// A Reshape that is an alias runs no kernel: 256 of a and 128 at the first Conv, then 256, 64 of c and 128.
TEST(PlanGraph, AnAliasNeedsNoScratch) {
  const Target target = target_with_scratch();
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[64]
    b = Reshape(a) : f32[8,8]
    c = Conv(b) : f32[16]
    output c
  })");
  const PlannedGraph planned = must_plan(graph, {}, target);
  EXPECT_FALSE(planned.plan.layout.steps[StepId(1)].scratch.has_value());
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(256 + 64 + 128));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(256 + 64 + 128));
  EXPECT_EQ(planned.bound_check.verdict, OrderBoundVerdict::confirmed);
  // A Reshape that copies runs a kernel: 256 of each and 128. The options forbid plans without it, so the bound counts
  // that.
  const PlannedGraph copied = must_plan(graph, {.views = false}, target);
  EXPECT_EQ(arena_bytes(copied.plan), Bytes(256 + 256 + 128));
  EXPECT_EQ(bound_of(copied.plan).bytes, Bytes(256 + 256 + 128));
  must_plan(graph, {.streams = 2}, target);
}

// The planner runs a kernel for b. Another plan may copy the input or a to the place of b, which is then an alias. So
// the scratch of b is not in the bounds.
TEST(PlanGraph, BoundHasNoScratchOfAViewIntoAnOutput) {
  const PlannedGraph of_input =
      must_plan(graph_of("graph \"g\" {\n input x : f32[64]\n b = Reshape(x) : f32[8,8]\n output b\n}"), {},
                target_with_scratch());
  EXPECT_EQ(arena_bytes(of_input.plan), Bytes(256 + 128));
  for (const Bound& bound : of_input.plan.claims.bounds) {
    EXPECT_EQ(bound.bytes, Bytes(bound.scope == BoundScope::all_plans ? 0 : 256));
  }
  EXPECT_EQ(of_input.bound_check.verdict, OrderBoundVerdict::confirmed);
  const PlannedGraph of_output = must_plan(graph_of(R"(graph "g" {
    input x : f32[64]
    a = Conv(x) : f32[64]
    b = Reshape(a) : f32[8,8]
    output a, b
  })"),
                                           {}, target_with_scratch());
  EXPECT_EQ(arena_bytes(of_output.plan), Bytes(256 + 256 + 128));
  EXPECT_EQ(bound_of(of_output.plan).bytes, Bytes(256 + 256));  // at the end of the run; 256 + 128 at the Conv
}

TEST(PlanGraph, AnUnknownOrderIsAnError) {
  Result<PlannedGraph> planned = plan_graph(graph_of(kChain), dense_target(), {.order = "fastest"});
  ASSERT_FALSE(planned.ok());
  EXPECT_EQ(planned.error().code, ErrorCode::invalid);
}

TEST(PlanGraph, AnOutputThatIsAnInputNeedsNothing) {
  const PlannedGraph planned = must_plan(graph_of("graph \"g\" {\n input x : f32[4]\n output x\n}"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(0));
}

TEST(PlanGraph, TensorsWithoutElementsArePlanned) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input x : f32[0,4]
    a = Conv(x) : f32[0,4]
    b = Relu(a) : f32[0,4]
    c = Concat(a, b) {axis = 0} : f32[0,4]
    output c
  })"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(0));
}

}  // namespace
}  // namespace lowtide::testing
