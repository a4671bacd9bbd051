// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

// x -> Gemm -> y -> Gemm -> z, 16 bytes each:
//
//   32 +-------------+
//      |      |  z   |   step 0 writes y, step 1 reads y and writes z
//   16 +------+------+
//      |      y      |
//    0 +-------------+
//       step 0   1
class VerifyChain : public ::testing::Test {
 protected:
  static Graph make_graph(TensorId& x, TensorId& y, TensorId& z) {
    GraphMaker maker("chain");
    x = maker.input("x", {16});
    y = maker.result("y", {16}, "Gemm", {x});
    z = maker.result("z", {16}, "Gemm", {y});
    return maker.make({z});
  }

  Plan make_plan() {
    PlanMaker maker(graph);
    value_y = maker.put(y, buffer_y = maker.buffer(BufferKind::temporary, 16, 0, 0, 2));
    value_z = maker.put(z, buffer_z = maker.buffer(BufferKind::output, 16, 16, 1, 2));
    maker.compute(NodeId(0));
    maker.compute(NodeId(1));
    buffer_x = maker.buffer_of(x);
    value_x = maker.value_of(x);
    return maker.finish();
  }

  std::vector<Violation> check() { return verify(graph, plan); }

  TensorId x, y, z;
  Graph graph = make_graph(x, y, z);
  ValueId value_x, value_y, value_z;
  BufferId buffer_x, buffer_y, buffer_z;
  Plan plan = make_plan();
};

TEST_F(VerifyChain, ValidPlanHasNoViolations) { EXPECT_EQ(messages(check()), ""); }

TEST_F(VerifyChain, IdOutOfRangeIsMalformed) {
  plan.layout.values[value_y].buffer = BufferId(99);
  const auto found = check();
  EXPECT_EQ(kinds(found), "malformed");
  EXPECT_EQ(found[0].message, "values[1].buffer: buffer 99 does not exist; the number of buffers is 3");
}

TEST_F(VerifyChain, PlanForAnotherGraphIsWrongModel) {
  plan.provenance.nodes = 7;
  const auto found = check();
  EXPECT_EQ(kinds(found), "wrong_model");
  EXPECT_THAT(found[0].message, HasSubstr("'chain' with 7 nodes and 3 tensors; this is 'chain' with 2 and 3"));
}

// Puts an input, a constant and a state into the wrong place.
TEST(Roles, AreNamedWithTheRightArticle) {
  const std::vector<std::pair<Role, std::string>> roles = {
      {Role::input, "an input"}, {Role::constant, "a constant"}, {Role::state, "a state"}};
  for (const auto& [role, name] : roles) {
    GraphBuilder builder("g");
    const TensorId x = builder.add_tensor({.name = "x", .dtype = DType::u8, .shape = Shape({16})}, role);
    const TensorId y = builder.add_tensor({.name = "y", .dtype = DType::u8, .shape = Shape({16})});
    builder.add_node({.type = "F", .inputs = {x}, .outputs = {y}});
    builder.set_outputs({y});
    const Graph graph = std::move(builder).build().value();
    PlanMaker maker(graph);
    maker.put(y, maker.buffer(BufferKind::output, 16, 0, 0, 1));
    maker.compute(NodeId(0));
    const ValueId given = maker.value_of(x);
    const Plan right = maker.finish();
    Plan plan = right;
    plan.layout.values[given].buffer = plan.layout.values[maker.value_of(y)].buffer;
    EXPECT_THAT(messages(verify(graph, plan)), HasSubstr("is " + name + ", but is in"));
    plan = right;
    plan.layout.values[given].offset = Offset(1);
    plan.layout.buffers[maker.buffer_of(x)].size = Bytes(17);
    EXPECT_THAT(messages(verify(graph, plan)), HasSubstr("; " + name + " must fill a buffer of its own"));
  }
}

TEST_F(VerifyChain, NodeThatNeverRunsIsMissingStep) {
  plan.program.steps.resize(1);
  plan.layout.steps.resize(1);
  plan.program.values[value_z].written = StepId(0);
  for (Buffer& buffer : plan.layout.buffers) buffer.lifespan = {StepId(0), StepId(1)};
  make_honest(graph, plan);
  // The value of z claims that step 0 writes it, but step 0 does not. So z is missing at the end, which is a second
  // violation, of data flow.
  EXPECT_EQ(kinds(check()), "missing_step; data_flow");
}

// A Gemm gives the same result each time, so its node may run again. But each value may be written only once.
TEST_F(VerifyChain, ValueThatIsWrittenTwiceIsDataFlow) {
  plan.program.steps.push_back(Step(plan.program.steps[StepId(1)]));
  plan.layout.steps.push_back({});
  plan.layout.buffers[buffer_y].lifespan.end = StepId(3);
  plan.layout.buffers[buffer_z].lifespan.end = StepId(3);
  const auto found = check();
  EXPECT_EQ(kinds(found), "data_flow");
  EXPECT_EQ(found[0].step, StepId(2));
  EXPECT_THAT(found[0].message, HasSubstr("writes value 2 of 'z' (tensor 2), which is written in step 1"));
}

