// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

TEST(Verify, EveryViolationKindHasItsOwnName) {
  std::vector<std::string_view> names(kEnumNames<ViolationKind>.begin(), kEnumNames<ViolationKind>.end());
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ViolationKind::misplaced) + 1);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

// y = Relu(x), and z = Neg of a copy of y that is made in pieces.
class CopyInPieces : public ::testing::Test {
 protected:
  static Graph make_graph(TensorId& y, TensorId& z) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {16});
    y = maker.result("y", {16}, "Relu", {x});
    z = maker.result("z", {16}, "Neg", {y});
    return maker.make({z});
  }
  Plan plan_with(const std::vector<Interval<std::int64_t>>& pieces, RegionId copy_region = RegionId(0)) const {
    const auto steps = static_cast<std::uint32_t>(pieces.size()) + 2;
    PlanMaker planner(graph);
    planner.region("second");
    const ValueId first = planner.put(y, planner.buffer(BufferKind::temporary, 16, 0, 0, steps));
    planner.compute(NodeId(0));
    const ValueId copied =
        planner.put(y, planner.in_region(copy_region, planner.buffer(BufferKind::temporary, 16, 16, 1, steps)));
    for (const auto& piece : pieces) planner.copy(first, copied, piece);
    planner.put(z, planner.buffer(BufferKind::output, 16, 32, steps - 1, steps));
    planner.compute(NodeId(1));
    return planner.finish();
  }
  std::string check(const std::vector<Interval<std::int64_t>>& pieces) {
    return messages(verify(graph, plan_with(pieces)));
  }

  TensorId y, z;
  Graph graph = make_graph(y, z);
};

TEST_F(CopyInPieces, FillsEachByteOnce) {
  EXPECT_EQ(check({{0, 16}}), "");
  EXPECT_EQ(check({{8, 16}, {0, 8}}), "");
  EXPECT_THAT(check({{0, 8}, {9, 16}}), HasSubstr("bytes [8, 9) of value 2 of 'y' (tensor 1) are never copied"));
  EXPECT_THAT(check({{0, 8}}), HasSubstr("bytes [8, 16) of value 2 of 'y' (tensor 1) are never copied"));
  EXPECT_THAT(check({{0, 8}, {7, 16}}), HasSubstr("bytes [7, 8) of value 2 of 'y' (tensor 1) are copied twice"));
  EXPECT_THAT(check({{0, 17}}), HasSubstr("copies bytes [0, 17) of 'y' (tensor 1), which has 16"));
}

TEST_F(CopyInPieces, CopyOfNoBytesIsAccepted) {
  EXPECT_EQ(check({{4, 4}, {0, 16}}), "");
  EXPECT_EQ(check({{0, 8}, {8, 16}, {16, 16}}), "");
  EXPECT_THAT(check({{0, 16}, {17, 17}}), HasSubstr("copies bytes [17, 17) of 'y' (tensor 1), which has 16"));
}

// A kernel reads the copy. Such plans are not in the scope `run_once`, whichever region holds the copy, and even if no
// link moves it.
TEST_F(CopyInPieces, ForAKernelLeavesTheScopeOfRunOnce) {
  const auto bounded = [&](RegionId region, BoundScope scope) {
    Plan plan = plan_with({{0, 16}}, region);
    EXPECT_EQ(plan.claims.load, Bytes(48));
    plan.claims.bounds = {{.scope = scope, .bytes = Bytes(49)}};
    return kinds(verify(graph, plan));
  };
  for (const RegionId region : {RegionId(0), RegionId(1)}) {
    EXPECT_EQ(bounded(region, BoundScope::run_once), "");
    EXPECT_EQ(bounded(region, BoundScope::all_plans), "wrong_claim");
  }
}

TEST(Verify, ControlInputRunsBefore) {
  GraphMaker maker;
  const TensorId a = maker.input("a", {16});
  const TensorId b = maker.tensor("b", {16});
  const TensorId c = maker.tensor("c", {16});
  const NodeId first = maker.node("Gemm", {a}, {b});
  maker.node({.type = "Gemm", .inputs = {a}, .outputs = {c}, .control_inputs = {first}});
  const Graph graph = maker.make({b, c});
  const auto plan_in_order = [&](std::uint32_t one, std::uint32_t two) {
    PlanMaker planner(graph);
    planner.put(b, planner.buffer(BufferKind::output, 16, 0, 0, 2));
    planner.put(c, planner.buffer(BufferKind::output, 16, 16, 0, 2));
    planner.compute(NodeId(one));
    planner.compute(NodeId(two));
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_in_order(0, 1))), "");
  EXPECT_EQ(kinds(verify(graph, plan_in_order(1, 0))), "data_flow");
}

