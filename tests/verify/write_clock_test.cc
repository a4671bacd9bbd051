// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/plan/write_clock.h"

#include <gtest/gtest.h>

#include "lowtide/base/random.h"
#include "lowtide/verify/bytes/live_ranges.h"

namespace lowtide::verify_internal {
namespace {

TEST(WriteClock, KnowsTheLastWriteOfAnyCellInARange) {
  WriteClock clock(4);
  EXPECT_EQ(clock.last_write({0, 4}), 0U);
  clock.write({0, 1}, 5);
  clock.write({2, 4}, 7);
  EXPECT_EQ(clock.last_write({0, 1}), 5U);
  EXPECT_EQ(clock.last_write({0, 2}), 5U);
  EXPECT_EQ(clock.last_write({1, 2}), 0U);
  EXPECT_EQ(clock.last_write({1, 3}), 7U);
  clock.write({0, 4}, 8);
  EXPECT_EQ(clock.last_write({1, 2}), 8U);
  EXPECT_EQ(clock.last_write({2, 2}), 0U);  // no cell at all
}

TEST(WriteClock, AgreesWithAPlainArray) {
  for (std::uint32_t cells = 1; cells < 40; ++cells) {
    Random random(cells);
    WriteClock clock(cells);
    std::vector<std::uint32_t> plain(cells, 0);
    for (std::uint32_t time = 1; time < 100; ++time) {
      const auto begin = static_cast<std::uint32_t>(random.below(cells + 1));
      const auto end = static_cast<std::uint32_t>(random.between(begin, cells));
      if (random.chance(50)) {
        clock.write({begin, end}, time);
        std::fill(plain.begin() + begin, plain.begin() + end, time);
      }
      const std::uint32_t expected = begin == end ? 0 : *std::max_element(plain.begin() + begin, plain.begin() + end);
      ASSERT_EQ(clock.last_write({begin, end}), expected) << "cells " << cells << ", time " << time;
    }
  }
}

TEST(LiveRanges, FindExactlyTheLiveOnesThatOverlap) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<LiveRanges::Range> ranges;
    for (std::uint64_t count = random.below(30) + 1; count > 0; --count) {
      const std::int64_t begin = random.between(-20, 20);
      ranges.push_back({begin, begin + random.between(0, 15)});
    }
    LiveRanges live(ranges);
    std::vector<bool> is_live(ranges.size(), false);
    for (int times = 0; times < 100; ++times) {
      const std::size_t index = random.below(ranges.size());
      is_live[index] = !is_live[index];
      is_live[index] ? live.insert(index) : live.erase(index);
      const std::size_t asked = random.below(ranges.size());
      std::vector<std::size_t> found;
      live.for_each_overlap(asked, [&](std::size_t other) {
        found.push_back(other);
        return true;
      });
      std::sort(found.begin(), found.end());
      std::vector<std::size_t> expected;
      for (std::size_t other = 0; other < ranges.size(); ++other) {
        if (other != asked && is_live[other] && ranges[asked].overlaps(ranges[other])) expected.push_back(other);
      }
      ASSERT_EQ(found, expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace lowtide::verify_internal