TEST(Verify, NodeThatRunsAgainMustGiveTheSameResult) {
  const auto run_twice = [](const std::string& type, std::vector<std::int64_t> training = {}) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {16});
    const TensorId y = maker.tensor("y", {16});
    std::vector<std::optional<TensorId>> inputs{x};
    if (!training.empty()) inputs = {x, std::nullopt, maker.integers("training", training)};
    maker.node(type, inputs, {y});
    const Graph graph = maker.make({y});
    PlanMaker planner(graph);
    planner.put(y, planner.buffer(BufferKind::temporary, 16, 0, 0, 1));
    planner.compute(NodeId(0));
    planner.put(y, planner.buffer(BufferKind::output, 16, 16, 1, 2));
    planner.compute(NodeId(0));
    return messages(verify(graph, planner.finish()));
  };
  EXPECT_EQ(run_twice("Gemm"), "");
  EXPECT_EQ(run_twice("Dropout", {0}), "");
  const std::string refused = "runs a node that step 0 already runs, but its operator may not run again";
  EXPECT_EQ(run_twice("RandomNormalLike"), "repeated_step: step 1 (node 0 '', 'RandomNormalLike') " + refused + "\n");
  EXPECT_EQ(run_twice("NoSuchOperator"), "repeated_step: step 1 (node 0 '', 'NoSuchOperator') " + refused + "\n");
  EXPECT_EQ(run_twice("Dropout", {1}), "repeated_step: step 1 (node 0 '', 'Dropout') " + refused + "\n");
}

TEST_F(VerifyChain, ReadingAnotherTensorIsDataFlow) {
  plan.program.steps[StepId(1)].reads = {value_x};
  const auto found = check();
  EXPECT_EQ(kinds(found), "data_flow");
  EXPECT_THAT(found[0].message, HasSubstr("reads 'x' (tensor 0), but its node reads 'y' (tensor 1)"));
}

TEST_F(VerifyChain, ReadingBeforeTheWriteIsDataFlow) {
  std::swap(plan.program.steps[StepId(0)], plan.program.steps[StepId(1)]);
  plan.program.values[value_y].written = StepId(1);
  plan.program.values[value_z].written = StepId(0);
  plan.layout.buffers[buffer_z].lifespan.begin = StepId(0);
  const auto found = check();
  EXPECT_EQ(kinds(found), "data_flow");
  EXPECT_THAT(found[0].message, HasSubstr("reads 'y' (tensor 1), which does not exist before step 1"));
}

TEST_F(VerifyChain, ForgottenReadIsDataFlow) {
  plan.program.steps[StepId(1)].reads.clear();
  EXPECT_EQ(kinds(check()), "data_flow");
}

TEST_F(VerifyChain, ValueThatNoStepWritesIsDataFlow) {
  plan.program.values.push_back({.tensor = y, .written = StepId(1)});
  plan.layout.values.push_back({.buffer = buffer_y});
  EXPECT_EQ(kinds(check()), "data_flow");
}

TEST_F(VerifyChain, ProducedValueFromBeforeTheRunIsDataFlow) {
  plan.program.values[value_y].written = std::nullopt;
  // Step 0 writes a value that claims to exist before the run. Only inputs, constants and states may claim that.
  EXPECT_EQ(kinds(check()), "data_flow; data_flow");
}

// y and z have the same offset. Both are live in step 1, and the kernel would write over its own operand.
TEST_F(VerifyChain, ResultOverOperandIsOverlapAndBadInPlace) {
  plan.layout.buffers[buffer_z].placement->offset = Offset(0);
  make_honest(graph, plan);
  const auto found = check();
  EXPECT_EQ(kinds(found), "overlap; bad_in_place");
  EXPECT_EQ(found[0].bytes, (Interval<std::int64_t>{0, 16}));
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{y, z}));
  EXPECT_THAT(found[1].message,
              HasSubstr("writes 'z' (tensor 2) over 'y' (tensor 1) in bytes [0, 16) of region 0 'arena'"));
}

TEST_F(VerifyChain, ValueBeyondItsBufferIsOutOfBuffer) {
  plan.layout.buffers[buffer_z].size = Bytes(15);
  make_honest(graph, plan);
  const auto found = check();
  EXPECT_EQ(kinds(found), "out_of_buffer");
  EXPECT_THAT(found[0].message,
              HasSubstr("'z' (tensor 2) has 16 bytes at offset 0 of buffer 2 (output), which has 15"));
}

