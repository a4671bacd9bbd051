// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/linear/dual_simplex.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lowtide/base/random.h"

namespace lowtide::budget_internal {
namespace {

constexpr std::int64_t kEnough = std::int64_t{1} << 40;

TEST(DualSimplex, TakesTheCheapestPartOfAKnapsack) {
  // At least 5 of 4 a + 3 b, at costs 4 and 6: all of a, and a third of b.
  DualSimplex simplex({4, 6});
  simplex.add_row({{0, 4.0}, {1, 3.0}}, 5);
  std::int64_t work = kEnough;
  ASSERT_EQ(simplex.solve(work), DualSimplex::Outcome::solved);
  EXPECT_NEAR(simplex.value(0), 1, 1e-9);
  EXPECT_NEAR(simplex.value(1), 1.0 / 3, 1e-9);
  EXPECT_NEAR(simplex.objective(), 6, 1e-9);
  EXPECT_NEAR(simplex.multipliers()[0], 2, 1e-9);  // one more of the sum costs a third of b
}

TEST(DualSimplex, ContinuesAfterARowIsAdded) {
  DualSimplex simplex({4, 6});
  simplex.add_row({{0, 4.0}, {1, 3.0}}, 5);
  std::int64_t work = kEnough;
  ASSERT_EQ(simplex.solve(work), DualSimplex::Outcome::solved);
  simplex.add_row({{0, -1.0}}, 0);  // a is 0, so 5 of 3 b is too much
  EXPECT_EQ(simplex.solve(work), DualSimplex::Outcome::impossible);
}

TEST(DualSimplex, StopsWhenTheWorkIsSpent) {
  DualSimplex simplex({1, 1});
  simplex.add_row({{0, 1.0}, {1, 1.0}}, 1);
  std::int64_t work = 0;
  EXPECT_EQ(simplex.solve(work), DualSimplex::Outcome::spent);
}

// The multipliers prove the objective: weak duality holds with equality.
TEST(DualSimplex, MultipliersProveRandomObjectives) {
  Random random(7);
  int solved = 0;
  int impossible = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto count = static_cast<std::size_t>(random.between(1, 8));
    std::vector<double> costs;
    for (std::size_t at = 0; at < count; ++at) costs.push_back(static_cast<double>(random.between(0, 9)));
    DualSimplex simplex(costs);
    std::vector<DualSimplex::Terms> rows;
    std::vector<double> least;
    std::int64_t work = kEnough;
    bool is_possible = true;
    for (int row = 0; row < 6 && is_possible; ++row) {
      DualSimplex::Terms terms;
      for (std::size_t at = 0; at < count; ++at) {
        if (random.chance(60)) terms.emplace_back(at, static_cast<double>(random.between(-4, 5)));
      }
      rows.push_back(terms);
      least.push_back(static_cast<double>(random.between(-3, 5)));
      simplex.add_row(terms, least.back());
      is_possible = simplex.solve(work) == DualSimplex::Outcome::solved;
    }
    double bound = 0;
    std::vector<double> reduced = costs;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double multiplier = simplex.multipliers()[row];
      ASSERT_GE(multiplier, 0);
      bound += multiplier * least[row];
      for (const auto& [at, factor] : rows[row]) reduced[at] -= multiplier * factor;
    }
    double all = 0;
    for (std::size_t at = 0; at < count; ++at) {
      bound += std::min(reduced[at], 0.0);
      all += costs[at];
    }
    (is_possible ? solved : impossible)++;
    if (is_possible) {
      EXPECT_NEAR(bound, simplex.objective(), 1e-6) << "trial " << trial;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        double sum = 0;
        for (const auto& [at, factor] : rows[row]) sum += factor * simplex.value(at);
        EXPECT_GE(sum, least[row] - 1e-6);
      }
    } else if (all > 0) {
      EXPECT_GT(bound, all - 1e-6) << "trial " << trial;  // no values of the variables cost as much
    }
  }
  EXPECT_GT(solved, 50);
  EXPECT_GT(impossible, 50);
}

TEST(BlockedRows, AgreesWithADenseMatrix) {
  Random random(7);
  constexpr std::size_t kColumns = 2 * BlockedRows::kWidth + 3;  // the last block is not full
  BlockedRows rows(kColumns);
  std::vector<std::vector<double>> dense;
  for (int change = 0; change < 400; ++change) {
    if (dense.empty() || random.chance(10)) {
      rows.add_row();
      dense.emplace_back(kColumns, 0);
      continue;
    }
    const std::size_t row = random.below(dense.size());
    const std::size_t other = random.below(dense.size());
    const std::size_t column = random.below(kColumns);
    const auto number = static_cast<double>(random.below(9)) - 4;
    if (random.chance(50)) {
      rows.add(row, column, number);
      dense[row][column] += number;
    } else if (row != other && random.chance(20)) {
      rows.add_multiple(row, other, 0.5);
      for (std::size_t at = 0; at < kColumns; ++at) dense[row][at] += 0.5 * dense[other][at];
    } else {
      rows.set(row, column, number);
      dense[row][column] = number;
    }
  }
  for (std::size_t row = 0; row < dense.size(); ++row) {
    std::vector<double> found(kColumns, 0);
    rows.for_each(row, [&](std::size_t column, double number) {
      if (column < kColumns) found[column] = number;
    });
    EXPECT_EQ(found, dense[row]);
    for (std::size_t column = 0; column < kColumns; ++column) EXPECT_EQ(rows.at(row, column), dense[row][column]);
  }
}

}  // namespace
}  // namespace lowtide::budget_internal
