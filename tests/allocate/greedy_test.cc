// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "lowtide/allocate/greedy/gap_rule.h"
#include "lowtide/allocate/greedy/orders.h"
#include "lowtide/allocate/greedy/placer.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

using ::testing::ElementsAre;
using testing::problem_of;
using Order = std::vector<PackingId> (*)(const CompressedProblem&);

Effort unlimited() { return {.limit = std::numeric_limits<std::int64_t>::max()}; }

Placements place(const PackingProblem& problem, Order order, GapRule rule) {
  const CompressedProblem compressed = compress(problem);
  Placer placer(compressed, nullptr);
  Effort effort = unlimited();
  return *place_in_order(placer, order(compressed), rule, effort);
}

std::int64_t choose(std::vector<AddressRange> taken, std::int64_t size, std::int64_t alignment, GapRule rule) {
  return choose_offset(taken, size, alignment, rule);
}

std::vector<std::int64_t> listed(const Placements& placements) {
  return {placements.offsets.begin(), placements.offsets.end()};
}

TEST(GapRule, TakesTheFreeStretchBelowTheLowestBlock) {
  EXPECT_EQ(choose({{5, 8}, {12, 16}}, 5, 1, GapRule::lowest), 0);
  EXPECT_EQ(choose({{5, 8}, {12, 16}}, 5, 1, GapRule::tightest), 0);
}

// Free: [0, 5), [8, 12), [16, ...).
TEST(GapRule, PrefersTheLowestOrTheTightest) {
  EXPECT_EQ(choose({{12, 16}, {5, 8}}, 3, 1, GapRule::lowest), 0);
  EXPECT_EQ(choose({{12, 16}, {5, 8}}, 3, 1, GapRule::tightest), 8);
  EXPECT_EQ(choose({{12, 16}, {5, 8}}, 6, 1, GapRule::lowest), 16);
  EXPECT_EQ(choose({{12, 16}, {5, 8}}, 6, 1, GapRule::tightest), 16);
}

// [5, 8) leaves [8, 12): at alignment 8 four bytes fit there, and [0, 5) too.
TEST(GapRule, AlignsWithinTheStretch) {
  EXPECT_EQ(choose({{5, 8}, {12, 16}}, 4, 8, GapRule::tightest), 8);
  EXPECT_EQ(choose({{5, 9}, {14, 16}}, 5, 8, GapRule::tightest), 0);
  EXPECT_EQ(choose({{0, 9}, {14, 16}}, 5, 8, GapRule::lowest), 16);  // [9, 14) has 5 bytes, but none at a multiple of 8
}

TEST(GapRule, SeesThroughRangesThatOverlap) {
  EXPECT_EQ(choose({{0, 10}, {2, 4}, {6, 20}}, 3, 1, GapRule::lowest), 20);
  EXPECT_EQ(choose({}, 3, 64, GapRule::tightest), 0);
}

//   160 +-----------+
//       |     b     |      c meets b alone. Below b, where a was, 100 bytes are free: c belongs there,
//   100 +-----+-----+----  not on top of b at 160. Load at 1: 100 + 60.
//       |  a  |  c? |
//     0 +-----+-----+
TEST(GreedyBySize, UsesTheSpaceBelowTheLowestLiveBlock) {
  const PackingProblem problem = problem_of({{0, 2, 100}, {1, 4, 60}, {3, 5, 50}});
  for (GapRule rule : {GapRule::lowest, GapRule::tightest}) {
    const Placements placements = place(problem, greedy_by_size, rule);
    EXPECT_THAT(listed(placements), ElementsAre(0, 100, 0));
    EXPECT_EQ(placements.height, 160);
  }
}

// The published vector, largest first: 64 at 0; 40 meets it: 64; 36 meets 64: 64; 32: 0; 28 meets 36 and 32: 32;
// 16 meets 64 [0,64), 36 [64,100) and 28: 100; 10 meets 64 and 40 [64,104): 104; 8 meets all but 10: 116.
TEST(GreedyBySize, GivesTheOffsetsOfThePublishedExample) {
  const PackingProblem problem = testing::problem_of_inclusive(
      {{0, 1, 32}, {1, 4, 28}, {2, 5, 36}, {3, 5, 16}, {4, 5, 8}, {5, 7, 64}, {6, 8, 10}, {7, 8, 40}});
  const Placements placements = place(problem, greedy_by_size, GapRule::tightest);
  EXPECT_THAT(listed(placements), ElementsAre(0, 32, 64, 100, 116, 0, 104, 64));
  EXPECT_EQ(placements.height, 124);
}

// A known weak point: 1,088 where 768 is possible. If this changes, the order of the strategies deserves a new look.
TEST(GreedyBySize, CanWasteFortyPercent) {
  const PackingProblem problem =
      testing::problem_of_inclusive({{0, 0, 384}, {0, 4, 192}, {3, 5, 256}, {0, 3, 192}, {6, 10, 64}, {5, 8, 448}});
  EXPECT_EQ(place(problem, greedy_by_size, GapRule::tightest).height, 1088);
  EXPECT_EQ(testing::least_height(problem), 768);
}

std::vector<std::uint32_t> numbers(const std::vector<PackingId>& order) {
  std::vector<std::uint32_t> out;
  for (PackingId id : order) out.push_back(id.value());
  return out;
}