TEST_F(VerifyChain, BufferAboveTheArenaIsOutOfRegion) {
  plan.layout.arena[0] = Bytes(31);
  EXPECT_EQ(kinds(check()), "out_of_region");
}

TEST_F(VerifyChain, BufferBelowZeroIsOutOfRegion) {
  plan.layout.buffers[buffer_z].placement->offset = Offset(-16);
  plan.layout.arena[0] = Bytes(16);
  EXPECT_EQ(kinds(check()), "out_of_region");
}

TEST_F(VerifyChain, ArenaAboveTheCapacityIsOutOfRegion) {
  plan.machine.regions[0].capacity = Bytes(31);
  const auto found = check();
  EXPECT_EQ(kinds(found), "out_of_region");
  EXPECT_THAT(found[0].message, HasSubstr("has 32 bytes, but the region only 31"));
}

TEST_F(VerifyChain, UnusedTopOfTheArenaIsAWrongClaim) {
  plan.layout.arena[0] = Bytes(33);
  EXPECT_EQ(kinds(check()), "wrong_claim");
}

TEST_F(VerifyChain, OffsetOffTheAlignmentIsMisaligned) {
  plan.layout.buffers[buffer_z].placement->offset = Offset(17);
  plan.layout.arena[0] = Bytes(33);
  EXPECT_EQ(kinds(check()), "misaligned");
}

TEST_F(VerifyChain, WriteBeforeTheLifespanIsDeadAccess) {
  plan.layout.buffers[buffer_y].lifespan.begin = StepId(1);
  const auto found = check();
  EXPECT_EQ(kinds(found), "dead_access");
  EXPECT_EQ(found[0].step, StepId(0));
}

TEST_F(VerifyChain, ReadAfterTheLifespanIsDeadAccess) {
  plan.layout.buffers[buffer_y].lifespan.end = StepId(1);
  plan.claims.load = Bytes(16);
  const auto found = check();
  EXPECT_EQ(kinds(found), "dead_access");
  EXPECT_EQ(found[0].step, StepId(1));
}

TEST_F(VerifyChain, OutputBufferThatEndsEarlyIsOutputLost) {
  GraphMaker maker;
  const TensorId a = maker.input("a", {16});
  const TensorId b = maker.result("b", {16}, "Gemm", {a});
  const TensorId c = maker.result("c", {16}, "Gemm", {a});
  const Graph two = maker.make({b, c});
  PlanMaker planner(two);
  planner.put(b, planner.buffer(BufferKind::output, 16, 0, 0, 1));
  planner.put(c, planner.buffer(BufferKind::output, 16, 16, 1, 2));
  planner.run_in_order();
  Plan early = planner.finish();
  EXPECT_EQ(kinds(verify(two, early)), "output_lost");
  // Now c has the same offset as b. The lifespans permit this, but the replay finds that c overwrites b.
  early.layout.buffers[planner.buffer_of(c)].placement->offset = Offset(0);
  make_honest(two, early);
  const auto found = verify(two, early);
  EXPECT_EQ(kinds(found), "output_lost; output_lost; overlap");
  EXPECT_THAT(found[0].message, HasSubstr("'b' (tensor 1) should be intact at the end in bytes [0, 16)"));
  EXPECT_THAT(found[0].message, HasSubstr("step 1 (node 1 '', 'Gemm') overwrote bytes [0, 16) with 'c' (tensor 2)"));
}

TEST_F(VerifyChain, KernelThatWritesAnInputViolatesItsRole) {
  plan.layout.values[value_y].buffer = buffer_x;
  // The kernel also works in place, which a Gemm does not permit.
  EXPECT_EQ(kinds(check()), "role; bad_in_place");
}

TEST_F(VerifyChain, OutputInATemporaryBufferViolatesItsRole) {
  plan.layout.buffers[buffer_z].kind = BufferKind::temporary;
  EXPECT_EQ(kinds(check()), "role");
}

TEST_F(VerifyChain, TemporaryInAnOutputBufferOfItsOwnViolatesTheKind) {
  plan.layout.buffers[buffer_y].kind = BufferKind::output;
  EXPECT_EQ(kinds(check()), "role");
}

TEST_F(VerifyChain, ValueInScratchViolatesTheKind) {
  plan.layout.buffers[buffer_y].kind = BufferKind::scratch;
  EXPECT_EQ(kinds(check()), "role");
}

TEST_F(VerifyChain, InputInABufferOfAnotherKindViolatesItsRole) {
  plan.layout.buffers[buffer_x].kind = BufferKind::constant;
  // This is the only violation. The constant buffer is not empty, because it holds the input.
  EXPECT_EQ(kinds(check()), "role");
}

