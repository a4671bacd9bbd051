// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowtide/allocate/allocate.h"
#include "lowtide/verify/check_packing.h"
#include "tests/allocate/problems.h"
#include "tests/campaign.h"
#include "tests/testing/violations.h"

namespace lowtide::testing {
namespace {

// All features and all strategies. The check of all pairs in problems.h and the verifier must agree.
TEST(Allocate, IsNeverWrongOnFiftyThousandRandomProblems) {
  Random random(2026);
  std::set<std::string> strategies;
  for (int round = 0; round < testing::sampled(50'000); ++round) {
    PackingProblem problem = random_problem(random, {.most_buffers = static_cast<int>(random.between(1, 24)),
                                                     .most_size = random.between(1, 100),
                                                     .moments = static_cast<int>(random.between(2, 16)),
                                                     .alignments = random.chance(50),
                                                     .gaps = random.chance(50),
                                                     .fixed = random.chance(50),
                                                     .zero_sizes = random.chance(50),
                                                     .extreme_times = random.chance(20)});
    const Result<Packing> packing = allocate(problem, {.effort = random.between(0, 20'000)});
    ASSERT_TRUE(packing.ok()) << "round " << round << ": " << packing.error().describe();
    ASSERT_EQ(defect_of(problem, packing->offsets), "") << "round " << round;
    problem.capacity = packing->height;
    ASSERT_THAT(messages_of(check_packing(problem, packing->offsets)), ::testing::IsEmpty()) << "round " << round;
    ASSERT_GE(packing->bound.count(), largest_load(problem)) << "round " << round;
    ASSERT_LE(packing->bound, packing->height) << "round " << round;
    ASSERT_TRUE(packing->is_bound_searched || check_packing_bound(problem, *packing).is_confirmed) << "round " << round;
    strategies.insert(packing->strategy);
  }
  EXPECT_GE(strategies.size(), 11U);  // each of best fit, the nine orders and the search is the best one sometimes
}

// With relations and groups, too.
TEST(Allocate, IsNeverWrongOnTwentyThousandGeneralProblems) {
  Random random(2027);
  int proven = 0;
  int with_clique = 0;
  for (int round = 0; round < 20'000; ++round) {
    PackingProblem problem = random_valid_problem(random, {.most_buffers = static_cast<int>(random.between(1, 16)),
                                                           .most_size = random.between(1, 100),
                                                           .moments = static_cast<int>(random.between(2, 16)),
                                                           .alignments = random.chance(50),
                                                           .gaps = random.chance(50),
                                                           .fixed = random.chance(30),
                                                           .zero_sizes = random.chance(50),
                                                           .relation = random.chance(30),
                                                           .colocations = random.chance(50)});
    std::optional<Bytes> reported;
    const Result<Packing> packing =
        allocate(problem, {.effort = random.between(0, 20'000), .on_improvement = [&](const Packing& better) {
                             EXPECT_TRUE(!reported || better.height < *reported);
                             reported = better.height;
                           }});
    ASSERT_TRUE(packing.ok()) << "round " << round << ": " << packing.error().describe();
    ASSERT_EQ(defect_of(problem, packing->offsets), "") << "round " << round;
    ASSERT_EQ(reported, packing->height) << "round " << round;
    problem.capacity = packing->height;
    ASSERT_THAT(testing::messages_of(check_packing(problem, packing->offsets)), ::testing::IsEmpty())
        << "round " << round;
    ASSERT_LE(packing->bound, packing->height) << "round " << round;
    ASSERT_EQ(packing->proven_optimal, packing->bound == packing->height) << "round " << round;
    proven += packing->proven_optimal ? 1 : 0;
    if (!problem.colocations.empty() || packing->is_bound_searched) continue;
    ASSERT_TRUE(check_packing_bound(problem, *packing).is_confirmed) << "round " << round;
    with_clique += packing->witness_buffers.empty() ? 0 : 1;
  }
  EXPECT_GT(proven, 15'000);
  EXPECT_GT(with_clique, 1'000);
}

// The check of problems.h and the verifier also agree on wrong offsets.
TEST(PackingCheck, AgreesOnWrongOffsets) {
  Random random(2028);
  int wrong = 0;
  for (int round = 0; round < 5'000; ++round) {
    const PackingProblem problem = random_valid_problem(random, {.most_buffers = 5,
                                                                 .most_size = 6,
                                                                 .gaps = true,
                                                                 .relation = random.chance(30),
                                                                 .colocations = random.chance(50)});
    IdVector<PackingId, Offset> offsets = allocate(problem)->offsets;
    Offset& moved = offsets[PackingId(static_cast<std::uint32_t>(random.below(offsets.size())))];
    moved = Offset(random.between(0, 12));
    const bool is_wrong = !defect_of(problem, offsets).empty();
    ASSERT_EQ(is_wrong, !check_packing(problem, offsets).empty()) << "round " << round;
    wrong += is_wrong ? 1 : 0;
  }
  EXPECT_GT(wrong, 1'000);
}

}  // namespace
}  // namespace lowtide::testing
