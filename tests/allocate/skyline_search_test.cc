// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/skyline_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/allocate/problem/clique_cover.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

// A problem in the form that each state wants.
struct AsIntervals {
  using State = ValleyState;
  explicit AsIntervals(const PackingProblem& problem) : form(*interval_problem(compress(problem))) {}
  IntervalProblem form;
};

struct AsCliques {
  using State = CoverState;
  explicit AsCliques(const PackingProblem& problem) {
    const CompressedProblem compressed = compress(problem);
    Effort effort{.limit = 1'000'000'000};
    const std::optional<ConflictGraph> graph = conflict_graph(compressed, effort);
    const std::optional<CliqueCover> cover = clique_cover(compressed, &*graph, 1'000'000, effort);
    form = cover_problem(compressed, *cover);
    bound = clique_bound(compressed, *cover).height;
  }
  CoverProblem form;
  std::int64_t bound = 0;
};

struct Answer {
  SearchOutcome outcome = SearchOutcome::undecided;
  std::string defect;  // of the offsets, if it fits
  std::int64_t nodes = 0;
};

struct Question {
  std::int64_t capacity = 0;
  SkylineRules rules = {};
  CliqueRule clique_rule = CliqueRule::fewest_options;
  std::int64_t node_limit = kNoLimit;
};

template <typename Form>
Answer ask(const PackingProblem& problem, const Form& prepared, const Question& question) {
  SkylineSearch<typename Form::State> search(prepared.form, question.rules);
  search.set_rule(question.clique_rule);
  search.set_capacity(question.capacity);
  Answer answer{.outcome = search.run(question.node_limit, kNoLimit)};
  answer.nodes = search.nodes();
  if (answer.outcome != SearchOutcome::fits) return answer;
  IdVector<PackingId, Offset> offsets(problem.buffers.size(), Offset(0));
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if (problem.buffers[id].fixed_offset) offsets[id] = *problem.buffers[id].fixed_offset;
  }
  for (std::uint32_t at = 0; at < prepared.form.buffers.size(); ++at) {
    offsets[prepared.form.buffers[at].id] = Offset(search.offset(at));
  }
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if ((offsets[id] + problem.buffers[id].size).position() > question.capacity) answer.defect = "above the capacity";
  }
  if (answer.defect.empty()) answer.defect = testing::defect_of(problem, offsets);
  return answer;
}

struct Switch {
  const char* name;
  bool SkylineRules::*rule;
};
constexpr Switch kSwitches[] = {
    {"slack", &SkylineRules::slack},           {"start_bound", &SkylineRules::start_bound},
    {"components", &SkylineRules::components}, {"interchangeable", &SkylineRules::interchangeable},
    {"nogoods", &SkylineRules::nogoods},
};
constexpr unsigned kCombinations = 1U << std::size(kSwitches);

// Rule `at` is off if bit `at` of `off` is set.
SkylineRules rules_without(unsigned off) {
  SkylineRules rules;
  for (std::size_t at = 0; at < std::size(kSwitches); ++at) rules.*kSwitches[at].rule = ((off >> at) & 1U) == 0;
  return rules;
}

std::string name_of(unsigned off) {
  std::string name = "without";
  for (std::size_t at = 0; at < std::size(kSwitches); ++at) {
    if (((off >> at) & 1U) != 0) name += std::string(" ") + kSwitches[at].name;
  }
  return name;
}

// No fixed buffer may end above the capacity.
std::int64_t highest_fixed_end(const PackingProblem& problem) {
  std::int64_t end = 0;
  for (const PackingBuffer& buffer : problem.buffers) {
    if (buffer.fixed_offset) end = std::max(end, (*buffer.fixed_offset + buffer.size).position());
  }
  return end;
}

