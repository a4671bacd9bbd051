// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "lowtide/base/random.h"
#include "tests/testing/violations.h"
#include "tests/verify/small_packings.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

IdVector<PackingId, Offset> at(std::initializer_list<std::int64_t> offsets) {
  IdVector<PackingId, Offset> result;
  for (std::int64_t offset : offsets) result.push_back(Offset(offset));
  return result;
}

std::vector<std::string> lines_of(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets,
                                  std::size_t most = 100) {
  return messages_of(check_packing(problem, offsets, {.most_violations = most}));
}

TEST(PackingCheck, AcceptsBuffersThatTouchInTimeOrBytes) {
  const PackingProblem problem = problem_of({{.lifespan = {0, 5}, .gaps = {}, .size = Bytes(10)},
                                             {.lifespan = {5, 9}, .gaps = {}, .size = Bytes(10)},    // after the first
                                             {.lifespan = {0, 9}, .gaps = {}, .size = Bytes(10)}});  // above both
  EXPECT_THAT(lines_of(problem, at({0, 0, 10})), IsEmpty());
}

TEST(PackingCheck, StatesTheKindAndTheBytes) {
  PackingProblem problem = problem_of(
      {{.lifespan = {0, 5}, .gaps = {}, .size = Bytes(16)}, {.lifespan = {4, 9}, .gaps = {}, .size = Bytes(16)}});
  const std::vector<Violation> shared = check_packing(problem, at({0, 8}));
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].kind, ViolationKind::overlap);
  EXPECT_EQ(shared[0].bytes, (Interval<std::int64_t>{8, 16}));
  problem.buffers[PackingId(1)].alignment = Bytes(16);
  problem.buffers[PackingId(1)].fixed_offset = Offset(32);
  problem.capacity = Bytes(32);
  std::vector<ViolationKind> kinds;
  for (const Violation& one : check_packing(problem, at({0, 24}))) kinds.push_back(one.kind);
  EXPECT_THAT(kinds, ElementsAre(ViolationKind::misaligned, ViolationKind::misplaced, ViolationKind::out_of_region));
}

TEST(PackingCheck, CanPermitOffsetsAboveTheCapacity) {
  PackingProblem problem = problem_of(
      {{.lifespan = {0, 5}, .gaps = {}, .size = Bytes(16)}, {.lifespan = {4, 9}, .gaps = {}, .size = Bytes(16)}});
  problem.capacity = Bytes(24);
  EXPECT_EQ(check_packing(problem, at({0, 16})).size(), 1U);
  EXPECT_THAT(check_packing_without_capacity(problem, at({0, 16})), IsEmpty());
  EXPECT_EQ(check_packing_without_capacity(problem, at({0, 8})).size(), 1U);
}

TEST(PackingCheck, NamesTwoBuffersThatOverlap) {
  PackingProblem problem = problem_of(
      {{.lifespan = {0, 5}, .gaps = {}, .size = Bytes(10)}, {.lifespan = {4, 9}, .gaps = {}, .size = Bytes(10)}});
  EXPECT_THAT(lines_of(problem, at({0, 9})), ElementsAre("buffer 0 and buffer 1 share bytes [9, 10) from time 4 on"));
  problem.names.push_back("a");
  problem.names.push_back("b\n");
  EXPECT_THAT(lines_of(problem, at({0, 9})),
              ElementsAre("buffer 0 'a' and buffer 1 'b\\x0a' share bytes [9, 10) from time 4 on"));
}

TEST(PackingCheck, NamesEveryPairThatOverlaps) {
  const PackingProblem problem = problem_of({{.lifespan = {0, 9}, .gaps = {}, .size = Bytes(4)},
                                             {.lifespan = {0, 9}, .gaps = {}, .size = Bytes(4)},
                                             {.lifespan = {1, 9}, .gaps = {}, .size = Bytes(20)}});
  EXPECT_THAT(lines_of(problem, at({0, 8, 0})),
              ElementsAre("buffer 0 and buffer 2 share bytes [0, 4) from time 1 on",
                          "buffer 1 and buffer 2 share bytes [8, 12) from time 1 on"));
}

