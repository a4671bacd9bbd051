// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/anneal.h"

#include <gtest/gtest.h>

#include "lowtide/budget/runs/excess_weights.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/moves.h"
#include "lowtide/budget/runs/pruned_scan.h"
#include "lowtide/budget/runs/timeline.h"
#include "tests/budget/budget_problems.h"

namespace lowtide::budget_internal {
namespace {

Runs by_number(const RunProblem& problem) {
  Runs order(problem.count());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

TEST(PrunedScan, LeavesOutRunsThatNothingNeeds) {
  const RunProblem problem(training_chain(3, 7));
  PrunedScan scan(problem);
  ScannedRuns result;
  // The second f1 is not read, so the second f0 is not read either.
  ASSERT_TRUE(scan.scan({0, 1, 2, 3, 4, 0, 1, 5, 0}, result));
  EXPECT_EQ(result.runs, (Runs{0, 1, 2, 3, 4, 0, 5}));
  EXPECT_EQ(result.cost, 3 * 3 + 3 * 4 + 3);
  EXPECT_EQ(result.last_use, (std::vector<std::uint32_t>{1, 4, 3, 4, 6, 6, 6}));
  EXPECT_EQ(result.loads, (std::vector<std::int64_t>{2, 4, 4, 5, 4, 3, 4}));
  EXPECT_FALSE(scan.scan({1, 0, 2, 3, 4, 5}, result));  // f1 before f0
}

// Reruns may be left out, and otherwise both scans count the same.
TEST(PrunedScan, AgreesWithTheFullScan) {
  Random random(5);
  int valid = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const RunProblem problem(random_problem(random, 7));
    Runs runs = by_number(problem);
    for (int more = 0; more < 4; ++more) {
      runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(random.below(runs.size() + 1)),
                  static_cast<RunProblem::Index>(random.below(problem.count())));
    }
    ScannedRuns result;
    if (!PrunedScan(problem).scan(runs, result)) continue;
    ++valid;
    LoadScan scan(problem);
    std::vector<std::int64_t> loads;
    const Loads counted = scan.scan(result.runs, &loads);
    EXPECT_TRUE(counted.is_valid);
    EXPECT_EQ(loads, result.loads);
    EXPECT_EQ(counted.cost, result.cost);
    EXPECT_EQ(counted.peak, result.peak);
    EXPECT_EQ(counted.excess, result.excess);
    EXPECT_LE(result.peak, scan.scan(runs).peak);
  }
  EXPECT_GT(valid, 100);
}

// What the timeline states equals what a scan counts.
void expect_counted(const RunProblem& problem, const Timeline& timeline) {
  std::vector<std::int64_t> loads;
  const Loads counted = LoadScan(problem).scan(timeline.runs(), &loads);
  ASSERT_TRUE(counted.is_valid);
  EXPECT_EQ(timeline.cost(), counted.cost);
  const Timeline::Height height = timeline.height();
  EXPECT_EQ(height.peak, static_cast<double>(counted.peak));
  EXPECT_EQ(height.excess, counted.excess);
  EXPECT_EQ(timeline.load_at(timeline.peak_at()), height.peak);
  for (std::size_t at = 0; at < loads.size(); ++at) {
    EXPECT_EQ(timeline.load_at(at), static_cast<double>(loads[at])) << at;
  }
}

TEST(Timeline, FollowsAddedAndRemovedRuns) {
  // f0 f1 f2 b2 b1 b0: f0 lives from 0 to 5.
  const RunProblem problem(training_chain(3, 7));
  Timeline timeline(problem);
  timeline.begin({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(timeline.last_use_at(0), 5);
  timeline.insert(0, 5);  // f0 again, right before b0
  EXPECT_EQ(timeline.last_use_at(0), 1);
  EXPECT_EQ(timeline.last_use_at(5), 6);
  EXPECT_EQ(timeline.cost(), 3 * 3 + 3 * 4 + 3);
  EXPECT_EQ(timeline.load_at(3), 2 + 2 + 1);  // f1, f2 and b2
  expect_counted(problem, timeline);
  timeline.commit();
  EXPECT_FALSE(timeline.erase(0));  // f1 needs it
  EXPECT_FALSE(timeline.erase(2));  // f2 runs once
  ASSERT_TRUE(timeline.erase(5));
  expect_counted(problem, timeline);
  timeline.undo();
  EXPECT_EQ(timeline.runs(), (Runs{0, 1, 2, 3, 4, 0, 5}));
  expect_counted(problem, timeline);
}

TEST(Timeline, PrunesRunsThatNothingNeeds) {
  const RunProblem problem(training_chain(3, 7));
  Timeline timeline(problem);
  // b1 needs the second f1, and that needs the second f0.
  timeline.begin({0, 1, 2, 3, 0, 1, 4, 5});
  timeline.insert(0, 7);  // b0 has an f0 of its own
  timeline.insert(1, 6);  // b1 has an f1 of its own, and the one before it is needed no more
  timeline.prune();
  EXPECT_EQ(timeline.runs(), (Runs{0, 1, 2, 3, 0, 1, 4, 0, 5}));
  expect_counted(problem, timeline);
}

// Random moves: valid sequences, counted as by a scan, and taken back without a trace.
TEST(Moves, KeepTheSequenceValid) {
  Random random(5);
  int changed = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const RunProblem problem(random_problem_with_extras(random, 14));
    Timeline timeline(problem);
    timeline.begin(by_number(problem));
    Moves moves(problem, random.next(), timeline);
    for (int step = 0; step < 200; ++step) {
      const Runs before = timeline.runs();
      bool is_change = moves.change(1e9, random.chance(50));
      if (is_change) timeline.prune();
      // A move may run a node again that must not. The timeline knows.
      EXPECT_EQ(timeline.is_allowed(), LoadScan(problem).scan(timeline.runs()).is_valid);
      is_change = is_change && timeline.is_allowed();
      if (is_change) expect_counted(problem, timeline);
      if (is_change && timeline.length() < 3 * problem.count() && random.chance(60)) {
        timeline.commit();
        ++changed;
        continue;
      }
      timeline.undo();
      EXPECT_EQ(timeline.runs(), before);
      expect_counted(problem, timeline);
    }
  }
  EXPECT_GT(changed, 5000);
}

TEST(Annealing, FindsTheLeastCostOfSmallProblems) {
  Random random(6);
  int found = 0;
  int optimal = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const BudgetProblem given = random_problem(random, 7);
    const std::optional<std::int64_t> least = least_cost_by_sweeps(given);
    const RunProblem problem(given);
    Annealing annealing(problem, 1);
    std::int64_t work = 3'000'000;
    annealing.cool(by_number(problem), {}, work);
    const Annealed& answer = annealing.found();
    EXPECT_TRUE(LoadScan(problem).scan(answer.lowest).is_valid);
    if (!answer.best) continue;
    ASSERT_TRUE(least);
    EXPECT_GE(answer.best_cost, *least);
    ++found;
    optimal += answer.best_cost == *least ? 1 : 0;
  }
  EXPECT_GT(found, 25);
  EXPECT_GE(optimal, found * 9 / 10);
}

// From 0.02 of the usual price, a weight grows by a tenth or falls by a fiftieth, within 0.002 and 2,000 of it.
TEST(ExcessWeights, GrowWhereRunsExceedTheBudget) {
  ExcessWeights weights(2, 10);
  EXPECT_EQ(weights.by_node(), (std::vector<double>{0.2, 0.2}));
  weights.adapt({1, 0});
  EXPECT_DOUBLE_EQ(weights.by_node()[0], 0.22);
  EXPECT_DOUBLE_EQ(weights.by_node()[1], 0.196);
  for (int round = 0; round < 1000; ++round) weights.adapt({1, 0});
  EXPECT_EQ(weights.by_node(), (std::vector<double>{20'000, 0.02}));
}

// f0 f1 f2 b2 b1 b0 of 2, 2, 2 and 1, 1, 1 bytes has the loads 2 4 6 7 6 4. With a budget of 5, f2, b2 and b1 exceed it
// by 1, 2 and 1 bytes, and their weights are 2, 10 and 0.
TEST(Timeline, WeighsWhatExceedsTheBudget) {
  const RunProblem problem(training_chain(3, 5));
  Timeline timeline(problem);
  timeline.begin({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(timeline.height().excess, 1 + 2 + 1);
  EXPECT_EQ(timeline.height().weighed, 0);
  timeline.weigh({1, 1, 2, 10, 0, 1});
  EXPECT_EQ(timeline.height().weighed, 1 * 2 + 2 * 10 + 1 * 0);
}

}  // namespace
}  // namespace lowtide::budget_internal
