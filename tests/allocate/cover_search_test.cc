// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/cover_search.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/allocate/problems.h"

namespace lowtide {
namespace {

constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
constexpr std::size_t kManyMembers = 1'000'000;

// A problem and what the search makes of it.
struct Prepared {
  explicit Prepared(const PackingProblem& problem) : compressed(compress(problem)) {
    Effort effort{.limit = 1'000'000'000};
    graph = conflict_graph(compressed, effort);
    cover = clique_cover(compressed, &*graph, kManyMembers, effort);
    sections = cover_problem(compressed, *cover);
  }
  CompressedProblem compressed;
  std::optional<ConflictGraph> graph;
  std::optional<CliqueCover> cover;
  CoverProblem sections;
};

struct Answer {
  SearchOutcome outcome = SearchOutcome::undecided;
  std::string defect;  // of the offsets, if it fits
  std::int64_t nodes = 0;
};

Answer ask(const PackingProblem& problem, const Prepared& prepared, std::int64_t capacity, const CoverRules& rules = {},
           SectionRule rule = SectionRule::fewest_options, std::int64_t node_limit = kNoLimit) {
  CoverSearch search(prepared.sections, rules);
  search.set_rule(rule);
  search.set_capacity(capacity);
  Answer answer{.outcome = search.run(node_limit, kNoLimit)};
  answer.nodes = search.nodes();
  if (answer.outcome != SearchOutcome::fits) return answer;
  IdVector<PackingId, Offset> offsets(problem.buffers.size(), Offset(0));
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if (problem.buffers[id].fixed_offset) offsets[id] = *problem.buffers[id].fixed_offset;
  }
  for (std::uint32_t at = 0; at < prepared.sections.buffers.size(); ++at) {
    offsets[prepared.sections.buffers[at].id] = Offset(search.offset(at));
  }
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if ((offsets[id] + problem.buffers[id].size).position() > capacity) answer.defect = "above the capacity";
  }
  if (answer.defect.empty()) answer.defect = testing::defect_of(problem, offsets);
  return answer;
}

struct RuleCase {
  const char* name;
  CoverRules rules;
};
const RuleCase kRuleCases[] = {
    {"all", {}},
    {"without slack", {.slack = false}},
    {"without ledges", {.ledges = false}},
    {"without twins", {.twins = false}},
    {"without components", {.components = false}},
    {"without memory", {.memory = false}},
    {"without any", {.slack = false, .ledges = false, .twins = false, .components = false, .memory = false}},
};

// No fixed buffer may end above the capacity.
std::int64_t highest_fixed_end(const PackingProblem& problem) {
  std::int64_t end = 0;
  for (const PackingBuffer& buffer : problem.buffers) {
    if (buffer.fixed_offset) end = std::max(end, (*buffer.fixed_offset + buffer.size).position());
  }
  return end;
}

// At the least height that brute force finds it fits; one byte below it does not: for every rule switched off.
void compare_with_brute_force(const testing::Features& features, std::uint64_t seed, int rounds) {
  Random random(seed);
  int refuted = 0;
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = testing::random_valid_problem(random, features);
    const Prepared prepared(problem);
    const std::int64_t least = testing::least_height(problem);
    for (const RuleCase& rule_case : kRuleCases) {
      for (SectionRule rule : {SectionRule::fewest_options, SectionRule::most_failures, SectionRule::least_slack}) {
        const Answer at = ask(problem, prepared, least, rule_case.rules, rule);
        ASSERT_EQ(at.outcome, SearchOutcome::fits) << rule_case.name << ", round " << round;
        ASSERT_EQ(at.defect, "") << rule_case.name << ", round " << round;
        if (least - 1 < highest_fixed_end(problem) || prepared.sections.buffers.empty()) continue;
        // What is in no section may be what is too high.
        const Answer below = ask(problem, prepared, least - 1, rule_case.rules, rule);
        ASSERT_TRUE(below.outcome == SearchOutcome::does_not_fit || below.defect == "above the capacity")
            << rule_case.name << ", round " << round;
        refuted += below.outcome == SearchOutcome::does_not_fit ? 1 : 0;
      }
    }
  }
  EXPECT_GT(refuted, rounds * 5);
}

TEST(CoverSearch, AgreesWithBruteForceOnPlainIntervals) {
  compare_with_brute_force({.most_buffers = 6, .most_size = 6, .moments = 6}, 41, 400);
}

TEST(CoverSearch, AgreesWithBruteForceWithGaps) {
  compare_with_brute_force({.most_buffers = 6, .most_size = 6, .moments = 10, .gaps = true}, 42, 800);
}

TEST(CoverSearch, AgreesWithBruteForceAroundFixedBuffers) {
  compare_with_brute_force({.most_buffers = 6, .most_size = 6, .moments = 8, .gaps = true, .fixed = true}, 43, 800);
}

TEST(CoverSearch, AgreesWithBruteForceWithAlignments) {
  compare_with_brute_force(
      {.most_buffers = 6, .most_size = 16, .moments = 8, .alignments = true, .gaps = true, .fixed = true}, 44, 800);
}

TEST(CoverSearch, AgreesWithBruteForceOnRelations) {
  compare_with_brute_force({.most_buffers = 6, .most_size = 6, .relation = true}, 45, 800);
  compare_with_brute_force({.most_buffers = 6, .most_size = 16, .alignments = true, .fixed = true, .relation = true},
                           46, 800);
}

