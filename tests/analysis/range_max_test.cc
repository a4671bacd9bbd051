// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/range_max.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/base/random.h"

namespace lowtide {
namespace {

TEST(RangeMax, AgreesWithAPlainRow) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> row(random.below(40) + 1);
    for (std::int64_t& number : row) number = random.between(-50, 50);
    RangeMax tree(row);
    for (int change = 0; change < 60; ++change) {
      const std::size_t begin = random.below(row.size());
      const std::size_t end = begin + 1 + random.below(row.size() - begin);
      ASSERT_EQ(tree.most(begin, end), *std::max_element(row.begin() + begin, row.begin() + end));
      const std::int64_t number = random.between(-20, 20);
      tree.add(begin, end, number);
      for (std::size_t at = begin; at < end; ++at) row[at] += number;
    }
  }
}

TEST(RangeMax, AddingOverNothingChangesNothing) {
  RangeMax tree({3, 1});
  tree.add(1, 1, 100);
  EXPECT_EQ(tree.most(0, 2), 3);
}

}  // namespace
}  // namespace lowtide
