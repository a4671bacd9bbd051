// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_sweep.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/allocate/regions/region_choice.h"
#include "tests/allocate/region_problems.h"

namespace lowtide::allocate_internal {
namespace {

std::vector<RegionBound> bounds_of(const RegionModel& model, std::int64_t work) {
  std::vector<RegionBound> bounds;
  for (std::size_t level = 0; level < model.levels(); ++level) {
    bounds.emplace_back(model, level);
    bounds.back().raise(1'000, work);
  }
  return bounds;
}

// By trying all.
std::optional<LevelCost> least_of_all_choices(const RegionModel& model) {
  std::optional<LevelCost> least;
  std::vector<std::size_t> region(model.items(), 0);
  while (true) {
    RegionChoice choice(model);
    bool fits = true;
    for (std::size_t item = 0; item < model.items() && fits; ++item) {
      fits = choice.fits(item, region[item]);
      if (fits) choice.put(item, region[item]);
    }
    if (fits && (!least || choice.cost() < *least)) least = choice.cost();
    std::size_t at = 0;
    while (at < region.size() && ++region[at] == model.regions()) region[at++] = 0;
    if (at == region.size()) return least;
  }
}

std::optional<LevelCost> cost_of(const RegionModel& model, const RegionSweep& sweep) {
  if (sweep.best().empty()) return std::nullopt;
  RegionChoice choice(model);
  for (std::size_t item = 0; item < model.items(); ++item) {
    EXPECT_TRUE(choice.fits(item, sweep.best()[item]));
    choice.put(item, sweep.best()[item]);
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
                                                                                      .together = kind == 4},
                                                                          .weights = round % 5 < 3,
                                                                          .forbidden = kind == 5,
                                                                          .alignments = kind == 6,
                                                                          .all_bounded = round % 2 == 0});
    const Result<RegionModel> model = RegionModel::build(problem);
    if (model->overload()) continue;
    const std::optional<LevelCost> least = least_of_all_choices(*model);
    without += least ? 0 : 1;
    // Whatever the bound knows, and whatever is known before.
    for (std::int64_t work : {0, 10'000}) {
      const std::vector<RegionBound> bounds = bounds_of(*model, work);
      RegionSweep sweep(*model, bounds);
      Effort effort{.limit = 1'000'000};
      ASSERT_TRUE(sweep.run(std::nullopt, 1'000'000, effort));
      ASSERT_EQ(cost_of(*model, sweep), least) << "round " << round;
      if (!least || model->levels() == 0) continue;
      ASSERT_TRUE(sweep.run(least, 1'000'000, effort));
      ASSERT_TRUE(sweep.best().empty()) << "round " << round;
      LevelCost above = *least;
      ++above.level[0];
      ASSERT_TRUE(sweep.run(above, 1'000'000, effort));
      ASSERT_EQ(cost_of(*model, sweep), least) << "round " << round;
    }
  }
  EXPECT_GE(without, 10);
}

// The proof that nothing is below the least, with prices and without: they never cost a state, and save some.
TEST(RegionSweep, PricesSaveStates) {
  std::int64_t plain_sum = 0;
  std::int64_t priced_sum = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    RegionProblem problem;
    problem.packing = testing::network_like_problem(60 + 80 * (seed % 4), seed);
    problem.regions.push_back({.capacity = Bytes(testing::largest_load(problem.packing) / 2)});
    problem.regions.push_back({});
    const Result<RegionModel> model = RegionModel::build(problem);
    ASSERT_EQ(model->levels(), 1U);
    const std::vector<RegionBound> plain = {RegionBound(*model, 0)};
    RegionSweep sweep(*model, plain);
    Effort effort{.limit = 100'000'000};
    ASSERT_TRUE(sweep.run(std::nullopt, 100'000'000, effort));
    const std::optional<LevelCost> least = cost_of(*model, sweep);
    const auto proof = [&](const std::vector<RegionBound>& bounds) {
      RegionSweep below(*model, bounds);
      Effort spent{.limit = 100'000'000};
      EXPECT_TRUE(below.run(least, 100'000'000, spent));
      EXPECT_TRUE(below.best().empty());
      return spent.spent;
    };
    std::vector<RegionBound> priced = plain;
    priced[0].raise(least->level[0], 1'000'000);
    const std::int64_t with = proof(priced);
    const std::int64_t without = proof(plain);
    EXPECT_LE(with, without) << "seed " << seed;
    priced_sum += with;
    plain_sum += without;
  }
  EXPECT_LT(priced_sum, plain_sum * 95 / 100);
}

TEST(RegionSweep, GivesUpWhereItMayNotWork) {
  RegionProblem problem;
  problem.packing = testing::network_like_problem(200, 5);
  problem.regions.push_back({.capacity = Bytes(testing::largest_load(problem.packing) / 2)});
  problem.regions.push_back({});
  const Result<RegionModel> model = RegionModel::build(problem);
  const std::vector<RegionBound> bounds = bounds_of(*model, 0);
  RegionSweep sweep(*model, bounds);
  Effort effort{.limit = 1'000'000};
  EXPECT_FALSE(sweep.run(std::nullopt, 300, effort));
  EXPECT_TRUE(sweep.best().empty());
}

}  // namespace
}  // namespace lowtide::allocate_internal
