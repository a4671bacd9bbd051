// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_curve.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

BudgetPoint point(std::int64_t ram, std::int64_t picoseconds) {
  return {.budget = Bytes(ram),
          .outcome = BudgetOutcome::found,
          .planned_for = Bytes(ram),
          .ram = Bytes(ram),
          .picoseconds = picoseconds};
}

TEST(PlanCurve, TheKneeHasTheLeastSumOfShares) {
  // Shares of RAM and time: 1 + 0, 0.6 + 0.1, 0.2 + 0.2, 0 + 1.
  EXPECT_EQ(knee_of({point(100, 10), point(60, 20), point(20, 30), point(0, 110)}), 2U);
  // All on one line: the largest budget.
  EXPECT_EQ(knee_of({point(30, 0), point(20, 10), point(10, 20)}), 0U);
  // Nothing costs more time, so the least RAM.
  EXPECT_EQ(knee_of({point(30, 5), point(20, 5), point(10, 5)}), 2U);
  EXPECT_EQ(knee_of({point(30, 5), BudgetPoint{}}), 0U);
  EXPECT_EQ(knee_of({BudgetPoint{}}), std::nullopt);
  // Shares need more than 64 bits.
  const std::int64_t large = std::int64_t{1} << 46;
  const std::int64_t long_time = std::int64_t{1} << 60;
  EXPECT_EQ(knee_of({point(large, 0), point(large / 4, long_time / 4), point(0, long_time)}), 1U);
}

TEST(PlanCurve, DescendsToTheFloorAndIsMonotone) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    f0 = Conv(x) : f32[64]
    f1 = Conv(f0) : f32[64]
    f2 = Conv(f1) : f32[64]
    b2 = Conv(f2) : f32[16]
    b1 = Conv(f1, b2) : f32[16]
    b0 = Conv(f0, b1) : f32[16]
    output b0
  })");
  const Result<PlanCurve> curve = plan_curve(std::array{CurveGraph{.graph = &graph}}, dense_target(), {}, 5);
  ASSERT_TRUE(curve.ok());
  ASSERT_EQ(curve->points.size(), 5U);
  // 832 bytes and the input without a limit (recompute_test.cc). A Conv of 256 bytes that reads 256 is the floor.
  EXPECT_EQ(curve->points.front().budget, Bytes(64 + 832));
  EXPECT_EQ(curve->points.back().budget, Bytes(64 + 512));
  EXPECT_EQ(curve->floor, Bytes(64 + 512));
  // In steps of 80: 576 bytes are the least that one rerun needs, so 64 + 592 is possible and 64 + 512 is not.
  EXPECT_EQ(curve->points[3].outcome, BudgetOutcome::found);
  EXPECT_EQ(curve->points[3].reruns, 1);
  EXPECT_EQ(curve->points[4].outcome, BudgetOutcome::infeasible);
  for (std::size_t at = 1; at < 4; ++at) {
    EXPECT_GE(curve->points[at].picoseconds, curve->points[at - 1].picoseconds);
    EXPECT_LE(curve->points[at].ram, curve->points[at].budget);
  }
}

}  // namespace
}  // namespace lowtide::testing
