// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>

#include "lowtide/base/limits.h"
#include "tests/allocate/problems.h"

namespace lowtide {
namespace {

using testing::defect_of;
using ::testing::HasSubstr;
using testing::problem_of;
using testing::problem_of_inclusive;

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

// The example of allocate.h. At times 1 to 3 there are 60 + 40 bytes.
TEST(Allocate, DoesWhatTheExampleOfTheHeaderSays) {
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

TEST(Allocate, GivesNothingForNothing) {
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

// 64 + 64: each meets only its neighbours in the chain.
TEST(Allocate, AlternatesTwoBlocksAlongAChain) {
  const Packing packing = allocate_or_die(problem_of({{0, 2, 64}, {1, 3, 64}, {2, 4, 64}, {3, 5, 64}, {4, 6, 64}}));
  EXPECT_EQ(packing.height, Bytes(128));
  EXPECT_TRUE(packing.proven_optimal);
}

// The vector of Pisarchyk and Lee. Load at 4: 28 + 36 + 16 + 8 = 88; at 5: 36 + 16 + 8 + 64 = 124, the largest.
TEST(Allocate, MeetsTheLoadOfThePublishedExample) {
  const Packing packing = allocate_or_die(problem_of_inclusive(
      {{0, 1, 32}, {1, 4, 28}, {2, 5, 36}, {3, 5, 16}, {4, 5, 8}, {5, 7, 64}, {6, 8, 10}, {7, 8, 40}}));
  EXPECT_EQ(packing.height, Bytes(124));
  EXPECT_EQ(packing.bound, Bytes(124));
  EXPECT_TRUE(packing.proven_optimal);
  EXPECT_EQ(packing.witness_time, 5);
}

// Greedy by size alone gives 1,088: 448 at 0, 384 at 0, 256 at 448, and the 192s on top. Load at 0: 384 + 192 + 192 =
// 768.
TEST(Allocate, MeetsTheLoadWhereGreedyBySizeAloneWastesFortyPercent) {
  const Packing packing = allocate_or_die(
      problem_of_inclusive({{0, 0, 384}, {0, 4, 192}, {3, 5, 256}, {0, 3, 192}, {6, 10, 64}, {5, 8, 448}}));
  EXPECT_EQ(packing.height, Bytes(768));
  EXPECT_TRUE(packing.proven_optimal);
}

// MiniMalloc's example: load 4 + 4 + 4 at every moment.
TEST(Allocate, MeetsTheLoadOfMiniMallocsExample) {
  PackingProblem problem = problem_of({{0, 3, 4}, {3, 9, 4}, {0, 9, 4}, {9, 21, 4}, {0, 21, 4}});
  problem.capacity = Bytes(12);
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(12));
  EXPECT_EQ(packing.outcome, PackingOutcome::found);
}

TEST(Allocate, GivesBuffersOfNoBytesAPlaceThatCostsNothing) {
  PackingProblem problem = problem_of({{0, 4, 0}, {0, 4, 10}, {1, 2, 0}});
  problem.buffers.push_back(fixed_at(7, {0, 4}, 0));  // inside the other's bytes, but it has none of its own
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(10));
  EXPECT_TRUE(packing.proven_optimal);
}

//        a ####......####        a rests in [4, 8), where b lives: both at 0
//        b     ####
TEST(Allocate, LetsABufferUseAnothersGap) {
  PackingProblem problem = problem_of({{0, 12, 10}, {4, 8, 10}});
  problem.buffers[PackingId(0)].gaps = {{4, 8}};
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(10));
  EXPECT_TRUE(packing.proven_optimal);
}

// b reaches one moment into the second part of a: 10 + 10.
TEST(Allocate, KeepsOutOfAGapThatIsTooShort) {
  PackingProblem problem = problem_of({{0, 12, 10}, {4, 9, 10}});
  problem.buffers[PackingId(0)].gaps = {{4, 8}};
  EXPECT_EQ(allocate_or_die(problem).height, Bytes(20));
}

// A buffer that is never active meets nobody, but its bytes must exist: 30, not 10.
TEST(Allocate, CountsTheSizeOfABufferThatRestsAllItsLife) {
  PackingProblem problem = problem_of({{0, 12, 30}, {4, 9, 10}});
  problem.buffers[PackingId(0)].gaps = {{0, 5}, {5, 12}};
  const Packing packing = allocate_or_die(problem);
  EXPECT_EQ(packing.height, Bytes(30));
  EXPECT_TRUE(packing.proven_optimal);
}

//    20 +----------+
//       |  free to |      the first is fixed at [0, 10) from 5 on; who meets it goes above, who does not goes below
//    10 +----+-----+
//       | c  |fixed|
//     0 +----+-----+
//       0    5    10
TEST(Allocate, PlacesAroundFixedBuffers) {
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

TEST(Allocate, AcceptsWhatIsFixedThroughout) {
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

// Two fixed buffers may have the same bytes if one rests while the other is active.
TEST(Allocate, AcceptsFixedBuffersThatTakeTurns) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(0, {0, 10}, 8));
  problem.buffers.push_back(fixed_at(4, {4, 6}, 8));
  problem.buffers[PackingId(0)].gaps = {{4, 6}};
  EXPECT_EQ(allocate_or_die(problem).height, Bytes(12));
}

// Two of 3 bytes at multiples of 4 and one of 2 at a multiple of 2, all at once: the best is 4 + 4 + 2 = 10, the
// padding proves 9 (4 + 4 + 2, less the 1 byte that the topmost may save), and only a search tells that 9 is not
// enough.
TEST(Allocate, ProvesByTryingEverythingThatACapacityIsTooSmall) {
  PackingProblem problem = testing::problem_of({{0, 1, 3}, {0, 1, 3}, {0, 1, 2}});
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

// Around a fixed buffer nothing can be gained here: the local search gives up at once and the exact one proves it,
// however much effort is left. It took twenty seconds when giving up cost nothing.
TEST(Allocate, EndsWhenNothingCanBeGained) {
  PackingProblem problem = testing::problem_of({{0, 9, 64}, {2, 10, 128}, {3, 5, 4096}, {10, 11, 1}});
  problem.buffers[PackingId(1)].fixed_offset = Offset(128);
  problem.buffers[PackingId(2)].alignment = Bytes(8);
  const Result<Packing> packing = allocate(problem, {.effort = 1'000'000'000'000});
  EXPECT_EQ(packing->height, Bytes(128 + 128 + 4096));
  EXPECT_TRUE(packing->proven_optimal);
}

// One alignment of 64 for all: 100, 30 and 10 bytes at once take 128 + 64 + 10 with the smallest on top, and 128 + 64 +
// 30 or
// 64 + 64 + 100 otherwise. Sizes in whole units say 256 whoever is on top.
TEST(Allocate, PutsThePaddingThatNeedsNoRoomOnTop) {
  PackingProblem problem = testing::problem_of({{0, 1, 100}, {0, 1, 30}, {0, 1, 10}});
  for (PackingBuffer& buffer : problem.buffers) buffer.alignment = Bytes(64);
  const Result<Packing> packing = allocate(problem);
  EXPECT_EQ(packing->height, Bytes(202));
  EXPECT_TRUE(packing->proven_optimal);
  problem.capacity = Bytes(201);
  EXPECT_EQ(allocate(problem)->outcome, PackingOutcome::infeasible);
  problem.capacity = Bytes(202);
  EXPECT_EQ(allocate(problem)->outcome, PackingOutcome::found);
}

// A capacity is a question: the first answer will do. The bound is 1,000, and without a capacity the search goes there.
TEST(Allocate, StopsAtTheFirstOffsetsThatFit) {
  PackingProblem problem = testing::cut_rectangle(3, {.moments = 200, .bytes = 1000, .pieces = 120});
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

// Load 5 + 6 = 11, but 6 bytes do not fit into [0, 5) below the fixed ones: 10 + 6. A search tells that 12 is not
// enough, and so is what lies below the next even number, since all ends are even; without a capacity it goes on to 16.
TEST(Allocate, ProvesThatThereIsNoRoomAroundAFixedBuffer) {
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

// The same without effort for a search: no proof, and none is claimed.
TEST(Allocate, DoesNotClaimAProofThatItDoesNotHave) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(5, {0, 1}, 5));
  problem.buffers.push_back({.lifespan = {0, 1}, .gaps = {}, .size = Bytes(6)});
  problem.capacity = Bytes(12);
  const Packing packing = allocate_or_die(problem, {.effort = 0});
  EXPECT_EQ(packing.outcome, PackingOutcome::not_found);
  EXPECT_EQ(packing.bound, Bytes(11));
  EXPECT_FALSE(packing.proven_optimal);
}

TEST(Allocate, UnderstandsTheWholeClock) {
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

TEST(Allocate, RefusesSizesThatAddUpBeyondTheLimit) {
  constexpr std::int64_t kHalf = limits::kMaxTotalBytes / 2;
  const Result<Packing> packing = allocate(problem_of({{0, 2, kHalf}, {1, 3, kHalf}, {7, 8, 2}}));
  ASSERT_FALSE(packing.ok());
  EXPECT_EQ(packing.error().code, ErrorCode::over_limit);
  EXPECT_EQ(packing.error().place, "buffer 2");
  EXPECT_THAT(packing.error().message, HasSubstr("above kMaxTotalBytes = 4611686018427387903"));
}

// What is wrong with one buffer, by the code and the words of the refusal.
void expect_refused(const PackingProblem& problem, ErrorCode code, const std::string& words) {
  const Result<Packing> packing = allocate(problem);
  ASSERT_FALSE(packing.ok()) << words;
  EXPECT_EQ(packing.error().code, code) << words;
  EXPECT_THAT(packing.error().describe(), HasSubstr(words));
}

void expect_refused(const PackingBuffer& buffer, ErrorCode code, const std::string& words) {
  PackingProblem problem;
  problem.buffers.push_back(buffer);
  expect_refused(problem, code, words);
}

TEST(Allocate, RefusesABufferThatIsNotAsItMustBe) {
  const PackingBuffer good{.lifespan = {2, 8}, .gaps = {}, .size = Bytes(4), .alignment = Bytes(4)};
  const auto with = [&](auto change) {
    PackingBuffer buffer = good;
    change(buffer);
    return buffer;
  };
  const auto invalid = ErrorCode::invalid;
  const auto over_limit = ErrorCode::over_limit;
  expect_refused(with([](auto& b) { b.lifespan = {8, 8}; }), invalid, "the lifespan [8, 8) is empty");
  expect_refused(with([](auto& b) { b.lifespan = {8, 2}; }), invalid, "the lifespan [8, 2) is empty");
  expect_refused(with([](auto& b) { b.gaps = {{1, 3}}; }), invalid, "the gap [1, 3) is not inside");
  expect_refused(with([](auto& b) { b.gaps = {{5, 4}}; }), invalid, "the gap [5, 4) is not inside");
  expect_refused(with([](auto& b) { b.gaps = {{5, 6}, {3, 4}}; }), invalid, "[5, 6) and [3, 4) are not sorted");
  expect_refused(with([](auto& b) { b.gaps = {{3, 5}, {4, 6}}; }), invalid, "[3, 5) and [4, 6) are not sorted");
  expect_refused(with([](auto& b) { b.size = Bytes(-1); }), invalid, "the size -1 is below 0");
  expect_refused(with([](auto& b) { b.size = Bytes(kLatest); }), over_limit, "the size 9223372036854775807 is above");
  expect_refused(with([](auto& b) { b.alignment = Bytes(0); }), invalid, "the alignment 0 is not a power of two");
  expect_refused(with([](auto& b) { b.alignment = Bytes(12); }), invalid, "the alignment 12 is not a power of two");
  expect_refused(with([](auto& b) { b.alignment = Bytes(std::int64_t{1} << 31); }), over_limit, "kMaxAlignment");
  expect_refused(with([](auto& b) { b.fixed_offset = Offset(-4); }), invalid, "the fixed offset -4 is below 0");
  expect_refused(with([](auto& b) { b.fixed_offset = Offset(6); }), invalid, "6 is not a multiple of the alignment 4");
  expect_refused(with([](auto& b) { b.fixed_offset = Offset(kLatest - 3); }), over_limit, "ends above kMaxTotalBytes");
}

TEST(Allocate, NamesTheFixedBuffersThatCollide) {
  PackingProblem problem;
  problem.buffers.push_back(fixed_at(0, {0, 5}, 10));
  problem.buffers.push_back(fixed_at(20, {0, 5}, 10));
  problem.buffers.push_back(fixed_at(9, {4, 6}, 3));
  problem.names.push_back("stem");
  problem.names.push_back("head");
  problem.names.push_back("tail\n");
  expect_refused(problem, ErrorCode::invalid,
                 "buffer 'tail\\x0a': fixed at bytes [9, 12) it collides with buffer 'stem', fixed at bytes [0, 10), "
                 "at time 4");
  problem.buffers[PackingId(2)].fixed_offset = Offset(18);  // [18, 21) against [20, 30)
  expect_refused(problem, ErrorCode::invalid, "it collides with buffer 'head'");
  problem.buffers[PackingId(2)].fixed_offset = Offset(17);  // [17, 20): free
  EXPECT_TRUE(allocate(problem).ok());
}

TEST(Allocate, RefusesNamesAndCapacitiesThatMakeNoSense) {
  PackingProblem problem = problem_of({{0, 1, 1}, {0, 1, 1}});
  problem.names.push_back("only one");
  expect_refused(problem, ErrorCode::invalid, "1 names for 2 buffers");
  problem.names = {};
  problem.capacity = Bytes(-1);
  expect_refused(problem, ErrorCode::invalid, "the capacity -1 is below 0");
}

TEST(Allocate, GivesTheSameAnswerTwice) {
  const PackingProblem problem = testing::network_like_problem(500, 3);
  const Packing first = allocate_or_die(problem);
  const Packing second = allocate_or_die(problem);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.strategy, second.strategy);
}

// More effort goes on where less has stopped, so it never does worse; without any the first strategy answers.
TEST(Allocate, NeverGetsWorseWithMoreEffort) {
  Random random(11);
  int improved = 0;
  for (int round = 0; round < 60; ++round) {
    const PackingProblem problem = testing::random_problem(
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
  EXPECT_GT(improved, 40);  // else nothing was tried
}

TEST(Allocate, GivesTheSameAnswerWithAnyNumberOfThreads) {
  Random random(12);
  for (int round = 0; round < 40; ++round) {
    PackingProblem problem = testing::random_problem(
        random, {.most_buffers = 40, .most_size = 10'000, .moments = 30, .alignments = round % 3 == 0});
    if (round % 4 == 0) problem.capacity = allocate_or_die(problem).bound;
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

TEST(Allocate, TellsEveryImprovement) {
  Random random(13);
  int told = 0;
  for (int round = 0; round < 40; ++round) {
    const PackingProblem problem =
        testing::random_problem(random, {.most_buffers = 60, .most_size = 10'000, .moments = 40});
    std::vector<Packing> heard;
    const Packing last = allocate_or_die(
        problem, {.effort = 1'000'000, .on_improvement = [&](const Packing& packing) { heard.push_back(packing); }});
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.front().strategy, "best_fit");
    for (std::size_t at = 0; at < heard.size(); ++at) {
      EXPECT_EQ(testing::defect_of(problem, heard[at].offsets), "");
      if (at > 0) {
        ASSERT_LT(heard[at].height, heard[at - 1].height);
      }
    }
    EXPECT_EQ(heard.back().offsets, last.offsets);
    EXPECT_EQ(heard.back().height, last.height);
    told += static_cast<int>(heard.size());
  }
  EXPECT_GT(told, 80);
}

// Stopped before it began: the first strategy answers all the same. Stopped at the first improvement: that one is kept.
TEST(Allocate, KeepsTheBestWhenItIsStopped) {
  Random random(14);
  const PackingProblem problem =
      testing::random_problem(random, {.most_buffers = 300, .most_size = 100'000, .moments = 100});
  std::atomic<bool> stop{true};
  const Packing none = allocate_or_die(problem, {.effort = 1'000'000'000'000, .stop = &stop});
  EXPECT_EQ(none.strategy, "best_fit");

  stop = false;
  int told = 0;
  const AllocateOptions options{.effort = 1'000'000'000'000,
                                .threads = 2,
                                .on_improvement = [&](const Packing&) { stop = ++told == 2; },
                                .stop = &stop};
  const Packing second = allocate_or_die(problem, options);
  EXPECT_LT(second.height, none.height);
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace lowtide