TEST(Verify, InputThatIsAnOutputIsNotMoved) {
  GraphMaker maker;
  const TensorId a = maker.input("a", {16});
  const TensorId w = maker.constant("w", {16});
  const Graph graph = maker.make({a, w, a});
  Plan plan = PlanMaker(graph).finish();
  EXPECT_EQ(messages(verify(graph, plan)), "");
  plan.program.outputs[1] = plan.program.outputs[0];  // a instead of w
  EXPECT_EQ(messages(verify(graph, plan)),
            "output_lost: output 1 is value 0 of 'a' (tensor 0); it should be 'w' (tensor 1)\n");
  plan.program.outputs = {ValueId(0), ValueId(2), ValueId(0)};
  EXPECT_EQ(messages(verify(graph, plan)),
            "malformed: outputs[1]: value 2 does not exist; the number of values is 2\n");
  plan.program.outputs.pop_back();
  plan.program.outputs[1] = ValueId(1);
  EXPECT_EQ(messages(verify(graph, plan)), "malformed: outputs has 2 values for 3 outputs of the graph\n");
}

TEST(Verify, TensorsWithoutElementsOwnNoBytes) {
  GraphMaker maker;
  const TensorId a = maker.input("a", {0});
  const TensorId b = maker.result("b", {0, 4}, "Gemm", {a});
  const TensorId c = maker.result("c", {0}, "Reshape", {b});
  const TensorId d = maker.result("d", {16}, "Gemm", {c});
  const Graph graph = maker.make({d});
  PlanMaker planner(graph);
  // Nothing of b and c can be overwritten, so d may lie over both, even in a buffer of its own at the same offset.
  const BufferId nothing = planner.buffer(BufferKind::temporary, 0, 0, 0, 3);
  planner.put(b, nothing);
  planner.put(c, nothing);
  planner.put(d, planner.buffer(BufferKind::output, 16, 0, 2, 3));
  planner.run_in_order({NodeId(1)});
  EXPECT_EQ(messages(verify(graph, planner.finish())), "");
}

TEST(Verify, ScratchSharesNoBytesWithOperandsAndResults) {
  GraphMaker maker;
  const TensorId a = maker.input("a", {16});
  const TensorId b = maker.result("b", {16}, "Gemm", {a});
  const TensorId c = maker.result("c", {16}, "Gemm", {b});
  const Graph graph = maker.make({c});
  const auto plan_with_scratch_at = [&](std::int64_t offset) {
    PlanMaker planner(graph);
    planner.put(b, planner.buffer(BufferKind::temporary, 16, 0, 0, 2));
    planner.put(c, planner.buffer(BufferKind::output, 16, 16, 1, 2));
    planner.compute(NodeId(0));
    planner.compute(NodeId(1), planner.buffer(BufferKind::scratch, 8, offset, 1, 2));
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_with_scratch_at(32))), "");
  EXPECT_EQ(kinds(verify(graph, plan_with_scratch_at(0))), "overlap; clobbered");
  EXPECT_EQ(kinds(verify(graph, plan_with_scratch_at(16))), "overlap; clobbered");

  Plan plan = plan_with_scratch_at(32);
  plan.layout.buffers[*plan.layout.steps[StepId(1)].scratch].lifespan = {StepId(0), StepId(1)};
  make_honest(graph, plan);
  EXPECT_EQ(kinds(verify(graph, plan)), "dead_access");
  plan = plan_with_scratch_at(32);
  plan.layout.steps[StepId(0)].scratch =
      plan.layout.steps[StepId(1)].scratch;  // two steps, one scratch, outside its lifespan
  EXPECT_EQ(kinds(verify(graph, plan)), "role; dead_access");
  plan = plan_with_scratch_at(32);
  plan.layout.steps[StepId(1)].scratch = plan.layout.values[plan.program.steps[StepId(1)].reads[0]].buffer;
  EXPECT_EQ(kinds(verify(graph, plan)), "role; clobbered");
}

TEST(Verify, TwoRegionsAreTwoSetsOfBytes) {
  GraphMaker maker;
  const TensorId a = maker.input("a", {16});
  const TensorId b = maker.result("b", {16}, "Gemm", {a});
  const TensorId c = maker.result("c", {16}, "Gemm", {b});
  const Graph graph = maker.make({c});
  PlanMaker planner(graph);
  planner.put(b, planner.buffer(BufferKind::temporary, 16, 0, 0, 2));
  planner.put(c, planner.buffer(BufferKind::output, 16, 0, 1, 2));
  planner.run_in_order();
  Plan plan = planner.finish();
  EXPECT_EQ(kinds(verify(graph, plan)), "overlap; bad_in_place");
  plan.machine.regions.push_back({.name = "dram", .capacity = Bytes(16), .alignment = Bytes(64)});
  plan.layout.arena.emplace_back(16);
  plan.layout.buffers[planner.buffer_of(c)].placement->region = RegionId(1);
  EXPECT_EQ(messages(verify(graph, plan)), "");
}

}  // namespace
}  // namespace lowtide::testing
