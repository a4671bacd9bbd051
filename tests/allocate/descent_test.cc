// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/improve/descent.h"

#include <gtest/gtest.h>

#include <limits>

#include "lowtide/allocate/exact/interval_problem.h"
#include "lowtide/allocate/exact/skyline_search.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

// If alignments differ, the optimum is often above the load. Then only a search that ends proves it.
TEST(Descent, RaisesTheBoundToTheOptimum) {
  Random random(35);
  int raised = 0;
  for (int round = 0; round < 1500; ++round) {
    const PackingProblem problem =
        testing::random_problem(random, {.most_buffers = 6, .most_size = 16, .moments = 6, .alignments = true});
    const CompressedProblem compressed = compress(problem);
    const IntervalProblem cliques = *interval_problem(compressed);
    const std::int64_t load = height_bound(compressed).height;
    const std::int64_t least = testing::least_height(problem);
    if (least == load) continue;
    ++raised;
    const SearchTask task = search_task(compressed, cliques);
    Descent descent(compressed, task, load, load);
    Incumbent best({.offsets = IdVector<PackingId, std::int64_t>(problem.buffers.size()),
                    .height = std::numeric_limits<std::int64_t>::max() / 4},
                   "none");
    Effort effort{.limit = 10'000'000};
    EXPECT_TRUE(descent.try_target(best, effort.limit, effort));
    ASSERT_EQ(best.height(), least) << "round " << round;
    ASSERT_EQ(descent.bound(), least) << "round " << round;
  }
  EXPECT_GE(raised, 20);
}

}  // namespace
}  // namespace lowtide::allocate_internal
