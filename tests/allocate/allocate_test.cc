// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>

#include "lowtide/base/limits.h"
#include "tests/allocate/problems.h"
#include "tests/campaign.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();

Packing allocate_or_die(const PackingProblem& problem, const AllocateOptions& options = {}) {
  Result<Packing> packing = allocate(problem, options);
  EXPECT_TRUE(packing.ok()) << (packing.ok() ? "" : packing.error().describe());
  EXPECT_EQ(defect_of(problem, packing->offsets), "");
  return *std::move(packing);
}

PackingBuffer fixed_at(std::int64_t offset, TimeSpan lifespan, std::int64_t size) {
  return {.lifespan = lifespan, .gaps = {}, .size = Bytes(size), .fixed_offset = Offset(offset)};
}

// The example of allocate.h. From time 1 to 4, 60 + 40 bytes are live.
TEST(Allocate, SolvesTheExampleOfTheHeader) {
  PackingProblem problem;
  problem.buffers.push_back({.lifespan = {0, 2}, .size = Bytes(60)});
  problem.buffers.push_back({.lifespan = {1, 4}, .size = Bytes(40)});
  problem.buffers.push_back({.lifespan = {2, 4}, .size = Bytes(60)});
  const Result<Packing> packing = allocate(problem);
  ASSERT_TRUE(packing.ok());
  EXPECT_EQ(packing->offsets[PackingId(0)], Offset(0));
  EXPECT_EQ(packing->offsets[PackingId(1)], Offset(60));
  EXPECT_EQ(packing->offsets[PackingId(2)], Offset(0));
  EXPECT_EQ(packing->height, Bytes(100));
  EXPECT_TRUE(packing->proven_optimal);
}

TEST(Allocate, NeedsNothingForNoBuffers) {
  const Packing packing = allocate_or_die({});
  EXPECT_EQ(packing.outcome, PackingOutcome::found);
  EXPECT_EQ(packing.height, Bytes(0));
  EXPECT_EQ(packing.bound, Bytes(0));
  EXPECT_TRUE(packing.proven_optimal);
  EXPECT_FALSE(packing.witness_time);
}

TEST(Allocate, PutsASingleBufferAtTheBottom) {
  const Packing packing = allocate_or_die(problem_of({{3, 7, 100}}));
  EXPECT_EQ(packing.offsets[PackingId(0)], Offset(0));
  EXPECT_EQ(packing.height, Bytes(100));
  EXPECT_TRUE(packing.proven_optimal);
  EXPECT_EQ(packing.strategy, "best_fit");
  EXPECT_EQ(packing.witness_time, 3);
}

// 64 + 64: each buffer is in conflict only with its neighbours in the chain.
TEST(Allocate, AlternatesTwoBlocksAlongAChain) {
  const Packing packing = allocate_or_die(problem_of({{0, 2, 64}, {1, 3, 64}, {2, 4, 64}, {3, 5, 64}, {4, 6, 64}}));
  EXPECT_EQ(packing.height, Bytes(128));
  EXPECT_TRUE(packing.proven_optimal);
}

// The example of Pisarchyk and Lee. The load is 28 + 36 + 16 + 8 = 88 at 4, and 36 + 16 + 8 + 64 = 124 at 5.
TEST(Allocate, MeetsTheLoadOfThePublishedExample) {
  const Packing packing = allocate_or_die(problem_of_inclusive(
      {{0, 1, 32}, {1, 4, 28}, {2, 5, 36}, {3, 5, 16}, {4, 5, 8}, {5, 7, 64}, {6, 8, 10}, {7, 8, 40}}));
  EXPECT_EQ(packing.height, Bytes(124));
  EXPECT_EQ(packing.bound, Bytes(124));
  EXPECT_TRUE(packing.proven_optimal);
  EXPECT_EQ(packing.witness_time, 5);
}

// Greedy by size gives 1,088: 448 and 384 at 0, 256 at 448, and those of 192 on top. The load at 0 is 384 + 192 + 192.
TEST(Allocate, MeetsTheLoadWhereGreedyBySizeDoesNot) {
  const Packing packing = allocate_or_die(
      problem_of_inclusive({{0, 0, 384}, {0, 4, 192}, {3, 5, 256}, {0, 3, 192}, {6, 10, 64}, {5, 8, 448}}));
  EXPECT_EQ(packing.height, Bytes(768));
  EXPECT_TRUE(packing.proven_optimal);
}

// MiniMalloc's example. The load is 4 + 4 + 4 at every moment.
TEST(Allocate, MeetsTheLoadOfMiniMallocsExample) {
  PackingProblem problem = problem_of({{0, 3, 4}, {3, 9, 4}, {0, 9, 4}, {9, 21, 4}, {0, 21, 4}});
  problem.capacity = Bytes(12);
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(12));
  EXPECT_EQ(packing.outcome, PackingOutcome::found);
}

