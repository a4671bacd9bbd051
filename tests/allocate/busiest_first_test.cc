// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/busiest_first.h"

#include <gtest/gtest.h>

#include "lowtide/allocate/greedy/best_fit.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "lowtide/allocate/strategies/table.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using testing::defect_of;

struct Lowered {
  Placements placements;
  std::int64_t bound = 0;
  bool is_lower = false;
};

using Make = decltype(StrategyRow::make);

// Runs the strategy from the answer of best fit.
Lowered lowered(const PackingProblem& problem, Make make, int times = 1) {
  const CompressedProblem compressed = compress(problem);
  Effort effort{.limit = 100'000'000};
  const std::int64_t bound = height_bound(compressed).height;
  StoppingRule stopping(compressed, bound, problem.capacity);
  Incumbent best(best_fit(compressed, effort), "start");
  const std::int64_t before = best.height();
  StrategyContext context{.problem = compressed, .stopping = stopping, .best = best, .effort = effort};
  const std::unique_ptr<Strategy> busiest_first = make(context, strategies());
  for (int time = 0; time < times; ++time) busiest_first->run(8'000'000);
  EXPECT_EQ(best.strategy(), best.height() < before ? "busiest_first" : "start");
  return {.placements = best.placements(), .bound = bound, .is_lower = best.height() < before};
}

// 50 buffers that fill 1,000 bytes completely from time 0 to 50, and 200 smaller ones afterwards.
PackingProblem busy_at_first(std::uint64_t seed) {
  PackingProblem problem = testing::cut_rectangle(seed, {.moments = 50, .bytes = 1000, .buffers = 50});
  Random random(seed);
  for (int other = 0; other < 200; ++other) {
    const std::int64_t begin = random.between(50, 240);
    problem.buffers.push_back(
        {.lifespan = {begin, begin + random.between(1, 10)}, .gaps = {}, .size = Bytes(random.between(1, 100))});
  }
  return problem;
}

class BusiestFirst : public ::testing::TestWithParam<Make> {};
INSTANTIATE_TEST_SUITE_P(, BusiestFirst, ::testing::Values(make_busiest_first, make_busiest_search),
                         [](const auto& made) {
                           return made.param == make_busiest_first ? "all_strategies" : "search";
                         });

TEST_P(BusiestFirst, MeetsABoundThatOnlyASearchReaches) {
  int met = 0;
  int lower = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const PackingProblem problem = busy_at_first(seed);
    const Lowered found = lowered(problem, GetParam());
    EXPECT_EQ(defect_of(problem, found.placements), "") << seed;
    met += found.placements.height == 1000 ? 1 : 0;
    lower += found.is_lower ? 1 : 0;
  }
  EXPECT_GE(met, 8);
  EXPECT_GE(lower, 6);
}

// The load is 1,000 at all times, so all buffers are busy and there is nothing to divide.
TEST_P(BusiestFirst, DoesNothingIfMostBuffersAreBusy) {
  EXPECT_FALSE(lowered(testing::cut_rectangle(1, {}), GetParam()).is_lower);
}

TEST_P(BusiestFirst, IsValidWithGapsAndFixedBuffers) {
  Random random(7);
  int lower = 0;
  for (int round = 0; round < 300; ++round) {
    const PackingProblem problem = testing::random_valid_problem(random, {.most_buffers = 20,
                                                                          .most_size = 50,
                                                                          .moments = 30,
                                                                          .alignments = round % 2 == 0,
                                                                          .gaps = true,
                                                                          .fixed = round % 3 == 0});
    const Lowered found = lowered(problem, GetParam(), 4);
    ASSERT_EQ(defect_of(problem, found.placements), "") << round;
    lower += found.is_lower ? 1 : 0;
  }
  EXPECT_GT(lower, 20);
}

}  // namespace
}  // namespace lowtide::allocate_internal