// At the least height that brute force finds, everything fits; one byte below it does not. All 32 combinations of rules
// must say so, each with every way to choose a clique.
template <typename Form>
void compare_with_brute_force(const testing::Features& features, std::uint64_t seed, int rounds) {
  Random random(seed);
  int refuted = 0;
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = testing::random_valid_problem(random, features);
    const Form prepared(problem);
    const std::int64_t least = testing::least_height(problem);
    const bool may_refute = least - 1 >= highest_fixed_end(problem) && !prepared.form.buffers.empty();
    for (unsigned off = 0; off < kCombinations; ++off) {
      for (CliqueRule rule : {CliqueRule::fewest_options, CliqueRule::most_failures, CliqueRule::least_slack}) {
        Question question{.capacity = least, .rules = rules_without(off), .clique_rule = rule};
        const Answer at = ask(problem, prepared, question);
        ASSERT_EQ(at.outcome, SearchOutcome::fits) << name_of(off) << ", round " << round;
        ASSERT_EQ(at.defect, "") << name_of(off) << ", round " << round;
        if (!may_refute) continue;
        --question.capacity;
        // A buffer that is in no clique is not part of the search, and may be the one that is too large.
        const Answer below = ask(problem, prepared, question);
        ASSERT_TRUE(below.outcome == SearchOutcome::does_not_fit || below.defect == "above the capacity")
            << name_of(off) << ", round " << round;
        refuted += below.outcome == SearchOutcome::does_not_fit ? 1 : 0;
      }
    }
  }
  EXPECT_GT(refuted, rounds * 25);
}

template <typename Form>
class SkylineSearchTest : public ::testing::Test {};
using Forms = ::testing::Types<AsIntervals, AsCliques>;
TYPED_TEST_SUITE(SkylineSearchTest, Forms);

// Both buffers live at time 1: 5 + 7.
TYPED_TEST(SkylineSearchTest, FitsTheLoadAndNoByteLess) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 3, 7}});
  const TypeParam prepared(problem);
  const Answer fits = ask(problem, prepared, {.capacity = 12});
  EXPECT_EQ(fits.outcome, SearchOutcome::fits);
  EXPECT_EQ(fits.defect, "");
  EXPECT_EQ(ask(problem, prepared, {.capacity = 11}).outcome, SearchOutcome::does_not_fit);
}

// Pisarchyk and Lee's greedy by size gives 1,088 here; the load of 768 is possible.
TYPED_TEST(SkylineSearchTest, FindsWhatGreedyBySizeMisses) {
  const PackingProblem problem =
      testing::problem_of_inclusive({{0, 0, 384}, {0, 4, 192}, {3, 5, 256}, {0, 3, 192}, {6, 10, 64}, {5, 8, 448}});
  const Answer answer = ask(problem, TypeParam(problem), {.capacity = 768});
  EXPECT_EQ(answer.outcome, SearchOutcome::fits);
  EXPECT_EQ(answer.defect, "");
}

// A limit that is too small gives no answer, and the search can continue afterwards.
TYPED_TEST(SkylineSearchTest, SaysIfTheLimitCameFirst) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 3, 7}, {2, 5, 1}});
  const TypeParam prepared(problem);
  SkylineSearch<typename TypeParam::State> search(prepared.form, {});
  search.set_capacity(12);
  EXPECT_EQ(search.run(1, kNoLimit), SearchOutcome::undecided);
  EXPECT_EQ(search.run(kNoLimit, kNoLimit), SearchOutcome::fits);
}

// What failed below one capacity says nothing about a higher one.
TYPED_TEST(SkylineSearchTest, ForgetsNogoodsIfTheCapacityRises) {
  Random random(37);
  for (int round = 0; round < 100; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 6, .most_size = 6, .moments = 6});
    const TypeParam prepared(problem);
    const std::int64_t least = testing::least_height(problem);
    SkylineSearch<typename TypeParam::State> search(prepared.form, {});
    for (const std::int64_t capacity : {least - 1, least, least - 1, least + 1}) {
      search.set_capacity(capacity);
      const SearchOutcome expected = capacity < least ? SearchOutcome::does_not_fit : SearchOutcome::fits;
      ASSERT_EQ(search.run(kNoLimit, kNoLimit), expected) << "round " << round << ", capacity " << capacity;
    }
  }
}

TYPED_TEST(SkylineSearchTest, AgreesWithBruteForceUnderAllCombinationsOfRules) {
  compare_with_brute_force<TypeParam>({.most_buffers = 6, .most_size = 6, .moments = 6}, 31, 120);
}

TYPED_TEST(SkylineSearchTest, AgreesWithBruteForceWithAlignments) {
  compare_with_brute_force<TypeParam>({.most_buffers = 6, .most_size = 16, .moments = 6, .alignments = true}, 32, 200);
}