TEST(Allocate, CountsNothingForBuffersWithoutBytes) {
  PackingProblem problem = problem_of({{0, 4, 0}, {0, 4, 10}, {1, 2, 0}});
  problem.buffers.push_back(fixed_at(7, {0, 4}, 0));  // inside the bytes of another buffer, but it has no bytes
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(10));
  EXPECT_TRUE(packing.proven_optimal);
}

//        a ####......####        b is live in the gap of a, [4, 8), so both are at 0
//        b     ####
TEST(Allocate, LetsABufferUseAnothersGap) {
  PackingProblem problem = problem_of({{0, 12, 10}, {4, 8, 10}});
  problem.buffers[PackingId(0)].gaps = {{4, 8}};
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(10));
  EXPECT_TRUE(packing.proven_optimal);
}

// b is live one moment longer than the gap of a: 10 + 10.
TEST(Allocate, DoesNotUseAGapThatIsTooShort) {
  PackingProblem problem = problem_of({{0, 12, 10}, {4, 9, 10}});
  problem.buffers[PackingId(0)].gaps = {{4, 8}};
  EXPECT_EQ(allocate_or_die(problem).height, Bytes(20));
}

// A buffer that is never active is in no conflict, but its bytes must exist: 30, not 10.
TEST(Allocate, CountsTheSizeOfABufferThatIsNeverActive) {
  PackingProblem problem = problem_of({{0, 12, 30}, {4, 9, 10}});
  problem.buffers[PackingId(0)].gaps = {{0, 5}, {5, 12}};
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(30));
  EXPECT_TRUE(packing.proven_optimal);
}

//    20 +----------+
//       |    b     |      The first buffer is fixed at bytes [0, 10) from time 5 on. Only b is in conflict with it.
//    10 +----+-----+
//       | c  |fixed|
//     0 +----+-----+
//       0    5    10
TEST(Allocate, GoesAroundFixedBuffers) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(0, {5, 10}, 10));
  problem.buffers.push_back({.lifespan = {0, 10}, .gaps = {}, .size = Bytes(10)});
  problem.buffers.push_back({.lifespan = {0, 5}, .gaps = {}, .size = Bytes(10)});
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.offsets[PackingId(1)], Offset(10));
  EXPECT_EQ(packing.offsets[PackingId(2)], Offset(0));
  EXPECT_EQ(packing.height, Bytes(20));
  EXPECT_TRUE(packing.proven_optimal);
}

TEST(Allocate, AcceptsThatAllBuffersAreFixed) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(8, {0, 4}, 8));
  problem.buffers.push_back(fixed_at(100, {2, 6}, 20));
  problem.buffers.push_back(fixed_at(8, {4, 6}, 8));
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(120));
  EXPECT_EQ(packing.bound, Bytes(120));  // the end of the second, although the load is 28
  EXPECT_TRUE(packing.proven_optimal);
  EXPECT_EQ(packing.witness_time, 2);
}

// Two fixed buffers may have the same bytes if one is active in a gap of the other.
TEST(Allocate, AcceptsAFixedBufferInTheGapOfAnother) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(0, {0, 10}, 8));
  problem.buffers.push_back(fixed_at(4, {4, 6}, 8));
  problem.buffers[PackingId(0)].gaps = {{4, 6}};
  EXPECT_EQ(allocate_or_die(problem).height, Bytes(12));
}

// Two buffers of 3 bytes at multiples of 4, and one of 2 bytes at a multiple of 2, all live at once. The least height
// is 4 + 4 + 2 = 10. The load proves 9, because the topmost buffer may save a byte of padding. Only a search refutes 9.
TEST(Allocate, ProvesBySearchThatACapacityIsTooSmall) {
  PackingProblem problem = problem_of({{0, 1, 3}, {0, 1, 3}, {0, 1, 2}});
  problem.buffers[PackingId(0)].alignment = Bytes(4);
  problem.buffers[PackingId(1)].alignment = Bytes(4);
  problem.buffers[PackingId(2)].alignment = Bytes(2);
  problem.capacity = Bytes(9);
  const Result<Packing> packing = allocate(problem);
  EXPECT_EQ(packing->outcome, PackingOutcome::infeasible);
  EXPECT_TRUE(packing->is_bound_searched);
  EXPECT_GT(packing->decisions, 0);
  EXPECT_EQ(packing->bound, Bytes(10));
  EXPECT_EQ(packing->height, Bytes(10));

  problem.capacity = Bytes(10);
  EXPECT_EQ(allocate(problem)->outcome, PackingOutcome::found);
}