TEST(CoverSearch, AgreesWithBruteForceWithPairsApart) {
  compare_with_brute_force({.most_buffers = 6, .most_size = 6, .moments = 8, .gaps = true, .apart = true}, 47, 800);
  compare_with_brute_force({.most_buffers = 6,
                            .most_size = 12,
                            .moments = 8,
                            .alignments = true,
                            .gaps = true,
                            .fixed = true,
                            .zero_sizes = true,
                            .apart = true},
                           48, 800);
}

// Each of the three meets the other two in a moment of its own: no order of the moments makes them intervals.
//   a |==|    |==|
//   b   |=====|          {a, b}, {b, c}, {a, c}: three sections of two
//   c       |====|
TEST(CliqueCover, TakesTheLargestSetsOfTime) {
  PackingProblem problem = testing::problem_of({{0, 10, 3}, {2, 7, 4}, {5, 9, 5}});
  problem.buffers[PackingId(0)].gaps = {{3, 8}};
  const Prepared prepared(problem);
  ASSERT_EQ(prepared.cover->sections(), 3U);
  for (std::size_t section = 0; section < 3; ++section) EXPECT_EQ(prepared.cover->members(section).size(), 2U);
  EXPECT_EQ(clique_bound(prepared.compressed, *prepared.cover).height, 9);  // b and c: 4 + 5
}

// At 0 only a and b live, {a} and {a, b} are one; {b} at 3 is within {a, b} although other moments lie between.
TEST(CliqueCover, LeavesOutSetsWithinAnother) {
  PackingProblem problem = testing::problem_of({{0, 2, 3}, {1, 9, 4}});
  problem.buffers[PackingId(1)].gaps = {{3, 7}};
  EXPECT_EQ(Prepared(problem).cover->sections(), 1U);
}

// a-b, b-c, a-c are a clique of 3 + 4 + 5; c-d is left: {c, d}, 5 + 6.
TEST(CliqueCover, GrowsPairsIntoCliques) {
  PackingProblem problem = testing::problem_of({{0, 1, 3}, {0, 1, 4}, {0, 1, 5}, {0, 1, 6}});
  problem.conflicts = {{PackingId(0), PackingId(1)},
                       {PackingId(2), PackingId(1)},
                       {PackingId(0), PackingId(2)},
                       {PackingId(3), PackingId(2)}};
  const Prepared prepared(problem);
  EXPECT_EQ(prepared.cover->sections(), 2U);
  EXPECT_EQ(clique_bound(prepared.compressed, *prepared.cover).height, 12);
}

// Every conflict lies in a section, and every two of a section are in conflict or both fixed elsewhere than each other.
TEST(CliqueCover, CoversEveryConflictAndNothingElse) {
  Random random(49);
  for (int round = 0; round < 500; ++round) {
    const PackingProblem problem = testing::random_valid_problem(
        random,
        {.most_buffers = 12, .moments = 10, .gaps = true, .relation = random.chance(50), .apart = random.chance(50)});
    const Prepared prepared(problem);
    std::set<std::pair<PackingId, PackingId>> covered;
    for (std::size_t section = 0; section < prepared.cover->sections(); ++section) {
      for (PackingId a : prepared.cover->members(section)) {
        for (PackingId b : prepared.cover->members(section)) {
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
// find it here, though nobody tells them of time.
TEST(CliqueCover, FindsTheLoadThatARelationHides) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PackingProblem problem = testing::cut_rectangle(seed, {.moments = 40, .bytes = 1000, .pieces = 80});
    const Prepared hidden(testing::without_time(problem));
    EXPECT_EQ(clique_bound(hidden.compressed, *hidden.cover).height, 1000) << "seed " << seed;
  }
}

// What a rule saves. Rectangles of 30 bytes and 30 moments cut into 40 pieces, many of them with a gap that others
// fill: no byte may be wasted. And random problems, asked for their bound: some
// can have it and some cannot, and there is slack to waste.
TEST(CoverSearch, EachRulePrunes) {
  constexpr std::int64_t kLimit = 4'000;
  constexpr int kRules = 6;
  std::int64_t all = 0;
  std::int64_t without[kRules] = {};
  Random random(40);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const bool is_cut = seed < 30;
    const PackingProblem problem =
        is_cut ? testing::cut_rectangle(seed, {.moments = 30, .bytes = 30, .pieces = 40, .gaps = 20})
               : testing::random_valid_problem(random,
                                               {.most_buffers = 40, .most_size = 60, .moments = 20, .apart = true});
    const Prepared prepared(problem);
    const std::int64_t bound = clique_bound(prepared.compressed, *prepared.cover).height;
    const Answer with = ask(problem, prepared, bound, {}, SectionRule::fewest_options, kLimit);
    ASSERT_TRUE(!is_cut || with.outcome == SearchOutcome::fits) << "seed " << seed;
    ASSERT_EQ(with.defect, "");
    all += with.nodes;
    for (int at = 0; at < kRules; ++at) {
      const Answer answer =
          ask(problem, prepared, bound, kRuleCases[at + 1].rules, SectionRule::fewest_options, kLimit);
      ASSERT_TRUE(answer.outcome == with.outcome || answer.outcome == SearchOutcome::undecided ||
                  with.outcome == SearchOutcome::undecided)
          << kRuleCases[at + 1].name;
      without[at] += answer.nodes;
    }
  }
  for (int at = 0; at < kRules; ++at) EXPECT_GT(without[at], all) << kRuleCases[at + 1].name;
}

}  // namespace
}  // namespace lowtide
