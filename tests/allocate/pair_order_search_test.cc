// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/groups/pair_order_search.h"

#include <gtest/gtest.h>

#include "tests/allocate/problems.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

struct Prepared {
  explicit Prepared(const PackingProblem& problem) : groups(*group_buffers(problem)) {
    Effort effort{.limit = 1'000'000'000};
    graph = conflict_graph(compress(problem), effort);
    blocks = order_problem(problem, groups, *graph);
  }
  BufferGroups groups;
  std::optional<ConflictGraph> graph;
  PairOrderProblem blocks;
};

struct Answer {
  SearchOutcome outcome = SearchOutcome::undecided;
  std::string defect;
  std::int64_t nodes = 0;
};

Answer ask(const PackingProblem& problem, const Prepared& prepared, std::int64_t capacity,
           const PairOrderRules& rules = {}, CliqueRule rule = CliqueRule::fewest_options) {
  PairOrderSearch search(prepared.blocks, rules);
  search.set_rule(rule);
  search.set_capacity(capacity);
  Answer answer{.outcome = search.run(kNoLimit, kNoLimit)};
  answer.nodes = search.nodes();
  if (answer.outcome != SearchOutcome::fits) return answer;
  IdVector<PackingId, Offset> offsets;
  for (std::uint32_t at = 0; at < problem.buffers.size(); ++at) offsets.push_back(Offset(search.offset(at)));
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if ((offsets[id] + problem.buffers[id].size).position() > capacity) answer.defect = "above the capacity";
  }
  if (answer.defect.empty()) answer.defect = testing::defect_of(problem, offsets);
  return answer;
}

struct RuleCase {
  const char* name;
  PairOrderRules rules;
};
const RuleCase kRuleCases[] = {
    {"all", {}},
    {"without forced", {.forced = false}},
    {"without components", {.components = false}},
    {"without any", {.forced = false, .components = false}},
};

//   12     +---+
//          | v |        u lives early and v late, 8 above it; x lives with both, and lies between them: 12.
//    8 +---+---+        As one block of 12 with x on top of it they would need 16.
//      |   x   |
//    4 +---+---+
//      | u |
//    0 +---+
TEST(PairOrderSearch, LetsAGroupReachAroundAnother) {
  PackingProblem problem = testing::problem_of({{0, 1, 4}, {1, 2, 4}, {0, 2, 4}});
  problem.together = {{PackingId(0), PackingId(1), Bytes(8)}};
  const Prepared prepared(problem);
  const Answer answer = ask(problem, prepared, 12);
  EXPECT_EQ(answer.outcome, SearchOutcome::fits);
  EXPECT_EQ(answer.defect, "");
  EXPECT_EQ(ask(problem, prepared, 11).outcome, SearchOutcome::does_not_fit);
}

void compare_with_brute_force(const testing::Features& features, std::uint64_t seed, int rounds) {
  Random random(seed);
  int refuted = 0;
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = testing::random_valid_problem(random, features);
    const Prepared prepared(problem);
    const std::int64_t least = testing::least_height_of_all_offsets(problem);
    for (const RuleCase& rule_case : kRuleCases) {
      for (CliqueRule rule : {CliqueRule::fewest_options, CliqueRule::most_failures, CliqueRule::least_slack}) {
        const Answer at = ask(problem, prepared, least, rule_case.rules, rule);
        ASSERT_EQ(at.outcome, SearchOutcome::fits) << rule_case.name << ", round " << round;
        ASSERT_EQ(at.defect, "") << rule_case.name << ", round " << round;
        ASSERT_EQ(ask(problem, prepared, least - 1, rule_case.rules, rule).outcome, SearchOutcome::does_not_fit)
            << rule_case.name << ", round " << round;
        ++refuted;
      }
    }
  }
  EXPECT_EQ(refuted, rounds * 12);
}

TEST(PairOrderSearch, AgreesWithBruteForceOnGroups) {
  compare_with_brute_force({.most_buffers = 6, .most_size = 4, .moments = 6, .gaps = true, .together = true}, 51, 600);
}

TEST(PairOrderSearch, AgreesWithBruteForceOnTheWholeModel) {
  compare_with_brute_force({.most_buffers = 6,
                            .most_size = 4,
                            .moments = 6,
                            .gaps = true,
                            .fixed = true,
                            .zero_sizes = true,
                            .together = true},
                           52, 600);
  compare_with_brute_force({.most_buffers = 6,
                            .most_size = 4,
                            .alignments = true,
                            .fixed = true,
                            .zero_sizes = true,
                            .relation = true,
                            .together = true},
                           53, 600);
}

// Three of 7 bytes fit 24 in six orders; five of 5 do not (25), and there is more room for each two of them, so that
// they are looked at last: without components that is found out for each of the six.
TEST(PairOrderSearch, EachRulePrunes) {
  PackingProblem problem =
      testing::problem_of({{0, 1, 7}, {0, 1, 7}, {0, 1, 7}, {5, 6, 5}, {5, 6, 5}, {5, 6, 5}, {5, 6, 5}, {5, 6, 5}});
  const Prepared prepared(problem);
  const Answer all = ask(problem, prepared, 24);
  EXPECT_EQ(all.outcome, SearchOutcome::does_not_fit);
  for (int at = 1; at < 4; ++at) {
    const Answer without = ask(problem, prepared, 24, kRuleCases[at].rules);
    EXPECT_EQ(without.outcome, SearchOutcome::does_not_fit) << kRuleCases[at].name;
    EXPECT_GT(without.nodes, all.nodes) << kRuleCases[at].name;
  }
}

}  // namespace
}  // namespace lowtide::allocate_internal
