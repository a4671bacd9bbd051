// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/range_max.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/base/random.h"

namespace lowtide {
namespace {

TEST(RangeMax, AgreesWithAPlainVector) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> row(random.below(40) + 1);
    for (std::int64_t& number : row) number = random.between(-50, 50);
    RangeMax tree(row);
    for (int change = 0; change < 60; ++change) {
      const std::size_t begin = random.below(row.size());
      const std::size_t end = begin + 1 + random.below(row.size() - begin);
      const std::int64_t most = *std::max_element(row.begin() + begin, row.begin() + end);
      ASSERT_EQ(tree.most(begin, end), most);
      const std::size_t at_most = tree.position_with(begin, end, most);
      ASSERT_TRUE(begin <= at_most && at_most < end);
      ASSERT_EQ(row[at_most], most);
      const std::int64_t number = random.between(-20, 20);
      tree.add(begin, end, number);
      for (std::size_t at = begin; at < end; ++at) row[at] += number;
    }
  }
}

TEST(RangeMax, AddingToAnEmptyRangeChangesNothing) {
  RangeMax tree({3, 1});
  tree.add(1, 1, 100);
  EXPECT_EQ(tree.most(0, 2), 3);
}

// The largest numbers of the row, at both ends, are outside the range.
TEST(RangeMax, FindsTheMaximumOfARangeAfterAdditions) {
  RangeMax tree({9, 1, 4, 5, 9});
  tree.add(0, 3, 2);  // 11, 3, 6, 5, 9
  EXPECT_EQ(tree.most(1, 4), 6);
  EXPECT_EQ(tree.position_with(1, 4, 6), 2U);
}

}  // namespace
}  // namespace lowtide
