// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/groups/pair_order_search.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/allocate/problems.h"
#include "tests/allocate/search_questions.h"

namespace lowtide::allocate_internal {
namespace {

using testing::FitAnswer;
using testing::FitQuestion;

struct AsPairs {
  explicit AsPairs(const PackingProblem& problem) : groups(*group_buffers(problem)) {
    Effort effort{.limit = 1'000'000'000};
    graph = conflict_graph(compress(problem), effort);
    blocks = pair_order_problem(problem, groups, *graph);
  }
  BufferGroups groups;
  std::optional<ConflictGraph> graph;
  PairOrderProblem blocks;
};

FitAnswer ask(const PackingProblem& problem, const AsPairs& prepared, const FitQuestion& question,
              const PairOrderRules& rules = {}) {
  PairOrderSearch search(prepared.blocks, rules);
  return testing::ask(search, problem, prepared.blocks.members, question);
}

constexpr std::array<testing::RuleSwitch<PairOrderRules>, 2> kPairSwitches = {{
    {"forced", &PairOrderRules::forced},
    {"components", &PairOrderRules::components},
}};
constexpr unsigned kPairCombinations = 1U << kPairSwitches.size();

//   12     +---+
//          | v |        u is live early. v is live late, 8 bytes above it. x is live with both, and lies between
//    8 +---+---+        them, so they need 12 bytes. As one block of 12 bytes with x on top they would need 16.
//      |   x   |
//    4 +---+---+
//      | u |
//    0 +---+
TEST(PairOrderSearch, LetsAGroupReachAroundAnother) {
  PackingProblem problem = testing::problem_of({{0, 1, 4}, {1, 2, 4}, {0, 2, 4}});
  problem.colocations = {{PackingId(0), PackingId(1), Bytes(8)}};
  const AsPairs prepared(problem);
  const FitAnswer answer = ask(problem, prepared, {.capacity = 12});
  EXPECT_EQ(answer.outcome, SearchOutcome::fits);
  EXPECT_EQ(answer.defect, "");
  EXPECT_EQ(ask(problem, prepared, {.capacity = 11}).outcome, SearchOutcome::does_not_fit);
}

void compare_pairs_with_brute_force(const testing::Features& features, std::uint64_t seed, int rounds) {
  Random random(seed);
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = testing::random_valid_problem(random, features);
    const AsPairs prepared(problem);
    const std::int64_t least = testing::least_height_of_all_offsets(problem);
    for (unsigned off = 0; off < kPairCombinations; ++off) {
      const PairOrderRules rules = rules_without(kPairSwitches, off);
      for (CliqueRule rule : testing::kCliqueRules) {
        const FitAnswer at = ask(problem, prepared, {.capacity = least, .clique_rule = rule}, rules);
        ASSERT_EQ(at.outcome, SearchOutcome::fits) << name_without(kPairSwitches, off) << ", round " << round;
        ASSERT_EQ(at.defect, "") << name_without(kPairSwitches, off) << ", round " << round;
        const FitAnswer below = ask(problem, prepared, {.capacity = least - 1, .clique_rule = rule}, rules);
        ASSERT_EQ(below.outcome, SearchOutcome::does_not_fit)
            << name_without(kPairSwitches, off) << ", round " << round;
      }
    }
  }
}

TEST(PairOrderSearch, AgreesWithBruteForceOnGroups) {
  compare_pairs_with_brute_force({.most_buffers = 6, .most_size = 4, .moments = 6, .gaps = true, .colocations = true},
                                 51, 600);
}

TEST(PairOrderSearch, AgreesWithBruteForceOnTheWholeModel) {
  compare_pairs_with_brute_force({.most_buffers = 6,
                                  .most_size = 4,
                                  .moments = 6,
                                  .gaps = true,
                                  .fixed = true,
                                  .zero_sizes = true,
                                  .colocations = true},
                                 52, 600);
  compare_pairs_with_brute_force({.most_buffers = 6,
                                  .most_size = 4,
                                  .alignments = true,
                                  .fixed = true,
                                  .zero_sizes = true,
                                  .relation = true,
                                  .colocations = true},
                                 53, 600);
}

// Three buffers of 7 bytes fit 24 in six orders. Five buffers of 5 bytes need 25. They are looked at last, because two
// of them leave more space. Without components, the search fails at them once for each of the six orders.
TEST(PairOrderSearch, EachRulePrunes) {
  PackingProblem problem =
      testing::problem_of({{0, 1, 7}, {0, 1, 7}, {0, 1, 7}, {5, 6, 5}, {5, 6, 5}, {5, 6, 5}, {5, 6, 5}, {5, 6, 5}});
  const AsPairs prepared(problem);
  const FitAnswer all = ask(problem, prepared, {.capacity = 24});
  EXPECT_EQ(all.outcome, SearchOutcome::does_not_fit);
  for (unsigned off = 1; off < kPairCombinations; ++off) {
    const FitAnswer without = ask(problem, prepared, {.capacity = 24}, rules_without(kPairSwitches, off));
    EXPECT_EQ(without.outcome, SearchOutcome::does_not_fit) << name_without(kPairSwitches, off);
    EXPECT_GT(without.nodes, all.nodes) << name_without(kPairSwitches, off);
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
