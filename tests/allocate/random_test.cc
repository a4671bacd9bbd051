// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lowtide/allocate/allocate.h"
#include "lowtide/verify/packing_check.h"
#include "tests/allocate/problems.h"

namespace lowtide {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// All features, all strategies; judged by the pairs of this folder and by the verifier, which must agree.
TEST(Allocate, IsNeverWrongOnFiftyThousandRandomProblems) {
  Random random(2026);
  std::set<std::string> strategies;
  for (int round = 0; round < 50'000; ++round) {
    PackingProblem problem = testing::random_problem(random, {.most_buffers = static_cast<int>(random.between(1, 24)),
                                                              .most_size = random.between(1, 100),
                                                              .moments = static_cast<int>(random.between(2, 16)),
                                                              .alignments = random.chance(50),
                                                              .gaps = random.chance(50),
                                                              .fixed = random.chance(50),
                                                              .zero_sizes = random.chance(50),
                                                              .extreme_times = random.chance(20)});
    const Result<Packing> packing = allocate(problem, {.effort = random.between(0, 20'000)});
    ASSERT_TRUE(packing.ok()) << "round " << round << ": " << packing.error().describe();
    ASSERT_EQ(testing::defect_of(problem, packing->offsets), "") << "round " << round;
    problem.capacity = packing->height;
    ASSERT_EQ(joined(check_packing(problem, packing->offsets)), "") << "round " << round;
    ASSERT_GE(packing->bound.count(), testing::largest_load(problem)) << "round " << round;
    ASSERT_LE(packing->bound, packing->height) << "round " << round;
    strategies.insert(packing->strategy);
  }
  EXPECT_EQ(strategies.size(), 12U);  // best fit, four orders with two rules each, ejection: each is the best at times
}

}  // namespace
}  // namespace lowtide
