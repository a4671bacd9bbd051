// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_search.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "lowtide/allocate/allocate.h"
#include "tests/allocate/region_problems.h"

namespace lowtide::allocate_internal {
namespace {

struct Searched {
  std::optional<RegionCost> cost;
  bool is_complete = false;
  std::int64_t decisions = 0;
};

// Without any choice to begin with.
Searched searched(const RegionProblem& problem, const RegionRules& rules) {
  const Result<RegionModel> model = RegionModel::build(problem);
  Searched out;
  if (model->overload()) return {.cost = std::nullopt, .is_complete = true};
  std::vector<RegionBound> bounds;
  for (std::size_t level = 0; level < model->levels(); ++level) {
    bounds.emplace_back(*model, level);
    bounds.back().raise(1'000'000, 100'000);
  }
  Effort effort{.limit = 2'000'000'000};
  RegionPacker packer(problem, *model, effort, 1);
  RegionSearch search(*model, bounds, packer, effort, rules);
  out.is_complete = search.run(1'000'000'000, 10'000'000);
  out.decisions = search.decisions();
  if (search.best().empty()) return out;
  LevelCost cost;
  for (std::size_t item = 0; item < model->items(); ++item) cost += model->cost(item, search.best()[item]);
  out.cost = model->as_region_cost(cost);
  return out;
}

// Cliques fit the first region, and offsets do not, as in a ring of five of which two fit: somebody must leave, though
// no clique says who.
RegionProblem problem_without_offsets(Random& random) {
  while (true) {
    RegionProblem problem;
    problem.packing = testing::random_problem(random, {.most_buffers = 10, .most_size = 4, .relation = true});
    const Result<Packing> all = allocate(problem.packing);
    if (!all->is_bound_searched || problem.packing.buffers.size() < 7) continue;
    problem.regions.push_back({.capacity = all->bound - Bytes(1)});
    problem.regions.push_back(
        {.capacity = random.chance(50) ? std::optional(Bytes(random.between(1, 5))) : std::nullopt});
    for (std::size_t at = 0; at < problem.packing.buffers.size(); ++at) {
      problem.uses.push_back({.weight = random.between(1, 3), .forbidden = {}});
    }
    return problem;
  }
}

// What each rule saves, over all problems; the answer is always that of brute force.
TEST(RegionSearch, NoRuleChangesTheAnswerAndEachOneSaves) {
  struct Case {
    const char* name;
    RegionRules rules;
  };
  const std::vector<Case> cases = {{"all", {}},
                                   {"loads", {.loads = false}},
                                   {"bounds", {.bounds = false}},
                                   {"interchangeable", {.interchangeable = false}},
                                   {"refuted", {.refuted = false}},
                                   {"shrink", {.shrink = false}}};
  std::vector<std::int64_t> decisions(cases.size(), 0);
  Random random(71);
  for (int round = 0; round < 1500; ++round) {
    const bool is_small = round % 8 != 7;
    const RegionProblem problem =
        !is_small ? problem_without_offsets(random)
                  : testing::random_region_problem(
                        random, {.packing = {.most_buffers = 6, .most_size = round % 2 == 0 ? 3 : 9, .moments = 6},
                                 .weights = round % 4 < 2,
                                 .all_bounded = round % 5 < 3});
    const std::optional<RegionCost> least =
        is_small ? testing::least_cost(problem) : searched(problem, cases[0].rules).cost;
    for (std::size_t at = 0; at < cases.size(); ++at) {
      const Searched found = searched(problem, cases[at].rules);
      ASSERT_TRUE(found.is_complete) << cases[at].name << ", round " << round;
      ASSERT_EQ(found.cost, least) << cases[at].name << ", round " << round;
      decisions[at] += found.decisions;
    }
  }
  for (std::size_t at = 1; at < cases.size(); ++at) EXPECT_GT(decisions[at], decisions[0]) << cases[at].name;
}

}  // namespace
}  // namespace lowtide::allocate_internal