//   time 0   2   4   6   8
//   a    ####    ####        its bytes are free in [2, 4)
//   b        ####            and b fits in there
TEST(PackingCheck, GapsFreeTheBytes) {
  const auto with_b = [](TimeSpan b) {
    return problem_of(
        {{.lifespan = {0, 6}, .gaps = {{2, 4}}, .size = Bytes(8)}, {.lifespan = b, .gaps = {}, .size = Bytes(8)}});
  };
  EXPECT_THAT(lines_of(with_b({2, 4}), at({0, 0})), IsEmpty());
  EXPECT_THAT(lines_of(with_b({1, 4}), at({0, 0})),
              ElementsAre("buffer 0 and buffer 1 share bytes [0, 8) from time 1 on"));
  EXPECT_THAT(lines_of(with_b({2, 5}), at({0, 0})),
              ElementsAre("buffer 1 and buffer 0 share bytes [0, 8) from time 4 on"));
}

TEST(PackingCheck, ChecksAlignmentFixedOffsetAndCapacity) {
  const PackingProblem problem = problem_of(
      {{.lifespan = {0, 1}, .gaps = {}, .size = Bytes(8), .alignment = Bytes(16), .fixed_offset = Offset(16)}},
      Bytes(24));
  EXPECT_THAT(lines_of(problem, at({16})), IsEmpty());
  EXPECT_THAT(lines_of(problem, at({17})), ElementsAre("buffer 0 is at offset 17, not a multiple of its alignment 16",
                                                       "buffer 0 is at offset 17, but must be at 16",
                                                       "buffer 0 ends at 25, above the capacity of 24"));
  EXPECT_THAT(lines_of(problem, at({-16})),
              ElementsAre("buffer 0 is at offset -16, below 0", "buffer 0 is at offset -16, but must be at 16"));
}

TEST(PackingCheck, RefusesImpossibleNumbers) {
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  const PackingProblem one = problem_of({{.lifespan = {0, 1}, .gaps = {}, .size = Bytes(8)}});
  EXPECT_THAT(lines_of(one, at({})), ElementsAre("0 offsets for 1 buffer"));
  EXPECT_EQ(lines_of(one, at({kHighest})).size(), 1U);
  EXPECT_EQ(lines_of(problem_of({{.lifespan = {0, 1}, .gaps = {}, .size = Bytes(-8)}}), at({0})).size(), 1U);
  EXPECT_EQ(
      lines_of(problem_of({{.lifespan = {0, 1}, .gaps = {}, .size = Bytes(8), .alignment = Bytes(3)}}), at({0})).size(),
      1U);
}

TEST(PackingCheck, BuffersWithoutBytesOrTimeOverlapNothing) {
  const PackingProblem problem = problem_of({{.lifespan = {0, 9}, .gaps = {}, .size = Bytes(0)},
                                             {.lifespan = {0, 9}, .gaps = {}, .size = Bytes(8)},
                                             {.lifespan = {4, 4}, .gaps = {}, .size = Bytes(8)}});
  EXPECT_THAT(lines_of(problem, at({4, 0, 0})), IsEmpty());
}

