// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

//   x -> a = Relu -> c = Neg ---.
//    `-> b = Sigmoid -> d = Neg -+-> y = Add          steps 0 to 4: a b c d y, each with bytes of its own
class Execution : public ::testing::Test {
 protected:
  Plan plan_for(ExecutionModel execution) const {
    PlanMaker maker(graph);
    for (std::uint32_t node = 0; node < 5; ++node) {
      const BufferKind kind = node == 4 ? BufferKind::output : BufferKind::temporary;
      maker.put(TensorId(node + 1), maker.buffer(kind, 16, 16 * node, node, 5));
      maker.compute(NodeId(node));
    }
    Plan plan = maker.finish();
    plan.execution = execution;
    return plan;
  }

  // a, c and y on stream 0; b and d on stream 1. y waits for d.
  Plan on_two_streams(ExecutionModel execution) const {
    Plan plan = plan_for(execution);
    plan.program.streams.push_back({.worker = WorkerId(0)});
    plan.program.steps[StepId(1)].stream = StreamId(1);
    plan.program.steps[StepId(3)].stream = StreamId(1);
    plan.program.steps[StepId(4)].after = {StepId(3)};
    return plan;
  }

  std::string refusal(const Plan& plan) const { return messages(verify(graph, plan)); }

  Graph graph = diamond();
};

TEST_F(Execution, ASequenceHasOneStream) {
  EXPECT_EQ(refusal(plan_for(ExecutionModel::sequence)), "");
  EXPECT_EQ(refusal(on_two_streams(ExecutionModel::sequence)),
            "wrong_claim: step 1 (node 1 '', 'Sigmoid') runs on stream 1, and step 0 on stream 0; with execution "
            "'sequence' there is one stream\n");
}

TEST_F(Execution, StreamsMayWaitAsTheyNeed) {
  EXPECT_EQ(refusal(plan_for(ExecutionModel::streams)), "");
  EXPECT_EQ(refusal(on_two_streams(ExecutionModel::streams)), "");
}

// Waves a b, c d and y.
TEST_F(Execution, AStepOfAWaveWaitsForAllOfTheWaveBefore) {
  Plan plan = on_two_streams(ExecutionModel::waves);
  EXPECT_THAT(refusal(plan),
              HasSubstr("step 2 (node 2 '', 'Neg') of wave 1 waits for 1 of the 2 steps of the wave before"));
  plan.program.steps[StepId(2)].after = {StepId(1)};
  EXPECT_THAT(refusal(plan), HasSubstr("step 3 (node 3 '', 'Neg') of wave 1 waits for 1 of the 2 steps"));
  plan.program.steps[StepId(3)].after = {StepId(0)};
  EXPECT_EQ(refusal(plan), "");
  EXPECT_EQ(refusal(plan_for(ExecutionModel::waves)), "") << "waves of one step each";
}

TEST_F(Execution, DataflowWaitsAsTheGraphSays) { EXPECT_EQ(refusal(on_two_streams(ExecutionModel::dataflow)), ""); }

TEST_F(Execution, DataflowHasNoOtherWaits) {
  Plan plan = on_two_streams(ExecutionModel::dataflow);
  plan.program.steps[StepId(2)].after = {StepId(1)};
  EXPECT_EQ(
      refusal(plan),
      "wrong_claim: step 2 (node 2 '', 'Neg') comes after step 1 (node 1 '', 'Sigmoid') by its stream or a wait, but "
      "not by the graph; with execution 'dataflow' only the graph orders nodes\n");
}

TEST_F(Execution, DataflowHasNoOtherOrderOnAStream) {
  EXPECT_THAT(refusal(plan_for(ExecutionModel::dataflow)),
              HasSubstr("step 1 (node 1 '', 'Sigmoid') comes after step 0 (node 0 '', 'Relu') by its stream"));
}

// Dataflow starts b although a has not ended. The plan puts b where a was, and only the stream prevents a race.
TEST_F(Execution, DataflowMayNotRelyOnTheOrderOfAStream) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId a = maker.result("a", {16}, "Relu", {x});
  const TensorId b = maker.result("b", {16}, "Sigmoid", {x});
  const Graph pair = maker.make({b});
  PlanMaker planner(pair);
  planner.put(a, planner.buffer(BufferKind::temporary, 16, 0, 0, 1));
  planner.compute(NodeId(0));
  planner.put(b, planner.buffer(BufferKind::output, 16, 0, 1, 2));
  planner.compute(NodeId(1));
  Plan plan = planner.finish();
  EXPECT_EQ(messages(verify(pair, plan)), "");
  plan.execution = ExecutionModel::dataflow;
  EXPECT_THAT(messages(verify(pair, plan)), HasSubstr("wrong_claim: step 1"));
}

// The copy that updates the state waits for the reader of the old content. No edge of the graph says so.
TEST_F(Execution, CopiesInDataflowMayWait) {
  GraphMaker maker;
  const TensorId state = maker.state("h", {16});
  const TensorId read = maker.result("r", {16}, "Relu", {state});
  const TensorId next = maker.result("n", {16}, "Neg", {state});
  maker.update(state, next);
  const Graph stateful = maker.make({read});
  PlanMaker planner(stateful);
  const StreamId second = planner.worker_stream();
  planner.put(read, planner.buffer(BufferKind::output, 16, 0, 0, 3));
  planner.compute(NodeId(0));
  const ValueId made = planner.put(next, planner.buffer(BufferKind::temporary, 16, 16, 1, 3));
  planner.compute(NodeId(1));
  planner.on(second);
  planner.copy(made, planner.put(next, planner.buffer_of(state)));
  planner.on(second, {StepId(0)});
  Plan plan = planner.finish();
  EXPECT_EQ(messages(verify(stateful, plan)), "");
  plan.execution = ExecutionModel::dataflow;
  EXPECT_EQ(messages(verify(stateful, plan)), "");
}

}  // namespace
}  // namespace lowtide::testing
