// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/capacity_search.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/allocate/exact/interval_problem.h"
#include "lowtide/allocate/exact/skyline_search.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

TEST(CapacitySearch, ProvesThatBuffersFitOrDoNotFit) {
  Random random(34);
  for (int round = 0; round < 200; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 6, .moments = 6});
    const CompressedProblem compressed = compress(problem);
    const IntervalProblem cliques = *interval_problem(compressed);
    const std::int64_t least = testing::least_height(problem);
    const SearchTask task = search_task(compressed, cliques);
    CapacitySearch search(task);
    Effort effort{.limit = 100'000'000};
    search.set_capacity(least - 1);
    ASSERT_EQ(search.run_round(effort), SearchOutcome::does_not_fit) << "round " << round;
    search.set_capacity(least);
    ASSERT_EQ(search.run_round(effort), SearchOutcome::fits) << "round " << round;
  }
}

// The first configuration that decides wins. What later configurations have done meanwhile must have no effect.
TEST(CapacitySearch, AnswersTheSameWithAnyNumberOfThreads) {
  Random random(36);
  const CompressedProblem compressed =
      compress(testing::random_problem(random, {.most_buffers = 60, .most_size = 4000, .moments = 40}));
  const IntervalProblem cliques = *interval_problem(compressed);
  std::vector<std::string> answers;
  for (int threads : {1, 2, 5, 16}) {
    const SearchTask task = search_task(compressed, cliques);
    CapacitySearch search(task, threads);
    Effort effort{.limit = 3'000'000};
    std::string answer;
    for (std::int64_t capacity = 80'000; capacity > 20'000; capacity = capacity * 9 / 10) {
      search.set_capacity(capacity);
      SearchOutcome outcome = SearchOutcome::undecided;
      for (int round = 0; round < 3 && outcome == SearchOutcome::undecided; ++round) outcome = search.run_round(effort);
      answer += std::to_string(static_cast<int>(outcome)) + " " + std::to_string(effort.spent) + " " +
                std::to_string(search.nodes()) + "\n";
      if (outcome != SearchOutcome::fits) continue;
      for (SearchBuffer buffer : all_ids<SearchBuffer>(cliques.buffers.size())) {
        answer += std::to_string(search.offset(buffer)) + " ";
      }
    }
    answers.push_back(answer);
  }
  for (const std::string& answer : answers) EXPECT_EQ(answer, answers.front());
}

}  // namespace
}  // namespace lowtide::allocate_internal
