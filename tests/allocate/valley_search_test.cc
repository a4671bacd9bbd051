// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/valley_search.h"

#include <gtest/gtest.h>

#include <limits>

#include "lowtide/allocate/exact/capacity_search.h"
#include "lowtide/allocate/improve/descent.h"
#include "lowtide/allocate/problem/load_bound.h"
#include "tests/allocate/problems.h"

namespace lowtide {
namespace {

constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

struct Answer {
  SearchOutcome outcome = SearchOutcome::undecided;
  std::string defect;  // of the offsets, if it fits
  std::int64_t nodes = 0;
};

Answer ask(const PackingProblem& problem, std::int64_t capacity, const ValleyRules& rules = {},
           SectionRule rule = SectionRule::fewest_options, std::int64_t node_limit = kNoLimit) {
  const SectionedProblem sections = *sectioned(compress(problem));
  ValleySearch search(sections, rules);
  search.set_rule(rule);
  search.set_capacity(capacity);
  Answer answer{.outcome = search.run(node_limit, kNoLimit)};
  answer.nodes = search.nodes();
  if (answer.outcome != SearchOutcome::fits) return answer;
  IdVector<PackingId, Offset> offsets(problem.buffers.size(), Offset(0));
  for (std::uint32_t at = 0; at < sections.buffers.size(); ++at) {
    const PackingId id = sections.buffers[at].id;
    offsets[id] = Offset(search.offset(at));
    if (search.offset(at) + problem.buffers[id].size.count() > capacity) answer.defect = "above the capacity";
  }
  if (answer.defect.empty()) answer.defect = testing::defect_of(problem, offsets);
  return answer;
}

// Both at time 1: 5 + 7.
TEST(ValleySearch, FitsTheLoadAndNoByteLess) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 3, 7}});
  const Answer fits = ask(problem, 12);
  EXPECT_EQ(fits.outcome, SearchOutcome::fits);
  EXPECT_EQ(fits.defect, "");
  EXPECT_EQ(ask(problem, 11).outcome, SearchOutcome::does_not_fit);
}

// Pisarchyk and Lee's greedy by size gives 1,088 here; the load is 768 and can be had.
TEST(ValleySearch, FindsWhatGreedyBySizeMisses) {
  const PackingProblem problem =
      testing::problem_of_inclusive({{0, 0, 384}, {0, 4, 192}, {3, 5, 256}, {0, 3, 192}, {6, 10, 64}, {5, 8, 448}});
  const Answer answer = ask(problem, 768);
  EXPECT_EQ(answer.outcome, SearchOutcome::fits);
  EXPECT_EQ(answer.defect, "");
}

// Not deciding is not an answer: a limit that is too small says so, and the search can go on from there.
TEST(ValleySearch, SaysWhenTheLimitCameFirst) {
  const PackingProblem problem = testing::problem_of({{0, 2, 5}, {1, 3, 7}, {2, 5, 1}});
  const SectionedProblem sections = *sectioned(compress(problem));
  ValleySearch search(sections, {});
  search.set_capacity(12);
  EXPECT_EQ(search.run(1, kNoLimit), SearchOutcome::undecided);
  EXPECT_EQ(search.run(kNoLimit, kNoLimit), SearchOutcome::fits);
}

struct RuleCase {
  const char* name;
  ValleyRules rules;
};
const RuleCase kRuleCases[] = {
    {"all", {}},
    {"without slack", {.slack = false}},
    {"without walls", {.walls = false}},
    {"without twins", {.twins = false}},
    {"without components", {.components = false}},
    {"without memory", {.memory = false}},
    {"without any", {.slack = false, .walls = false, .twins = false, .components = false, .memory = false}},
};

// At the least height that brute force finds it fits; one byte below it does not: for every rule switched off.
void compare_with_brute_force(const testing::Features& features, std::uint64_t seed, int rounds) {
  Random random(seed);
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = testing::random_problem(random, features);
    const std::int64_t least = testing::least_height(problem);
    for (const RuleCase& rule_case : kRuleCases) {
      for (SectionRule rule : {SectionRule::fewest_options, SectionRule::most_failures, SectionRule::least_slack}) {
        const Answer at = ask(problem, least, rule_case.rules, rule);
        ASSERT_EQ(at.outcome, SearchOutcome::fits) << rule_case.name << ", round " << round;
        ASSERT_EQ(at.defect, "") << rule_case.name << ", round " << round;
        ASSERT_EQ(ask(problem, least - 1, rule_case.rules, rule).outcome, SearchOutcome::does_not_fit)
            << rule_case.name << ", round " << round;
      }
    }
  }
}

TEST(ValleySearch, AgreesWithBruteForceWhateverRuleIsOff) {
  compare_with_brute_force({.most_buffers = 6, .most_size = 6, .moments = 6}, 31, 400);
}