TEST_F(VerifyChain, PlacedInputViolatesItsRole) {
  plan.layout.buffers[buffer_x].placement = Placement{RegionId(0), Offset(32)};
  make_honest(graph, plan);
  EXPECT_EQ(kinds(check()), "role");
}

TEST_F(VerifyChain, InputWithTwoPlacesViolatesItsRole) {
  const BufferId second = plan.layout.buffers.push_back(Buffer(plan.layout.buffers[buffer_x]));
  plan.program.values.push_back({.tensor = x, .written = std::nullopt});
  plan.layout.values.push_back({.buffer = second});
  EXPECT_EQ(kinds(check()), "role");
}

TEST_F(VerifyChain, InputBufferOfAnotherSizeIsOutOfBuffer) {
  plan.layout.buffers[buffer_x].size = Bytes(17);
  EXPECT_EQ(kinds(check()), "out_of_buffer");
}

TEST_F(VerifyChain, TemporaryWithoutPlacementIsMalformed) {
  plan.layout.buffers[buffer_y].placement.reset();
  EXPECT_EQ(kinds(check()), "malformed");
}

TEST_F(VerifyChain, EmptyOrTooLongLifespanIsMalformed) {
  plan.layout.buffers[buffer_y].lifespan = {StepId(1), StepId(1)};
  plan.layout.buffers[buffer_z].lifespan = {StepId(1), StepId(3)};
  EXPECT_EQ(kinds(check()), "malformed; malformed");
}

TEST_F(VerifyChain, FalseFiguresAreWrongClaims) {
  EXPECT_EQ(plan.claims.load, Bytes(32));           // step 1: y and z
  EXPECT_EQ(plan.claims.load_as_given, Bytes(32));  // the same
  plan.claims.load = Bytes(31);
  EXPECT_EQ(kinds(check()), "wrong_claim");
  plan.claims.load = Bytes(32);
  plan.claims.load_as_given = Bytes(33);
  EXPECT_EQ(kinds(check()), "wrong_claim");
  plan.claims.load_as_given = Bytes(32);
  plan.claims.bounds = {{.bytes = Bytes(33)}};
  EXPECT_EQ(kinds(check()), "wrong_claim");
}

TEST_F(VerifyChain, UnknownEnumValuesAreMalformed) {
  plan.claims.bounds = {{.scope = static_cast<BoundScope>(7), .bytes = Bytes(0)}};
  EXPECT_EQ(messages(check()), "malformed: claims.bounds[0].scope: is not a scope\n");
  plan.claims.bounds.clear();
  plan.execution = static_cast<ExecutionModel>(4);
  EXPECT_EQ(messages(check()), "malformed: execution: is not an execution model\n");
  plan.execution = ExecutionModel::dataflow;
  EXPECT_EQ(messages(check()), "");
}

TEST_F(VerifyChain, OptimalOrderNeedsABoundEqualToThePeak) {
  plan.claims.schedule_optimal = true;
  EXPECT_EQ(kinds(check()), "wrong_claim");
  plan.claims.bounds = {{.bytes = Bytes(32)}};
  EXPECT_EQ(messages(check()), "");
}

TEST_F(VerifyChain, OptimalOffsetsNeedAnArenaEqualToThePeak) {
  plan.claims.allocate_optimal = true;
  EXPECT_EQ(messages(check()), "");
  plan.layout.buffers[buffer_z].placement->offset = Offset(32);
  plan.layout.arena[0] = Bytes(48);
  EXPECT_EQ(kinds(check()), "wrong_claim");
}

TEST_F(VerifyChain, StopsAtTheRequestedNumberOfViolations) {
  plan.program.steps[StepId(0)].reads.assign(500, value_y);
  EXPECT_EQ(verify(graph, plan, {.most_violations = 3}).size(), 3U);
  EXPECT_EQ(verify(graph, plan).size(), 100U);
}

TEST_F(VerifyChain, NamesFromTheFileAreSafeToPrint) {
  GraphMaker maker("a\x1b[2Jb");
  const TensorId a = maker.input("in\n", {16});
  const TensorId b = maker.tensor("out\x1b[31m", {16});
  maker.node("Re\x07lu", {a}, {b});
  const Graph evil = maker.make({b});
  PlanMaker planner(evil);
  planner.put(b, planner.buffer(BufferKind::temporary, 15, 0, 0, 1));
  planner.compute(NodeId(0));
  Plan bad = planner.finish();
  bad.provenance.graph = "\n";
  bad.machine.regions[0].name = "\x1b";
  for (const Violation& violation : verify(evil, bad)) {
    EXPECT_TRUE(std::none_of(violation.message.begin(), violation.message.end(), [](char c) { return c < ' '; }));
  }
  EXPECT_EQ(kinds(verify(evil, bad)), "wrong_model; out_of_buffer; role");
}

}  // namespace
}  // namespace lowtide::testing
