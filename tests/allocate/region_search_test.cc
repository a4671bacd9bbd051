// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_search.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "lowtide/allocate/allocate.h"
#include "tests/allocate/region_problems.h"
#include "tests/allocate/search_questions.h"

namespace lowtide::allocate_internal {
namespace {

struct Searched {
  std::optional<RegionCost> cost;
  bool is_complete = false;
  std::int64_t decisions = 0;
};

// Searches without a known cost.
Searched searched(const RegionProblem& problem, const RegionRules& rules) {
  const Result<RegionModel> model = RegionModel::build(problem);
  Searched out;
  if (model->overload()) return {.cost = std::nullopt, .is_complete = true};
  IdVector<LevelId, RegionBound> bounds;
  for (LevelId level : model->levels()) {
    bounds.push_back(RegionBound(*model, level));
    bounds[level].raise(1'000'000, 100'000);
  }
  Effort effort{.limit = 2'000'000'000};
  RegionPacker packer(problem, *model, effort, 1);
  RegionSearch search(*model, bounds, packer, effort, rules);
  out.is_complete = search.run(1'000'000'000, 10'000'000);
  out.decisions = search.decisions();
  if (!search.best()) return out;
  LevelCost cost;
  for (GroupId group : model->groups()) cost += model->cost(group, (*search.best())[group]);
  out.cost = model->as_region_cost(cost);
  return out;
}

// A problem whose cliques fit the first region, but for which there are no offsets, as in a ring of five buffers of
// which two fit. So a buffer must leave, but no clique shows which one.
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

constexpr std::array<testing::RuleSwitch<RegionRules>, 5> kRegionSwitches = {{
    {"loads", &RegionRules::loads},
    {"bounds", &RegionRules::bounds},
    {"interchangeable", &RegionRules::interchangeable},
    {"nogoods", &RegionRules::nogoods},
    {"minimize", &RegionRules::minimize},
}};

RegionProblem small_problem(Random& random, int round) {
  return testing::random_region_problem(
      random, {.packing = {.most_buffers = 6, .most_size = round % 2 == 0 ? 3 : 9, .moments = 6},
               .weights = round % 4 < 2,
               .all_bounded = round % 5 < 3});
}

TEST(RegionSearch, AgreesWithBruteForceUnderAllRules) {
  Random random(73);
  for (int round = 0; round < 200; ++round) {
    const RegionProblem problem = small_problem(random, round);
    const std::optional<RegionCost> least = testing::least_cost(problem);
    for (unsigned off = 0; off < 1U << kRegionSwitches.size(); ++off) {
      const Searched found = searched(problem, rules_without(kRegionSwitches, off));
      ASSERT_TRUE(found.is_complete) << name_without(kRegionSwitches, off) << ", round " << round;
      ASSERT_EQ(found.cost, least) << name_without(kRegionSwitches, off) << ", round " << round;
    }
  }
}

TEST(RegionSearch, EachRuleSavesDecisions) {
  std::int64_t with_all = 0;
  std::array<std::int64_t, kRegionSwitches.size()> without = {};
  Random random(71);
  for (int round = 0; round < 1500; ++round) {
    const bool is_small = round % 8 != 7;
    const RegionProblem problem = is_small ? small_problem(random, round) : problem_without_offsets(random);
    const Searched all = searched(problem, {});
    ASSERT_TRUE(all.is_complete) << "round " << round;
    if (is_small) {
      ASSERT_EQ(all.cost, testing::least_cost(problem)) << "round " << round;
    }
    with_all += all.decisions;
    for (std::size_t at = 0; at < kRegionSwitches.size(); ++at) {
      const Searched found = searched(problem, rules_without(kRegionSwitches, 1U << at));
      ASSERT_TRUE(found.is_complete) << kRegionSwitches[at].name << ", round " << round;
      ASSERT_EQ(found.cost, all.cost) << kRegionSwitches[at].name << ", round " << round;
      without[at] += found.decisions;
    }
  }
  for (std::size_t at = 0; at < kRegionSwitches.size(); ++at)
    EXPECT_GT(without[at], with_all) << kRegionSwitches[at].name;
}

}  // namespace
}  // namespace lowtide::allocate_internal