// One alignment for all, where sizes are rounded beforehand, and mixed ones, where they cannot be.
TEST(SkylineSearchOfIntervals, RandomAlignmentsAreOfBothKinds) {
  Random random(32);
  int mixed = 0;
  for (int round = 0; round < 200; ++round) {
    const PackingProblem problem =
        testing::random_valid_problem(random, {.most_buffers = 6, .most_size = 16, .moments = 6, .alignments = true});
    mixed += interval_problem(compress(problem))->unit == 1 ? 1 : 0;
  }
  EXPECT_GE(mixed, 60);
  EXPECT_LE(mixed, 190);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceWithGaps) {
  compare_with_brute_force<AsCliques>({.most_buffers = 6, .most_size = 6, .moments = 10, .gaps = true}, 42, 200);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceAroundFixedBuffers) {
  compare_with_brute_force<AsCliques>({.most_buffers = 6, .most_size = 6, .moments = 8, .gaps = true, .fixed = true},
                                      43, 200);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceWithAlignmentsGapsAndFixedBuffers) {
  compare_with_brute_force<AsCliques>(
      {.most_buffers = 6, .most_size = 16, .moments = 8, .alignments = true, .gaps = true, .fixed = true}, 44, 200);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceOnRelations) {
  compare_with_brute_force<AsCliques>({.most_buffers = 6, .most_size = 6, .relation = true}, 45, 200);
  compare_with_brute_force<AsCliques>(
      {.most_buffers = 6, .most_size = 16, .alignments = true, .fixed = true, .relation = true}, 46, 200);
}

// Decisions with all rules, and with one rule off at a time.
struct Decisions {
  std::int64_t all = 0;
  std::int64_t without[std::size(kSwitches)] = {};
};

template <typename Form>
void count_decisions(const PackingProblem& problem, std::int64_t capacity, std::int64_t limit, Decisions& decisions) {
  const Form prepared(problem);
  const Answer with = ask(problem, prepared, {.capacity = capacity, .node_limit = limit});
  ASSERT_EQ(with.defect, "");
  decisions.all += with.nodes;
  for (std::size_t at = 0; at < std::size(kSwitches); ++at) {
    const Answer answer =
        ask(problem, prepared, {.capacity = capacity, .rules = rules_without(1U << at), .node_limit = limit});
    ASSERT_TRUE(answer.outcome == with.outcome || answer.outcome == SearchOutcome::undecided ||
                with.outcome == SearchOutcome::undecided)
        << name_of(1U << at);
    decisions.without[at] += answer.nodes;
  }
}

// Rectangles of 30 bytes and 30 moments cut into 60 pieces: no byte may be wasted, and many pieces are alike. With all
// rules they take 120 decisions on average.
TEST(SkylineSearchOfIntervals, EachRuleSavesDecisions) {
  Decisions decisions;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const PackingProblem problem = testing::cut_rectangle(seed, {.moments = 30, .bytes = 30, .pieces = 60});
    count_decisions<AsIntervals>(problem, 30, 20'000, decisions);
  }
  EXPECT_LT(decisions.all, 40 * 150);
  for (std::size_t at = 0; at < std::size(kSwitches); ++at) {
    EXPECT_GT(decisions.without[at], decisions.all) << kSwitches[at].name;
  }
}

// Rectangles cut into 40 pieces, many with a gap that others fill: no byte may be wasted. And random problems with
// gaps, asked for their bound: some of them reach it and some do not, and there is slack to waste.
TEST(SkylineSearchOfCliques, EachRuleSavesDecisions) {
  Decisions decisions;
  Random random(40);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const bool is_cut = seed < 30;
    const PackingProblem problem =
        is_cut
            ? testing::cut_rectangle(seed, {.moments = 30, .bytes = 30, .pieces = 40, .gaps = 20})
            : testing::random_valid_problem(random, {.most_buffers = 40, .most_size = 60, .moments = 20, .gaps = true});
    // A buffer that is never active is in no clique.
    std::int64_t capacity = AsCliques(problem).bound;
    for (const PackingBuffer& buffer : problem.buffers) capacity = std::max(capacity, buffer.size.count());
    count_decisions<AsCliques>(problem, capacity, 4'000, decisions);
  }
  for (std::size_t at = 0; at < std::size(kSwitches); ++at) {
    EXPECT_GT(decisions.without[at], decisions.all) << kSwitches[at].name;
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
