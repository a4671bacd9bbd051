// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/interval.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

// Whether both contain some integer.
bool share_a_point(Interval<int> a, Interval<int> b) {
  for (int at = -1; at <= 5; ++at) {
    if (a.contains(at) && b.contains(at)) return true;
  }
  return false;
}

TEST(Interval, DoesNotContainItsEnd) {
  const Interval<int> interval{2, 4};
  EXPECT_FALSE(interval.contains(1));
  EXPECT_TRUE(interval.contains(2));
  EXPECT_TRUE(interval.contains(3));
  EXPECT_FALSE(interval.contains(4));
  EXPECT_TRUE((Interval<int>{3, 3}.empty()));
  EXPECT_FALSE(interval.empty());
}

TEST(Interval, OverlapsIfAPointIsShared) {
  for (int a = 0; a <= 4; ++a) {
    for (int b = a; b <= 4; ++b) {
      for (int c = 0; c <= 4; ++c) {
        for (int d = c; d <= 4; ++d) {
          const Interval<int> one{a, b};
          const Interval<int> other{c, d};
          EXPECT_EQ(one.overlaps(other), share_a_point(one, other)) << a << b << c << d;
          EXPECT_EQ(one.contains(other), a <= c && d <= b) << a << b << c << d;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lowtide
