// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// How good the heights are, not only that they hold: against the optimum where all orders can be tried, and against
// the bound where not.

#include <gtest/gtest.h>

#include <cstdio>

#include "lowtide/allocate/allocate.h"
#include "lowtide/allocate/best_fit.h"
#include "lowtide/allocate/conflict_graph.h"
#include "lowtide/allocate/ejection.h"
#include "lowtide/allocate/load_bound.h"
#include "lowtide/verify/packing_check.h"
#include "tests/allocate/problems.h"

namespace lowtide {
namespace {

using testing::Features;

struct Quality {
  double mean_ratio = 0;   // height over optimum
  double worst_ratio = 1;
  double optimal = 0;      // share of problems
  double proven = 0;       // share of problems
};

Quality measure(const Features& features, std::uint64_t seed, int rounds) {
  Random random(seed);
  Quality quality;
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = random_problem(random, features);
    const Result<Packing> packing = allocate(problem, {.effort = 1'000'000});
    if (!packing.ok()) {
      ADD_FAILURE() << packing.error().describe();
      continue;
    }
    const std::int64_t height = packing->height.count();
    const std::int64_t optimum = testing::least_height(problem);
    EXPECT_EQ(testing::defect_of(problem, packing->offsets), "") << "round " << round;
    EXPECT_GE(height, optimum) << "round " << round;
    EXPECT_LE(packing->bound.count(), optimum) << "round " << round;
    EXPECT_EQ(packing->proven_optimal, packing->height == packing->bound);
    const double ratio = optimum == 0 ? 1.0 : static_cast<double>(height) / static_cast<double>(optimum);
    quality.mean_ratio += ratio / rounds;
    quality.worst_ratio = std::max(quality.worst_ratio, ratio);
    quality.optimal += height == optimum ? 1.0 / rounds : 0;
    quality.proven += packing->proven_optimal ? 1.0 / rounds : 0;
  }
  std::printf("    mean %.5f worst %.3f optimal %.4f proven %.4f\n", quality.mean_ratio, quality.worst_ratio, quality.optimal, quality.proven);
  return quality;
}

TEST(Quality, PlainSmallProblems) {
  const Quality quality = measure({.most_buffers = 6}, 101, 3000);
  EXPECT_LE(quality.mean_ratio, 1.05);
  EXPECT_GE(quality.optimal, 0.80);
}

TEST(Quality, SmallProblemsWithAlignment) {
  const Quality quality = measure({.most_buffers = 6, .alignments = true}, 102, 2000);
  EXPECT_LE(quality.mean_ratio, 1.05);
  EXPECT_GE(quality.optimal, 0.80);
}

TEST(Quality, SmallProblemsWithGaps) {
  const Quality quality = measure({.most_buffers = 6, .gaps = true}, 103, 2000);
  EXPECT_LE(quality.mean_ratio, 1.05);
  EXPECT_GE(quality.optimal, 0.80);
}

TEST(Quality, SmallProblemsWithFixedBuffers) {
  const Quality quality = measure({.most_buffers = 6, .fixed = true}, 104, 2000);
  EXPECT_LE(quality.mean_ratio, 1.05);
  EXPECT_GE(quality.optimal, 0.80);
}

TEST(Quality, SmallProblemsWithEverything) {
  const Quality quality = measure(
      {.most_buffers = 6, .alignments = true, .gaps = true, .fixed = true, .zero_sizes = true, .extreme_times = true}, 105, 2000);
  EXPECT_LE(quality.mean_ratio, 1.05);
  EXPECT_GE(quality.optimal, 0.80);
}

}  // namespace
}  // namespace lowtide