// Nothing can be improved around this fixed buffer. The local search gives up at once, and the exact search proves it,
// with any effort. Before giving up counted as effort, this took twenty seconds.
TEST(Allocate, EndsIfNothingCanBeImproved) {
  PackingProblem problem = problem_of({{0, 9, 64}, {2, 10, 128}, {3, 5, 4096}, {10, 11, 1}});
  problem.buffers[PackingId(1)].fixed_offset = Offset(128);
  problem.buffers[PackingId(2)].alignment = Bytes(8);
  const Result<Packing> packing = allocate(problem, {.effort = 1'000'000'000'000});
  EXPECT_EQ(packing->height, Bytes(128 + 128 + 4096));
  EXPECT_TRUE(packing->proven_optimal);
}

// All alignments are 64, and 100, 30 and 10 bytes are live at once. The height is 128 + 64 + 10 with the smallest
// buffer on top, and 128 + 64 + 30 or 64 + 64 + 100 otherwise. In whole units of 64, it is always 256.
TEST(Allocate, PutsTheLargestPaddingOnTop) {
  PackingProblem problem = problem_of({{0, 1, 100}, {0, 1, 30}, {0, 1, 10}});
  for (PackingBuffer& buffer : problem.buffers) buffer.alignment = Bytes(64);
  const Result<Packing> packing = allocate(problem);
  EXPECT_EQ(packing->height, Bytes(202));
  EXPECT_TRUE(packing->proven_optimal);
  problem.capacity = Bytes(201);
  EXPECT_EQ(allocate(problem)->outcome, PackingOutcome::infeasible);
  problem.capacity = Bytes(202);
  EXPECT_EQ(allocate(problem)->outcome, PackingOutcome::found);
}

// With a capacity, the first offsets that fit are enough. The bound is 1,000, and without a capacity the search reaches
// it.
TEST(Allocate, StopsAtTheFirstOffsetsThatFit) {
  PackingProblem problem = cut_rectangle(3, {.moments = 200, .bytes = 1000, .buffers = 120});
  EXPECT_EQ(allocate(problem)->height, Bytes(1000));
  problem.capacity = Bytes(1200);
  const Result<Packing> packing = allocate(problem);
  EXPECT_EQ(packing->outcome, PackingOutcome::found);
  EXPECT_GT(packing->height, Bytes(1000));
  EXPECT_LE(packing->height, Bytes(1200));
  EXPECT_EQ(packing->bound, Bytes(1000));
  EXPECT_FALSE(packing->proven_optimal);
}

TEST(Allocate, NamesTheMomentWhoseLoadExceedsTheCapacity) {
  PackingProblem problem = problem_of({{0, 3, 10}, {2, 5, 20}, {4, 6, 5}});
  problem.capacity = Bytes(29);  // at 2: 10 + 20
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.outcome, PackingOutcome::infeasible);
  EXPECT_EQ(packing.bound, Bytes(30));
  EXPECT_EQ(packing.height, Bytes(30));
  EXPECT_EQ(packing.witness_time, 2);
  problem.capacity = Bytes(30);
  EXPECT_EQ(allocate_or_die(problem).outcome, PackingOutcome::found);
}

// The load is 5 + 6 = 11, but 6 bytes do not fit into [0, 5) below the fixed buffer, so the least height is 10 + 6. A
// search refutes 12. All ends are even, so this also refutes 13. Without a capacity, it continues up to 16.
TEST(Allocate, ProvesThatABufferDoesNotFitBelowAFixedOne) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(5, {0, 1}, 5));
  problem.buffers.push_back({.lifespan = {0, 1}, .gaps = {}, .size = Bytes(6)});
  problem.capacity = Bytes(12);
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.outcome, PackingOutcome::infeasible);
  EXPECT_EQ(packing.height, Bytes(16));
  EXPECT_EQ(packing.bound, Bytes(14));
  EXPECT_TRUE(packing.is_bound_searched);
  problem.capacity.reset();
  EXPECT_EQ(allocate_or_die(problem).bound, Bytes(16));
}

// Without effort for a search, it neither has a proof nor claims one.
TEST(Allocate, ClaimsNoProofWithoutEffort) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(5, {0, 1}, 5));
  problem.buffers.push_back({.lifespan = {0, 1}, .gaps = {}, .size = Bytes(6)});
  problem.capacity = Bytes(12);
  const Packing packing = allocate_or_die(problem, {.effort = 0});
  EXPECT_EQ(packing.outcome, PackingOutcome::not_found);
  EXPECT_EQ(packing.bound, Bytes(11));
  EXPECT_FALSE(packing.proven_optimal);
}

TEST(Allocate, AcceptsAllTimesOfTheClock) {
  const PackingProblem problem = problem_of(
      {{kEarliest, kLatest, 3}, {kEarliest, -5, 4}, {-5, 0, 4}, {-1, kLatest, 5}, {kLatest - 1, kLatest, 1}});
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(12));  // at -1: 3 + 4 + 5
  EXPECT_EQ(packing.witness_time, -1);
}