TEST(PackingCheck, StopsAfterTheRequestedNumberOfLines) {
  PackingProblem problem;
  for (int count = 0; count < 1'000; ++count)
    problem.buffers.push_back({.lifespan = {0, 1}, .gaps = {}, .size = Bytes(8)});
  const IdVector<PackingId, Offset> offsets(1'000, Offset(0));
  EXPECT_EQ(lines_of(problem, offsets, 7).size(), 7U);
  EXPECT_EQ(lines_of(problem, offsets, 1'000'000).size(), 499'500U);  // every pair: 1000 * 999 / 2
}

constexpr PackingId kA(0);
constexpr PackingId kB(1);
constexpr PackingId kC(2);

PackingBuffer alive(std::int64_t begin, std::int64_t end, std::int64_t size) {
  return {.lifespan = {begin, end}, .gaps = {}, .size = Bytes(size)};
}

// a and b are live together, but the relation does not name them. a and c are never live together, but it names them.
TEST(PackingCheck, UsesARelationInsteadOfLifespans) {
  PackingProblem problem = problem_of({alive(0, 4, 8), alive(0, 4, 8), alive(5, 6, 8)});
  problem.conflicts = {{kC, kA}, {kA, kC}};
  EXPECT_THAT(lines_of(problem, at({0, 0, 4})),
              ElementsAre("buffer 0 and buffer 2 share bytes [4, 8), but are in conflict"));
  EXPECT_THAT(lines_of(problem, at({0, 0, 8})), IsEmpty());
}

// a, b and c: b is 4 above a, and c is where b is. They are live together and share bytes. d is live with them and must
// not share.
TEST(PackingCheck, OnlyMembersOfAGroupMayShareBytes) {
  PackingProblem problem = problem_of({alive(0, 4, 8), alive(0, 4, 8), alive(0, 4, 2), alive(0, 4, 1)});
  problem.colocations = {{kA, kB, Bytes(4)}, {kB, kC, Bytes(0)}};
  EXPECT_THAT(lines_of(problem, at({0, 4, 4, 12})), IsEmpty());
  EXPECT_THAT(lines_of(problem, at({0, 4, 4, 3})),
              ElementsAre("buffer 0 and buffer 3 share bytes [3, 4) from time 0 on"));
  EXPECT_THAT(lines_of(problem, at({0, 4, 5, 12})),
              ElementsAre("buffer 2 is at offset 5, not 0 above buffer 1 at offset 4"));
  EXPECT_THAT(lines_of(problem, at({8, 4, 4, 16})),
              ElementsAre("buffer 1 is at offset 4, not 4 above buffer 0 at offset 8"));
}

TEST(PackingCheck, RefusesPairsOfMissingBuffers) {
  PackingProblem problem = problem_of({alive(0, 4, 8)});
  problem.conflicts = {{kA, kB}};
  problem.colocations = {{kC, kA, Bytes(0)}};
  EXPECT_THAT(lines_of(problem, at({0})), ElementsAre("a pair names buffer 1, but the number of buffers is 1",
                                                      "a pair names buffer 2, but the number of buffers is 1"));
}

// Pairs that share a byte at some moment. Checks every byte at every moment.
std::set<std::pair<std::size_t, std::size_t>> meeting_pairs(const PackingProblem& problem,
                                                            const IdVector<PackingId, Offset>& offsets) {
  const auto holds = [&](PackingId id, std::int64_t time, std::int64_t byte) {
    const PackingBuffer& buffer = problem.buffers[id];
    const std::int64_t begin = offsets[id].position();
    bool is_there = buffer.lifespan.contains(time) && begin <= byte && byte < begin + buffer.size.count();
    for (const TimeSpan& gap : buffer.gaps) is_there = is_there && !gap.contains(time);
    return is_there;
  };
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::int64_t time = 0; time < 12; ++time) {
    for (std::int64_t byte = 0; byte < 24; ++byte) {
      std::vector<std::size_t> there;
      for (PackingId id : all_ids<PackingId>(offsets.size())) {
        if (holds(id, time, byte)) there.push_back(id.index());
      }
      for (std::size_t b = 1; b < there.size(); ++b) {
        for (std::size_t a = 0; a < b; ++a) pairs.emplace(there[a], there[b]);
      }
    }
  }
  return pairs;
}

TEST(PackingCheck, FindsExactlyThePairsThatShareAByte) {
  std::size_t meetings = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    Random random(seed);
    PackingProblem problem;
    IdVector<PackingId, Offset> offsets;
    for (std::uint64_t count = random.below(9); count > 0; --count) {
      const std::int64_t begin = random.between(0, 9);
      const std::int64_t end = random.between(begin + 1, 12);
      PackingBuffer buffer{.lifespan = {begin, end}, .gaps = {}, .size = Bytes(random.between(0, 6))};
      std::int64_t from = begin;
      while (random.chance(40) && from < end) {
        const std::int64_t gap = random.between(from, end - 1);
        buffer.gaps.push_back({gap, random.between(gap + 1, end)});
        from = buffer.gaps.back().end;
      }
      problem.buffers.push_back(buffer);
      offsets.push_back(Offset(random.between(0, 18)));
    }
    const auto expected = meeting_pairs(problem, offsets);
    std::set<std::pair<std::size_t, std::size_t>> found;
    for (const std::string& line : lines_of(problem, offsets, 10'000)) {
      std::size_t a = 0;
      std::size_t b = 0;
      ASSERT_EQ(std::sscanf(line.c_str(), "buffer %zu and buffer %zu share", &a, &b), 2) << line;
      found.emplace(std::min(a, b), std::max(a, b));
    }
    ASSERT_EQ(found, expected) << "seed " << seed;
    meetings += expected.size();
  }
  EXPECT_GT(meetings, 2'000U);
}

}  // namespace
}  // namespace lowtide::testing
