// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_sweep.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "lowtide/allocate/regions/region_choice.h"
#include "tests/allocate/region_problems.h"

namespace lowtide::allocate_internal {
namespace {

IdVector<LevelId, RegionBound> bounds_of(const RegionModel& model, std::int64_t work) {
  IdVector<LevelId, RegionBound> bounds;
  for (LevelId level : model.levels()) {
    bounds.push_back(RegionBound(model, level));
    bounds[level].raise(1'000, work);
  }
  return bounds;
}

// The least cost of a choice whose loads fit, by trying all choices.
std::optional<LevelCost> least_of_all_choices(const RegionModel& model) {
  std::optional<LevelCost> least;
  IdVector<GroupId, RegionId> regions(model.group_count());
  while (true) {
    RegionChoice choice(model);
    for (GroupId group : model.groups()) {
      if (choice.fits(group, regions[group])) choice.put(group, regions[group]);
    }
    if (choice.unassigned() == 0 && (!least || choice.cost() < *least)) least = choice.cost();
    // Counts up, with one digit per group.
    bool has_next = false;
    for (GroupId group : model.groups()) {
      const std::uint32_t next = regions[group].value() + 1;
      has_next = next < model.region_count();
      regions[group] = RegionId(has_next ? next : 0);
      if (has_next) break;
    }
    if (!has_next) return least;
  }
}

std::optional<LevelCost> cost_of(const RegionModel& model, const RegionSweep& sweep) {
  if (!sweep.best()) return std::nullopt;
  RegionChoice choice(model);
  for (GroupId group : model.groups()) {
    const RegionId region = (*sweep.best())[group];
    EXPECT_TRUE(choice.fits(group, region));
    choice.put(group, region);
  }
  return choice.cost();
}

TEST(RegionSweep, FindsTheCheapestChoiceWhoseLoadsFit) {
  Random random(77);
  int without = 0;
  for (int round = 0; round < 4000; ++round) {
    const int kind = round % 8;
    const RegionProblem problem = testing::random_region_problem(random, {.packing = {.most_buffers = 6,
                                                                                      .most_size = 9,
                                                                                      .moments = 6,
                                                                                      .gaps = kind == 1,
                                                                                      .fixed = kind == 2,
                                                                                      .relation = kind == 3,
                                                                                      .colocations = kind == 4},
                                                                          .weights = round % 5 < 3,
                                                                          .forbidden = kind == 5,
                                                                          .alignments = kind == 6,
                                                                          .all_bounded = round % 2 == 0});
    const Result<RegionModel> model = RegionModel::build(problem);
    if (model->overload()) continue;
    const std::optional<LevelCost> least = least_of_all_choices(*model);
    without += least ? 0 : 1;
    // With and without prices, and with and without a known cost.
    for (std::int64_t work : {0, 10'000}) {
      const IdVector<LevelId, RegionBound> bounds = bounds_of(*model, work);
      RegionSweep sweep(*model, bounds);
      Effort effort{.limit = 1'000'000};
      ASSERT_TRUE(sweep.run(std::nullopt, 1'000'000, effort));
      ASSERT_EQ(cost_of(*model, sweep), least) << "round " << round;
      if (!least || model->level_count() == 0) continue;
      ASSERT_TRUE(sweep.run(least, 1'000'000, effort));
      ASSERT_FALSE(sweep.best()) << "round " << round;
      LevelCost above = *least;
      ++above[LevelId(0)];
      ASSERT_TRUE(sweep.run(above, 1'000'000, effort));
      ASSERT_EQ(cost_of(*model, sweep), least) << "round " << round;
    }
  }
  EXPECT_GE(without, 10);
}

// The proof that no cost is below the least one, with and without prices. Prices never cost effort, and save some.
TEST(RegionSweep, PricesSaveStates) {
  std::int64_t plain_sum = 0;
  std::int64_t priced_sum = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    RegionProblem problem;
    problem.packing = testing::network_like_problem(60 + 80 * (seed % 4), seed);
    problem.regions.push_back({.capacity = Bytes(testing::largest_load(problem.packing) / 2)});
    problem.regions.push_back({});
    const Result<RegionModel> model = RegionModel::build(problem);
    ASSERT_EQ(model->level_count(), 1U);
    const IdVector<LevelId, RegionBound> plain = {RegionBound(*model, LevelId(0))};
    RegionSweep sweep(*model, plain);
    Effort effort{.limit = 100'000'000};
    ASSERT_TRUE(sweep.run(std::nullopt, 100'000'000, effort));
    const std::optional<LevelCost> least = cost_of(*model, sweep);
    const auto proof = [&](const IdVector<LevelId, RegionBound>& bounds) {
      RegionSweep below(*model, bounds);
      Effort spent{.limit = 100'000'000};
      EXPECT_TRUE(below.run(least, 100'000'000, spent));
      EXPECT_FALSE(below.best());
      return spent.spent;
    };
    IdVector<LevelId, RegionBound> priced = plain;
    priced[LevelId(0)].raise((*least)[LevelId(0)], 1'000'000);
    const std::int64_t with = proof(priced);
    const std::int64_t without = proof(plain);
    EXPECT_LE(with, without) << "seed " << seed;
    priced_sum += with;
    plain_sum += without;
  }
  EXPECT_LT(priced_sum, plain_sum * 95 / 100);
}

TEST(RegionSweep, GivesUpIfTheWorkEnds) {
  RegionProblem problem;
  problem.packing = testing::network_like_problem(200, 5);
  problem.regions.push_back({.capacity = Bytes(testing::largest_load(problem.packing) / 2)});
  problem.regions.push_back({});
  const Result<RegionModel> model = RegionModel::build(problem);
  const IdVector<LevelId, RegionBound> bounds = bounds_of(*model, 0);
  RegionSweep sweep(*model, bounds);
  Effort effort{.limit = 1'000'000};
  EXPECT_FALSE(sweep.run(std::nullopt, 300, effort));
  EXPECT_FALSE(sweep.best());
}

}  // namespace
}  // namespace lowtide::allocate_internal