TEST(Allocate, ComputesWithTheLargestSizes) {
  constexpr std::int64_t kHalf = limits::kMaxTotalBytes / 2;
  const Packing packing = allocate_or_die(problem_of({{0, 2, kHalf}, {1, 3, kHalf}}));
  EXPECT_EQ(packing.height, Bytes(2 * kHalf));
  EXPECT_TRUE(packing.proven_optimal);
}

TEST(Allocate, GivesTheSameAnswerTwice) {
  const PackingProblem problem = network_like_problem(500, 3);
  const Packing first = allocate_or_die(problem);
  const Packing second = allocate_or_die(problem);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.strategy, second.strategy);
}

// More effort continues where less has stopped, so its answer is never higher. Without effort, best fit answers.
TEST(Allocate, NeverGetsWorseWithMoreEffort) {
  Random random(11);
  int improved = 0;
  for (int round = 0; round < testing::sampled(60); ++round) {
    const PackingProblem problem = random_problem(
        random,
        {.most_buffers = 60, .most_size = 10'000, .moments = 40, .gaps = round % 3 == 1, .fixed = round % 3 == 2});
    Packing less = allocate_or_die(problem, {.effort = 0});
    EXPECT_EQ(less.strategy, "best_fit");
    for (std::int64_t effort = 5; effort < 4'000'000; effort = effort * 3 / 2) {
      Packing more = allocate_or_die(problem, {.effort = effort});
      ASSERT_LE(more.height, less.height) << "round " << round << " effort " << effort;
      ASSERT_GE(more.bound, less.bound) << "round " << round << " effort " << effort;
      improved += more.height < less.height ? 1 : 0;
      less = std::move(more);
      if (less.proven_optimal) break;
    }
  }
  EXPECT_GT(improved, testing::sampled(40));  // otherwise nothing was tested
}

TEST(Allocate, GivesTheSameAnswerWithAnyNumberOfThreads) {
  Random random(12);
  for (int round = 0; round < 40; ++round) {
    PackingProblem problem =
        random_problem(random, {.most_buffers = 40, .most_size = 10'000, .moments = 30, .alignments = round % 3 == 0});
    if (round % 4 == 0) problem.capacity = allocate_or_die(problem, {.effort = 300'000}).bound;
    const Packing one = allocate_or_die(problem, {.effort = 300'000});
    for (int threads : {2, 3, 16}) {
      const Packing several = allocate_or_die(problem, {.effort = 300'000, .threads = threads});
      ASSERT_EQ(several.offsets, one.offsets) << "round " << round;
      ASSERT_EQ(several.strategy, one.strategy);
      ASSERT_EQ(several.bound, one.bound);
      ASSERT_EQ(several.decisions, one.decisions);
    }
  }
}

TEST(Allocate, ReportsEveryImprovement) {
  Random random(13);
  int reported = 0;
  for (int round = 0; round < 40; ++round) {
    const PackingProblem problem = random_problem(random, {.most_buffers = 60, .most_size = 10'000, .moments = 40});
    std::vector<Packing> all;
    const Packing last = allocate_or_die(
        problem, {.effort = 1'000'000, .on_improvement = [&](const Packing& packing) { all.push_back(packing); }});
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().strategy, "best_fit");
    for (std::size_t at = 0; at < all.size(); ++at) {
      EXPECT_EQ(defect_of(problem, all[at].offsets), "");
      if (at > 0) {
        ASSERT_LT(all[at].height, all[at - 1].height);
      }
    }
    EXPECT_EQ(all.back().offsets, last.offsets);
    EXPECT_EQ(all.back().height, last.height);
    reported += static_cast<int>(all.size());
  }
  EXPECT_GT(reported, 80);
}

// If it is stopped before it begins, best fit answers. If it is stopped at the first improvement, that one is kept.
TEST(Allocate, KeepsTheBestWhenItIsStopped) {
  Random random(14);
  const PackingProblem problem = random_problem(random, {.most_buffers = 300, .most_size = 100'000, .moments = 100});
  std::atomic<bool> stop{true};
  const Packing none = allocate_or_die(problem, {.effort = 1'000'000'000'000, .stop = &stop});
  EXPECT_EQ(none.strategy, "best_fit");

  stop = false;
  int reported = 0;
  const AllocateOptions options{.effort = 1'000'000'000'000,
                                .threads = 2,
                                .on_improvement = [&](const Packing&) { stop = ++reported == 2; },
                                .stop = &stop};
  const Packing second = allocate_or_die(problem, options);
  EXPECT_LT(second.height, none.height);
  EXPECT_EQ(reported, 2);
}

}  // namespace
}  // namespace lowtide::testing
