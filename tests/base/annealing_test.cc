// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/annealing.h"

#include <gmock/gmock.h>

#include <cmath>

namespace lowtide {
namespace {

// A share of exp(-t) of the exponential distribution of mean 1 is above t.
TEST(Exponential, HasItsMeanAndItsTails) {
  constexpr int kCount = 100'000;
  Random random(1);
  double sum = 0;
  int above_1 = 0;
  int above_3 = 0;
  for (int at = 0; at < kCount; ++at) {
    const double number = exponential(random);
    EXPECT_GE(number, 0);
    sum += number;
    above_1 += number > 1 ? 1 : 0;
    above_3 += number > 3 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 1, 0.02);
  EXPECT_NEAR(above_1, kCount * std::exp(-1.0), 700);  // 36,788; the seed is fixed
  EXPECT_NEAR(above_3, kCount * std::exp(-3.0), 400);  // 4,979
}

// From 8 to 1, three halvings: after a third of the work 4, and half of a third later 3.
TEST(Cooled, HalvesInEqualPartsOfTheWork) {
  EXPECT_DOUBLE_EQ(cooled(8, 1, 0), 8);
  EXPECT_NEAR(cooled(8, 1, 1.0 / 3), 4, 1e-12);
  EXPECT_DOUBLE_EQ(cooled(8, 1, 0.5), 3);
  EXPECT_DOUBLE_EQ(cooled(8, 1, 1), 1);
  EXPECT_DOUBLE_EQ(cooled(1, 8, 0.5), 1) << "it never rises";
}

}  // namespace
}  // namespace lowtide
