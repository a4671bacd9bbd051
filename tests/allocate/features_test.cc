// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/allocate/allocate.h"
#include "lowtide/verify/check_packing.h"
#include "tests/allocate/problems.h"

// The promises of `allocate`, on problems with more than lifespans. They use three different searches.
namespace lowtide::testing {
namespace {

struct Feature {
  const char* name;
  Features features;
};

std::vector<Feature> features() {
  const Features plain{.most_buffers = 24, .most_size = 1'000, .moments = 16};
  std::vector<Feature> all(5, {"plain", plain});
  all[1] = {"gaps", plain};
  all[1].features.gaps = true;
  all[2] = {"fixed", plain};
  all[2].features.fixed = true;
  all[3] = {"relation", plain};
  all[3].features.relation = true;
  all[4] = {"colocations", plain};
  all[4].features.colocations = true;
  return all;
}

Packing must_allocate(const PackingProblem& problem, const AllocateOptions& options) {
  Result<Packing> packing = allocate(problem, options);
  EXPECT_TRUE(packing.ok());
  EXPECT_EQ(defect_of(problem, packing->offsets), "");
  return *std::move(packing);
}

// a, b and c are in conflict with each other, and d with c. So the heaviest clique has 3 + 4 + 5 bytes, the other 5 +
// 6.
TEST(AllocateFeatures, ARelationHasAWitnessOfItsBound) {
  PackingProblem problem;
  for (std::int64_t size : {3, 4, 5, 6}) problem.buffers.push_back({.lifespan = {0, 1}, .size = Bytes(size)});
  const std::vector<PackingId> abc = {PackingId(0), PackingId(1), PackingId(2)};
  problem.conflicts = {{abc[0], abc[1]}, {abc[1], abc[2]}, {abc[0], abc[2]}, {abc[2], PackingId(3)}};
  problem.capacity = Bytes(11);
  const Packing packing = must_allocate(problem, {});
  EXPECT_EQ(packing.outcome, PackingOutcome::infeasible);
  EXPECT_EQ(packing.bound, Bytes(12));
  EXPECT_EQ(packing.witness_buffers, abc);
  EXPECT_EQ(packing.witness_time, std::nullopt);
  EXPECT_FALSE(packing.is_bound_searched);
  EXPECT_TRUE(check_packing_bound(problem, packing).is_confirmed);
}

// Problems that the first strategies do not solve, so that an exact search runs on all threads.
TEST(AllocateFeatures, AnyNumberOfThreadsGivesTheSameAnswer) {
  for (const Feature& feature : features()) {
    Random random(21);
    int searched = 0;
    for (int round = 0; round < 400 && searched < 4; ++round) {
      PackingProblem problem = random_valid_problem(random, feature.features);
      if (round % 4 == 0) problem.capacity = must_allocate(problem, {.effort = 1'000}).bound;
      const Packing one = must_allocate(problem, {.effort = 300'000});
      if (one.decisions == 0) continue;
      ++searched;
      for (int threads : {2, 16}) {
        const Packing several = must_allocate(problem, {.effort = 300'000, .threads = threads});
        ASSERT_EQ(several.offsets, one.offsets) << feature.name << " " << round;
        ASSERT_EQ(several.strategy, one.strategy) << feature.name << " " << round;
        ASSERT_EQ(several.bound, one.bound) << feature.name << " " << round;
        ASSERT_EQ(several.decisions, one.decisions) << feature.name << " " << round;
        ASSERT_EQ(several.outcome, one.outcome) << feature.name << " " << round;
      }
    }
    EXPECT_EQ(searched, 4) << feature.name;
  }
}

TEST(AllocateFeatures, MoreEffortIsNeverWorse) {
  for (const Feature& feature : features()) {
    Random random(22);
    int improved = 0;
    for (int round = 0; round < 12; ++round) {
      const PackingProblem problem = random_valid_problem(random, feature.features);
      std::optional<Packing> less;
      for (std::int64_t effort = 0; effort < 1'000'000; effort = effort * 3 / 2 + 5) {
        Packing more = must_allocate(problem, {.effort = effort});
        if (less) {
          ASSERT_LE(more.height, less->height) << feature.name << " " << round << " " << effort;
          ASSERT_GE(more.bound, less->bound) << feature.name << " " << round << " " << effort;
          improved += more.height < less->height ? 1 : 0;
        }
        less = std::move(more);
        if (less->proven_optimal) break;
      }
    }
    EXPECT_GE(improved, 2) << feature.name;
  }
}

// Every reported answer is valid and lower than the one before, and the last one is returned. If the run is stopped at
// the second answer, that one is returned.
TEST(AllocateFeatures, ReportedAnswersAreValidAndTheLastIsKept) {
  for (const Feature& feature : features()) {
    Random random(23);
    int stopped = 0;
    for (int round = 0; round < 12; ++round) {
      const PackingProblem problem = random_valid_problem(random, feature.features);
      std::vector<Packing> reported;
      std::atomic<bool> stop = false;
      AllocateOptions options{.effort = 1'000'000, .on_improvement = [&](const Packing& packing) {
                                EXPECT_EQ(defect_of(problem, packing.offsets), "") << feature.name;
                                EXPECT_TRUE(reported.empty() || packing.height < reported.back().height)
                                    << feature.name;
                                reported.push_back(packing);
                                stop = options.stop != nullptr && reported.size() == 2;
                              }};
      const Packing last = must_allocate(problem, options);
      ASSERT_FALSE(reported.empty());
      EXPECT_EQ(reported.back().offsets, last.offsets) << feature.name;
      const std::vector<Packing> all = std::move(reported);

      reported.clear();
      options.stop = &stop;
      options.threads = 2;
      const Packing at_second = must_allocate(problem, options);
      if (all.size() < 2) continue;
      ++stopped;
      EXPECT_EQ(reported.size(), 2U) << feature.name;
      EXPECT_EQ(at_second.offsets, all[1].offsets) << feature.name;
    }
    EXPECT_GE(stopped, 2) << feature.name;
  }
}

}  // namespace
}  // namespace lowtide::testing
