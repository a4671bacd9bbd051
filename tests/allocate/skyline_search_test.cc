// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/skyline_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lowtide/allocate/problem/clique_cover.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "tests/allocate/problems.h"
#include "tests/allocate/search_questions.h"
#include "tests/campaign.h"

namespace lowtide::allocate_internal {
namespace {

using testing::FitAnswer;
using testing::FitQuestion;
using testing::kNoLimit;

// A problem in the form that each state expects.
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
    const std::optional<CliqueCover> cover = clique_cover(compressed, &*graph, effort);
    form = cover_problem(compressed, *cover);
    bound = clique_bound(compressed, *cover).height;
  }
  CoverProblem form;
  std::int64_t bound = 0;
};

template <typename Form>
FitAnswer ask(const PackingProblem& problem, const Form& prepared, const FitQuestion& question,
              const SkylineRules& rules = {}) {
  SkylineSearch<typename Form::State> search(prepared.form, rules);
  return testing::ask(search, problem, prepared.form.buffers, question);
}

constexpr std::array<testing::RuleSwitch<SkylineRules>, 5> kSwitches = {{
    {"slack", &SkylineRules::slack},
    {"start_bound", &SkylineRules::start_bound},
    {"components", &SkylineRules::components},
    {"interchangeable", &SkylineRules::interchangeable},
    {"nogoods", &SkylineRules::nogoods},
}};
constexpr unsigned kCombinations = 1U << kSwitches.size();

// No fixed buffer may end above the capacity.
std::int64_t highest_fixed_end(const PackingProblem& problem) {
  std::int64_t end = 0;
  for (const PackingBuffer& buffer : problem.buffers) {
    if (buffer.fixed_offset) end = std::max(end, (*buffer.fixed_offset + buffer.size).position());
  }
  return end;
}

// At the least height, which brute force finds, all buffers fit. One byte below it, they do not. All 32 combinations of
// rules must say so, each with every clique rule.
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
      const SkylineRules rules = rules_without(kSwitches, off);
      for (CliqueRule rule : testing::kCliqueRules) {
        const FitAnswer at = ask(problem, prepared, {.capacity = least, .clique_rule = rule}, rules);
        ASSERT_EQ(at.outcome, SearchOutcome::fits) << name_without(kSwitches, off) << ", round " << round;
        ASSERT_EQ(at.defect, "") << name_without(kSwitches, off) << ", round " << round;
        if (!may_refute) continue;
        // The search does not see a buffer that is in no clique, and this buffer may be too large.
        const FitAnswer below = ask(problem, prepared, {.capacity = least - 1, .clique_rule = rule}, rules);
        ASSERT_TRUE(below.outcome == SearchOutcome::does_not_fit || below.defect == "above the capacity")
            << name_without(kSwitches, off) << ", round " << round;
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

// Both buffers are live at time 1: 5 + 7.
TYPED_TEST(SkylineSearchTest, FitsTheLoadAndNoByteLess) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 3, 7}});
  const TypeParam prepared(problem);
  const FitAnswer fits = ask(problem, prepared, {.capacity = 12});
  EXPECT_EQ(fits.outcome, SearchOutcome::fits);
  EXPECT_EQ(fits.defect, "");
  EXPECT_EQ(ask(problem, prepared, {.capacity = 11}).outcome, SearchOutcome::does_not_fit);
}

// Pisarchyk and Lee's greedy by size gives 1,088 here; the load of 768 is possible.
TYPED_TEST(SkylineSearchTest, FindsWhatGreedyBySizeMisses) {
  const PackingProblem problem =
      testing::problem_of_inclusive({{0, 0, 384}, {0, 4, 192}, {3, 5, 256}, {0, 3, 192}, {6, 10, 64}, {5, 8, 448}});
  const FitAnswer answer = ask(problem, TypeParam(problem), {.capacity = 768});
  EXPECT_EQ(answer.outcome, SearchOutcome::fits);
  EXPECT_EQ(answer.defect, "");
}

// A limit that is too small gives no answer, and the search can continue afterwards.
TYPED_TEST(SkylineSearchTest, IsUndecidedIfTheLimitComesFirst) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 3, 7}, {2, 5, 1}});
  const TypeParam prepared(problem);
  SkylineSearch<typename TypeParam::State> search(prepared.form, {});
  search.set_capacity(12);
  EXPECT_EQ(search.run(1, kNoLimit), SearchOutcome::undecided);
  EXPECT_EQ(search.run(kNoLimit, kNoLimit), SearchOutcome::fits);
}

// What does not fit one capacity may fit a higher one.
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

TYPED_TEST(SkylineSearchTest, AgreesWithBruteForceUnderAllRules) {
  compare_with_brute_force<TypeParam>({.most_buffers = 6, .most_size = 6, .moments = 6}, 31, 120);
}

