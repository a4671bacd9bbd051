// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_curve.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// kTrainingStep with two nodes for f0, so it is slower.
constexpr const char* kSlower = R"(graph "g" {
  input x : f32[16]
  e0 = Conv(x) : f32[64]
  f0 = Conv(e0) : f32[64]
  f1 = Conv(f0) : f32[64]
  f2 = Conv(f1) : f32[64]
  b2 = Conv(f2) : f32[16]
  b1 = Conv(f1, b2) : f32[16]
  b0 = Conv(f0, b1) : f32[16]
  output b0
})";

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
  const Graph graph = graph_of(kTrainingStep);
  const Result<PlanCurve> curve = plan_curve(std::array{CurveGraph{.graph = &graph}}, dense_target(), {.points = 5});
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

// Both graphs need 832 bytes and the input without a limit. Only the slower one, which is preferred, is planned there,
// so the first point has 64 + 832. The second one has 80 bytes less. There, f0 of the faster graph runs again, which
// takes 576 bytes. It reads 64 bytes, and f0 of the slower graph reads 256, so two runs of it take less time than e0
// and f0 there. So this plan is that of both points.
TEST(PlanCurve, TakesACheaperPlanOfASmallerBudget) {
  const Graph slower = graph_of(kSlower);
  const Graph faster = graph_of(kTrainingStep);
  const std::array graphs = {CurveGraph{.graph = &slower}, CurveGraph{.graph = &faster}};
  const Result<PlanCurve> curve = plan_curve(graphs, dense_target(), {.points = 5});
  ASSERT_TRUE(curve.ok());
  const std::vector<BudgetPoint>& points = curve->points;
  ASSERT_EQ(points.size(), 5U);
  EXPECT_EQ(points[0].budget, Bytes(64 + 832));
  EXPECT_EQ(points[0].planned_for, Bytes(64 + 832 - 80));
  for (std::size_t at = 0; at < 4; ++at) {
    EXPECT_EQ(points[at].graph, 1U);
    EXPECT_EQ(points[at].ram, Bytes(64 + 576));
    EXPECT_EQ(points[at].reruns, 1);
    EXPECT_EQ(points[at].picoseconds, points[0].picoseconds);
  }
  EXPECT_LT(points[0].picoseconds, curve->estimate.picoseconds);
  EXPECT_EQ(points[4].outcome, BudgetOutcome::infeasible);
}

// Searches for an order are stages, and the offsets of all rows come from the same order.
TEST(PlanCurve, SearchesForOrdersOnceForAllRows) {
  const Graph graph = graph_of(kTrainingStep);
  PlanOptions options;
  int orders = 0;
  options.on_stage = [&](PlanStage stage) { orders += stage == PlanStage::order ? 1 : 0; };
  std::vector<std::int64_t> rows;
  const Result<PlanCurve> curve =
      plan_curve(std::array{CurveGraph{.graph = &graph}}, dense_target(),
                 {.plan = options, .points = 5, .on_point = [&](std::int64_t at) { rows.push_back(at); }});
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(curve->points.size(), 5U);
  EXPECT_EQ(orders, 1);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(PlanCurve, HasTheVerifiedPlanOfEachRow) {
  const Graph graph = graph_of(kTrainingStep);
  const Result<PlanCurve> curve = plan_curve(std::array{CurveGraph{.graph = &graph}}, dense_target(), {.points = 5});
  ASSERT_TRUE(curve.ok());
  for (const BudgetPoint& point : curve->points) {
    ASSERT_EQ(point.plan != nullptr, point.outcome == BudgetOutcome::found);
    if (point.plan == nullptr) continue;
    EXPECT_TRUE(point.plan->is_verified && point.plan->violations.empty());
    EXPECT_EQ(arena_bytes(point.plan->plan) + point.plan->caller, point.ram);
    EXPECT_EQ(point.plan->capacity, point.planned_for);
    EXPECT_EQ(point.plan->estimate.picoseconds, point.picoseconds);
  }
}

}  // namespace
}  // namespace lowtide::testing
