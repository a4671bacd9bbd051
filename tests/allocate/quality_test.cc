// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// How good the heights are: compared with the optimum if all orders can be tried, otherwise with the bound.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "lowtide/allocate/allocate.h"
#include "lowtide/base/limits.h"
#include "tests/allocate/problems.h"

namespace lowtide::testing {
namespace {

struct Quality {
  int problems = 0;
  int optimal = 0;
  int optimal_in_units = 0;  // heights in multiples of the smallest alignment
  int proven = 0;
  double mean_ratio = 0;  // height over optimum
};

std::int64_t in_units(const PackingProblem& problem, std::int64_t height) {
  std::int64_t unit = limits::kMaxAlignment;
  for (const PackingBuffer& buffer : problem.buffers) unit = std::min(unit, buffer.alignment.count());
  return (height + unit - 1) / unit;
}

Quality measure(const Features& features, std::uint64_t seed, int rounds) {
  Random random(seed);
  Quality quality{.problems = rounds};
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = random_valid_problem(random, features);
    const Result<Packing> packing = allocate(problem, {.effort = 1'000'000});
    if (!packing.ok()) {
      ADD_FAILURE() << packing.error().describe();
      continue;
    }
    const std::int64_t height = packing->height.count();
    const std::int64_t optimum = features.colocations ? least_height_of_all_offsets(problem) : least_height(problem);
    EXPECT_EQ(defect_of(problem, packing->offsets), "") << "round " << round;
    EXPECT_GE(height, optimum) << "round " << round;
    EXPECT_LE(packing->bound.count(), optimum) << "round " << round;
    EXPECT_EQ(packing->proven_optimal, packing->height == packing->bound);
    quality.mean_ratio += (optimum == 0 ? 1.0 : static_cast<double>(height) / static_cast<double>(optimum)) / rounds;
    quality.optimal += height == optimum ? 1 : 0;
    quality.optimal_in_units += in_units(problem, height) == in_units(problem, optimum) ? 1 : 0;
    quality.proven += packing->proven_optimal ? 1 : 0;
  }
  return quality;
}

// With at most 6 buffers, the optimum is always found and proven.
TEST(Quality, IsOptimalOnPlainSmallProblems) {
  const Quality quality = measure({.most_buffers = 6}, 101, 1000);
  EXPECT_EQ(quality.optimal, quality.problems);
  EXPECT_EQ(quality.proven, quality.problems);
}

TEST(Quality, IsOptimalOnSmallProblemsWithGaps) {
  const Quality quality = measure({.most_buffers = 6, .gaps = true}, 103, 1000);
  EXPECT_EQ(quality.optimal, quality.problems);
  EXPECT_EQ(quality.proven, quality.problems);
}

TEST(Quality, IsOptimalOnSmallProblemsWithFixedBuffers) {
  const Quality quality = measure({.most_buffers = 6, .fixed = true}, 104, 1000);
  EXPECT_EQ(quality.optimal, quality.problems);
  EXPECT_EQ(quality.proven, quality.problems);
}

TEST(Quality, IsOptimalOnSmallRelations) {
  const Quality quality =
      measure({.most_buffers = 6, .alignments = true, .fixed = true, .zero_sizes = true, .relation = true}, 106, 1000);
  EXPECT_EQ(quality.optimal, quality.problems);
  EXPECT_EQ(quality.proven, quality.problems);
}

TEST(Quality, IsOptimalOnSmallProblemsWithGroups) {
  const Quality quality = measure({.most_buffers = 6, .most_size = 5, .gaps = true, .colocations = true}, 108, 1000);
  EXPECT_EQ(quality.optimal, quality.problems);
  EXPECT_EQ(quality.proven, quality.problems);
}

TEST(Quality, IsOptimalOnSmallProblemsWithAllFeatures) {
  for (bool relation : {false, true}) {
    const Quality quality = measure({.most_buffers = 6,
                                     .most_size = 5,
                                     .alignments = true,
                                     .gaps = true,
                                     .fixed = true,
                                     .zero_sizes = true,
                                     .relation = relation,
                                     .colocations = true},
                                    109, 1000);
    EXPECT_EQ(quality.optimal, quality.problems);
    EXPECT_EQ(quality.proven, quality.problems);
  }
}

// The load proves little here, so the exact search proves the optimum.
TEST(Quality, IsOptimalOnSmallProblemsWithAlignment) {
  const Quality quality = measure({.most_buffers = 6, .alignments = true}, 102, 1000);
  EXPECT_EQ(quality.optimal, quality.problems);
  EXPECT_EQ(quality.proven, quality.problems);
}

TEST(Quality, IsOptimalAtTheEndsOfTheClock) {
  const Quality quality = measure(
      {.most_buffers = 6, .alignments = true, .gaps = true, .fixed = true, .zero_sizes = true, .extreme_times = true},
      105, 1000);
  EXPECT_EQ(quality.optimal, quality.problems);
  EXPECT_EQ(quality.proven, quality.problems);
}

// Without any slack, these are the hardest problems of their size. The greedy orders stay 4 % above the bound. The
// search comes near it.
TEST(Quality, ComesNearTheBoundWithoutAnySlack) {
  double greedy = 0;
  double all = 0;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const PackingProblem problem =
        cut_rectangle(static_cast<std::uint64_t>(round), {.moments = 200, .bytes = 1000, .buffers = 120});
    const Result<Packing> without = allocate(problem, {.effort = 30'000});  // ends before the search
    const Result<Packing> with = allocate(problem, {.effort = 20'000'000});
    EXPECT_EQ(with->bound, Bytes(1000));
    EXPECT_EQ(defect_of(problem, with->offsets), "");
    greedy += static_cast<double>(without->height.count()) / 1000 / kRounds;
    all += static_cast<double>(with->height.count()) / 1000 / kRounds;
  }
  EXPECT_LE(greedy, 1.06);
  EXPECT_LE(all, 1.005);
}

TEST(Quality, MeetsTheBoundOnNetworks) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PackingProblem problem = network_like_problem(300, seed);
    const Result<Packing> packing = allocate(problem, {.effort = 5'000'000});
    const double gap =
        static_cast<double>((packing->height - packing->bound).count()) / static_cast<double>(packing->bound.count());
    EXPECT_LE(gap, 0.001) << "seed " << seed;
    met += in_units(problem, packing->height.count()) == in_units(problem, packing->bound.count()) ? 1 : 0;
  }
  EXPECT_GE(met, 18);
}

}  // namespace
}  // namespace lowtide::testing