TEST(Orders, SortAsTheirNamesSay) {
  // Load: [0, 1) 9 + 3 = 12; [1, 2) 3 + 8 = 11; [2, 3) 8 + 3 = 11 and the last part [3, 5) 3 + 4 = 7.
  const CompressedProblem problem = compress(problem_of({{0, 1, 9}, {0, 2, 3}, {1, 3, 8}, {2, 5, 3}, {3, 5, 4}}));
  EXPECT_THAT(numbers(greedy_by_size(problem)), ElementsAre(0, 2, 4, 1, 3));
  EXPECT_THAT(numbers(greedy_by_lifespan(problem)), ElementsAre(2, 1, 3, 0, 4));  // moments 0 1 2 3 5: 4 and 0 have 1
  EXPECT_THAT(numbers(greedy_by_area(problem)), ElementsAre(2, 0, 1, 3, 4));      // 16, 9, 6, 6, 4
  EXPECT_THAT(numbers(greedy_by_breadth(problem)), ElementsAre(0, 1, 2, 3, 4));   // by 12, 12, 11, 11, 7
}

TEST(Orders, LeaveOutWhatIsFixedOrMeetsNobody) {
  PackingProblem problem = problem_of({{0, 1, 9}, {0, 2, 0}, {1, 3, 8}, {0, 4, 5}});
  problem.buffers[PackingId(2)].fixed_offset = Offset(0);
  problem.buffers[PackingId(3)].gaps = {{0, 4}};
  for (Order order : {greedy_by_size, greedy_by_breadth, greedy_by_lifespan, greedy_by_area}) {
    EXPECT_THAT(numbers(order(compress(problem))), ElementsAre(0));
  }
}

TEST(PlaceInOrder, StopsWhenTheEffortEnds) {
  const CompressedProblem problem = compress(testing::network_like_problem(200, 1));
  Placer placer(problem, nullptr);
  Effort effort{.limit = 100};
  EXPECT_FALSE(place_in_order(placer, greedy_by_size(problem), GapRule::lowest, effort));
}

// Two ways to find the conflicts, one answer.
TEST(Placer, AgreesWithAndWithoutAGraph) {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 60,
                                                                    .most_size = 100,
                                                                    .moments = 40,
                                                                    .alignments = true,
                                                                    .gaps = round % 2 == 0,
                                                                    .fixed = round % 3 == 0,
                                                                    .zero_sizes = true});
    const CompressedProblem compressed = compress(problem);
    Effort effort = unlimited();
    const std::optional<ConflictGraph> graph = conflict_graph(compressed, effort);
    Placer with(compressed, &*graph);
    Placer without(compressed, nullptr);
    const std::vector<PackingId> order = greedy_by_area(compressed);
    const auto a = place_in_order(with, order, GapRule::tightest, effort);
    const auto b = place_in_order(without, order, GapRule::tightest, effort);
    ASSERT_EQ(a->offsets, b->offsets) << "round " << round;
  }
}

TEST(ConflictGraph, HoldsExactlyThePairsThatLiveTogether) {
  Random random(22);
  for (int round = 0; round < 200; ++round) {
    const PackingProblem problem =
        testing::random_problem(random, {.most_buffers = 20, .gaps = round % 2 == 0, .zero_sizes = true});
    const CompressedProblem compressed = compress(problem);
    Effort effort = unlimited();
    const std::optional<ConflictGraph> graph = conflict_graph(compressed, effort);
    std::size_t pairs = 0;
    for (PackingId a : all_ids<PackingId>(problem.buffers.size())) {
      for (PackingId b : all_ids<PackingId>(problem.buffers.size())) {
        const auto neighbours = graph->neighbours(a);
        const bool is_there = std::find(neighbours.begin(), neighbours.end(), b) != neighbours.end();
        const bool expected = a != b && problem.buffers[a].size > Bytes(0) && problem.buffers[b].size > Bytes(0) &&
                              testing::live_together(problem.buffers[a], problem.buffers[b]);
        ASSERT_EQ(is_there, expected) << "round " << round << ": " << a.value() << ", " << b.value();
        pairs += is_there ? 1 : 0;
      }
    }
    EXPECT_EQ(graph->pairs(), pairs / 2);
    EXPECT_GE(count_meeting_pairs(compressed), static_cast<std::int64_t>(graph->pairs()));
    if (round % 2 == 1) {
      EXPECT_EQ(count_meeting_pairs(compressed), static_cast<std::int64_t>(graph->pairs()));
    }
  }
}

// Ten times the buffers of a network cost about ten times the pairs, not a hundred times.
TEST(GreedyBySize, LooksAtNearlyLinearlyManyPairsOnNetworks) {
  const auto work = [](std::size_t count) {
    const CompressedProblem problem = compress(testing::network_like_problem(count, 7));
    Placer placer(problem, nullptr);
    Effort effort = unlimited();
    EXPECT_TRUE(place_in_order(placer, greedy_by_size(problem), GapRule::lowest, effort));
    return effort.spent;
  };
  EXPECT_LE(work(100'000), 15 * work(10'000));
}

}  // namespace
}  // namespace lowtide::allocate_internal
