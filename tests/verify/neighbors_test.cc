// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

// x -> a -> b -> y = Gemm(a, b), 20 bytes each, with alignment 16. A bound counts 32 bytes for each of a and b.
class TwoTensors : public ::testing::Test {
 protected:
  std::string found(const std::function<void(PlanMaker&)>& place) const {
    PlanMaker plan(graph);
    place(plan);
    plan.put(y, plan.buffer(BufferKind::output, 32, 64, 2, 3));
    plan.run_in_order();
    return messages(verify(graph, plan.finish()));
  }

  GraphMaker maker;
  TensorId x = maker.input("x", {20});
  TensorId a = maker.result("a", {20}, "Gemm", {x});
  TensorId b = maker.result("b", {20}, "Gemm", {a});
  TensorId y = maker.result("y", {20}, "Gemm", {a, b});
  Graph graph = maker.make({y});
};

TEST_F(TwoTensors, InOneBufferHaveUnitsOfTheirOwn) {
  const auto one_buffer = [&](std::int64_t offset) {
    return found([&](PlanMaker& plan) {
      const BufferId both = plan.buffer(BufferKind::temporary, 64, 0, 0, 3);
      plan.put(a, both);
      plan.put(b, both, offset);
    });
  };
  EXPECT_EQ(one_buffer(32), "");
  EXPECT_EQ(one_buffer(20),
            "misaligned: 'b' (tensor 2) is at offset 20 of region 0 'arena', whose alignment is 16, and is not part of "
            "a larger tensor\n"
            "misaligned: 'a' (tensor 1) at bytes [0, 20) and 'b' (tensor 2) at bytes [20, 40) of region 0 'arena' are "
            "in one unit of 16 bytes, the smallest alignment, but share no bytes\n");
}

// Buffer A has 8 bytes, of which the last 4 die after step 0. Buffer B lies over it, and only its last 4 bytes ever
// live, from step 1 on.
TEST(Neighbors, InPartsOfTwoBuffersHaveUnitsOfTheirOwn) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {4});
  const TensorId a = maker.result("a", {4}, "Gemm", {x});
  const TensorId b = maker.result("b", {4}, "Gemm", {a});
  const TensorId y = maker.result("y", {4}, "Gemm", {a, b});
  const Graph graph = maker.make({y});
  PlanMaker maker_of_plan(graph);
  const BufferId first = maker_of_plan.buffer(BufferKind::temporary, 8, 0, 0, 3);
  const BufferId second = maker_of_plan.buffer(BufferKind::temporary, 8, 0, 1, 3);
  maker_of_plan.put(a, first);
  maker_of_plan.put(b, second, 4);
  maker_of_plan.put(y, maker_of_plan.buffer(BufferKind::output, 16, 16, 2, 3));
  maker_of_plan.run_in_order();
  Plan plan = maker_of_plan.finish();
  plan.layout.buffers[first].parts = {{Bytes(4), {StepId(0), StepId(3)}}, {Bytes(4), {StepId(0), StepId(1)}}};
  plan.layout.buffers[second].parts = {{Bytes(4), {StepId(2), StepId(3)}}, {Bytes(4), {StepId(1), StepId(3)}}};
  const std::string found = messages(verify(graph, plan));
  EXPECT_NE(found.find("'b' (tensor 2) is at offset 4 of region 0 'arena', whose alignment is 16"), std::string::npos)
      << found;
}

// The copy moves a by 2 bytes within its buffer, the last bytes first.
TEST(Neighbors, CopiesDoNotMakeParts) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {4});
  const TensorId a = maker.result("a", {4}, "Gemm", {x});
  const TensorId y = maker.result("y", {4}, "Gemm", {a});
  const Graph graph = maker.make({y});
  PlanMaker plan(graph);
  const BufferId moved = plan.buffer(BufferKind::temporary, 8, 0, 0, 4);
  const ValueId first = plan.put(a, moved);
  plan.compute(NodeId(0));
  const ValueId second = plan.put(a, moved, 2);
  plan.copy(first, second, Interval<std::int64_t>{2, 4});
  plan.copy(first, second, Interval<std::int64_t>{0, 2});
  plan.put(y, plan.buffer(BufferKind::output, 16, 16, 3, 4));
  plan.compute(NodeId(1));
  EXPECT_NE(messages(verify(graph, plan.finish()))
                .find("'a' (tensor 1) is at offset 2 of region 0 'arena', whose "
                      "alignment is 16, and is not part of a larger tensor"),
            std::string::npos)
      << messages(verify(graph, plan.finish()));
}

}  // namespace
}  // namespace lowtide::testing