// One alignment for all, where sizes are rounded beforehand, and mixed ones, where they cannot be.
TEST(ValleySearch, AgreesWithBruteForceWithAlignments) {
  Random random(32);
  int mixed = 0;
  for (int round = 0; round < 600; ++round) {
    const PackingProblem problem =
        testing::random_problem(random, {.most_buffers = 6, .most_size = 16, .moments = 6, .alignments = true});
    mixed += sectioned(compress(problem))->unit == 1 ? 1 : 0;
    const std::int64_t least = testing::least_height(problem);
    for (const RuleCase& rule_case : kRuleCases) {
      const Answer at = ask(problem, least, rule_case.rules);
      ASSERT_EQ(at.outcome, SearchOutcome::fits) << rule_case.name << ", round " << round;
      ASSERT_EQ(at.defect, "") << rule_case.name << ", round " << round;
      ASSERT_EQ(ask(problem, least - 1, rule_case.rules).outcome, SearchOutcome::does_not_fit)
          << rule_case.name << ", round " << round;
    }
  }
  EXPECT_GE(mixed, 200);
  EXPECT_LE(mixed, 550);
}

// What a rule saves. Rectangles of 30 bytes and 30 moments cut into 60 pieces: no byte may be wasted, and many pieces
// are alike. With all rules they take 120 decisions on average; without any, two in forty are still open after 20,000.
TEST(ValleySearch, EachRulePrunes) {
  constexpr std::int64_t kLimit = 20'000;
  std::int64_t all = 0;
  std::int64_t without[6] = {};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const PackingProblem problem = testing::cut_rectangle(seed, {.moments = 30, .bytes = 30, .pieces = 60});
    const Answer with = ask(problem, 30, {}, SectionRule::fewest_options, kLimit);
    ASSERT_EQ(with.outcome, SearchOutcome::fits);
    ASSERT_EQ(with.defect, "");
    all += with.nodes;
    for (int at = 0; at < 6; ++at) {
      const Answer answer = ask(problem, 30, kRuleCases[at + 1].rules, SectionRule::fewest_options, kLimit);
      ASSERT_NE(answer.outcome, SearchOutcome::does_not_fit) << kRuleCases[at + 1].name;
      without[at] += answer.nodes;
    }
  }
  EXPECT_LT(all, 40 * 150);
  for (int at = 0; at < 6; ++at) EXPECT_GT(without[at], all) << kRuleCases[at + 1].name;
}

TEST(CapacitySearch, EndsWithAProofEitherWay) {
  Random random(34);
  for (int round = 0; round < 200; ++round) {
    const PackingProblem problem = testing::random_problem(random, {.most_buffers = 6, .moments = 6});
    const SectionedProblem sections = *sectioned(compress(problem));
    const std::int64_t least = testing::least_height(problem);
    const SearchTask task = search_task(sections);
    CapacitySearch search(task);
    Effort effort{.limit = 100'000'000};
    search.set_capacity(least - 1);
    ASSERT_EQ(search.run_round(effort), SearchOutcome::does_not_fit) << "round " << round;
    search.set_capacity(least);
    ASSERT_EQ(search.run_round(effort), SearchOutcome::fits) << "round " << round;
  }
}

// The first lane that decides wins; what lanes behind it did in the meantime must leave no trace.
TEST(CapacitySearch, GivesTheSameAnswersWithAnyNumberOfThreads) {
  Random random(36);
  const SectionedProblem sections =
      *sectioned(compress(testing::random_problem(random, {.most_buffers = 60, .most_size = 4000, .moments = 40})));
  std::vector<std::string> answers;
  for (int threads : {1, 2, 5, 16}) {
    const SearchTask task = search_task(sections);
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
      for (std::uint32_t at = 0; at < sections.buffers.size(); ++at) answer += std::to_string(search.offset(at)) + " ";
    }
    answers.push_back(answer);
  }
  for (const std::string& answer : answers) EXPECT_EQ(answer, answers.front());
}

// Where alignments differ, the optimum is often above what the load proves: there a search that ends is the only proof.
TEST(Descent, RaisesTheBoundToTheOptimum) {
  Random random(35);
  int raised = 0;
  for (int round = 0; round < 1500; ++round) {
    const PackingProblem problem =
        testing::random_problem(random, {.most_buffers = 6, .most_size = 16, .moments = 6, .alignments = true});
    const CompressedProblem compressed = compress(problem);
    const SectionedProblem sections = *sectioned(compressed);
    const std::int64_t load = height_bound(compressed).height;
    const std::int64_t least = testing::least_height(problem);
    if (least == load) continue;
    ++raised;
    const SearchTask task = search_task(sections);
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
}  // namespace lowtide
