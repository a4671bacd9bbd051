// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/clique_cover.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

struct Prepared {
  explicit Prepared(const PackingProblem& problem) : compressed(compress(problem)) {
    Effort effort{.limit = 1'000'000'000};
    const std::optional<ConflictGraph> graph = conflict_graph(compressed, effort);
    cover = clique_cover(compressed, &*graph, effort);
  }
  CompressedProblem compressed;
  std::optional<CliqueCover> cover;
};

// Any two of the three are live at a moment without the third. In no order of the cliques are all three intervals.
//   a |==|    |==|
//   b   |=====|          {a, b}, {b, c}, {a, c}: three cliques of two
//   c       |====|
TEST(CliqueCover, HasACliquePerFullestMoment) {
  PackingProblem problem = testing::problem_of({{0, 10, 3}, {2, 7, 4}, {5, 9, 5}});
  problem.buffers[PackingId(0)].gaps = {{3, 8}};
  const Prepared prepared(problem);
  ASSERT_EQ(prepared.cover->cliques(), 3U);
  for (CliqueId clique : all_ids<CliqueId>(3)) EXPECT_EQ(prepared.cover->members(clique).size(), 2U);
  EXPECT_EQ(clique_bound(prepared.compressed, *prepared.cover).height, 9);  // b and c: 4 + 5
}

// {a} at 0 and {b} at 8 are subsets of {a, b} at 1, although nothing is live from 3 to 7.
TEST(CliqueCover, LeavesOutSubsets) {
  PackingProblem problem = testing::problem_of({{0, 2, 3}, {1, 9, 4}});
  problem.buffers[PackingId(1)].gaps = {{3, 7}};
  EXPECT_EQ(Prepared(problem).cover->cliques(), 1U);
}

// The pairs ab, bc and ac make a clique of 3 + 4 + 5 bytes. The pair cd is left: {c, d} has 5 + 6.
TEST(CliqueCover, GrowsPairsIntoCliques) {
  PackingProblem problem = testing::problem_of({{0, 1, 3}, {0, 1, 4}, {0, 1, 5}, {0, 1, 6}});
  problem.conflicts = {{PackingId(0), PackingId(1)},
                       {PackingId(2), PackingId(1)},
                       {PackingId(0), PackingId(2)},
                       {PackingId(3), PackingId(2)}};
  const Prepared prepared(problem);
  EXPECT_EQ(prepared.cover->cliques(), 2U);
  EXPECT_EQ(clique_bound(prepared.compressed, *prepared.cover).height, 12);
}

// Every conflict is in a clique, and every two buffers of a clique are in conflict.
TEST(CliqueCover, CoversEveryConflictAndNothingElse) {
  Random random(49);
  for (int round = 0; round < 500; ++round) {
    const PackingProblem problem = testing::random_valid_problem(
        random, {.most_buffers = 12, .moments = 10, .gaps = true, .relation = random.chance(50)});
    const Prepared prepared(problem);
    std::set<std::pair<PackingId, PackingId>> covered;
    for (CliqueId clique : all_ids<CliqueId>(prepared.cover->cliques())) {
      for (PackingId a : prepared.cover->members(clique)) {
        for (PackingId b : prepared.cover->members(clique)) {
          if (a < b) covered.emplace(a, b);
        }
      }
    }
    std::set<std::pair<PackingId, PackingId>> conflicts;
    for (PackingId b : all_ids<PackingId>(problem.buffers.size())) {
      for (PackingId a : all_ids<PackingId>(b.index())) {
        if (testing::in_conflict(problem, a, b)) conflicts.emplace(a, b);
      }
    }
    ASSERT_EQ(covered, conflicts) << "round " << round;
  }
}

// Interval graphs are perfect, so a relation that comes from time has a clique as heavy as the load. The greedy cliques
// find it here without knowing the times.
TEST(CliqueCover, FindsTheLoadThatARelationHides) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PackingProblem problem = testing::cut_rectangle(seed, {.moments = 40, .bytes = 1000, .buffers = 80});
    const Prepared hidden(testing::without_time(problem));
    EXPECT_EQ(clique_bound(hidden.compressed, *hidden.cover).height, 1000) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