TYPED_TEST(SkylineSearchTest, AgreesWithBruteForceWithAlignments) {
  compare_with_brute_force<TypeParam>({.most_buffers = 6, .most_size = 16, .moments = 6, .alignments = true}, 32, 200);
}

// If all alignments are equal, sizes are rounded beforehand. If they are mixed, they cannot be.
TEST(SkylineSearchOfIntervals, RandomAlignmentsAreOfBothKinds) {
  Random random(32);
  int mixed = 0;
  for (int round = 0; round < testing::sampled(200); ++round) {
    const PackingProblem problem =
        testing::random_valid_problem(random, {.most_buffers = 6, .most_size = 16, .moments = 6, .alignments = true});
    mixed += interval_problem(compress(problem))->unit == 1 ? 1 : 0;
  }
  EXPECT_GE(mixed, testing::sampled(60));
  EXPECT_LE(mixed, 190);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceWithGaps) {
  compare_with_brute_force<AsCliques>({.most_buffers = 6, .most_size = 6, .moments = 10, .gaps = true}, 42, 200);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceAroundFixedBuffers) {
  compare_with_brute_force<AsCliques>({.most_buffers = 6, .most_size = 6, .moments = 8, .gaps = true, .fixed = true},
                                      43, 200);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceOnAllFeatures) {
  compare_with_brute_force<AsCliques>(
      {.most_buffers = 6, .most_size = 16, .moments = 8, .alignments = true, .gaps = true, .fixed = true}, 44, 200);
}

TEST(SkylineSearchOfCliques, AgreesWithBruteForceOnRelations) {
  compare_with_brute_force<AsCliques>({.most_buffers = 6, .most_size = 6, .relation = true}, 45, 200);
  compare_with_brute_force<AsCliques>(
      {.most_buffers = 6, .most_size = 16, .alignments = true, .fixed = true, .relation = true}, 46, 200);
}

// The number of decisions with all rules, and with one rule switched off.
struct Decisions {
  std::int64_t all = 0;
  std::array<std::int64_t, kSwitches.size()> without = {};
};

template <typename Form>
void count_decisions(const PackingProblem& problem, std::int64_t capacity, std::int64_t limit, Decisions& decisions) {
  const Form prepared(problem);
  const FitAnswer with = ask(problem, prepared, {.capacity = capacity, .node_limit = limit});
  ASSERT_EQ(with.defect, "");
  decisions.all += with.nodes;
  for (std::size_t at = 0; at < kSwitches.size(); ++at) {
    const FitAnswer answer =
        ask(problem, prepared, {.capacity = capacity, .node_limit = limit}, rules_without(kSwitches, 1U << at));
    ASSERT_TRUE(answer.outcome == with.outcome || answer.outcome == SearchOutcome::undecided ||
                with.outcome == SearchOutcome::undecided)
        << name_without(kSwitches, 1U << at);
    decisions.without[at] += answer.nodes;
  }
}

// Rectangles of 30 bytes and 30 moments, cut into 60 buffers. No byte may be wasted, and many buffers are
// interchangeable. With all rules they take 120 decisions on average.
TEST(SkylineSearchOfIntervals, EachRuleSavesDecisions) {
  Decisions decisions;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const PackingProblem problem = testing::cut_rectangle(seed, {.moments = 30, .bytes = 30, .buffers = 60});
    count_decisions<AsIntervals>(problem, 30, 20'000, decisions);
  }
  EXPECT_LT(decisions.all, 40 * 150);
  for (std::size_t at = 0; at < kSwitches.size(); ++at) {
    EXPECT_GT(decisions.without[at], decisions.all) << kSwitches[at].name;
  }
}

// Rectangles that are cut into 40 buffers, many of which have gaps that other buffers fill. No byte may be wasted. The
// others are random problems with gaps, which have slack. Their capacity is the bound, which some of them reach.
TEST(SkylineSearchOfCliques, EachRuleSavesDecisions) {
  Decisions decisions;
  Random random(40);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const bool is_cut = seed < 30;
    const PackingProblem problem =
        is_cut
            ? testing::cut_rectangle(seed, {.moments = 30, .bytes = 30, .buffers = 40, .gaps = 20})
            : testing::random_valid_problem(random, {.most_buffers = 40, .most_size = 60, .moments = 20, .gaps = true});
    // A buffer that is never active is in no clique, so the bound does not count it.
    std::int64_t capacity = AsCliques(problem).bound;
    for (const PackingBuffer& buffer : problem.buffers) capacity = std::max(capacity, buffer.size.count());
    count_decisions<AsCliques>(problem, capacity, 4'000, decisions);
  }
  for (std::size_t at = 0; at < kSwitches.size(); ++at) {
    EXPECT_GT(decisions.without[at], decisions.all) << kSwitches[at].name;
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
