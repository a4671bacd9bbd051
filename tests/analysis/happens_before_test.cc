// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/happens_before.h"

#include <gtest/gtest.h>

#include "lowtide/base/random.h"

namespace lowtide {
namespace {

using Index = PartialOrder::Index;
using Before = std::vector<std::vector<Index>>;

HappensBefore order_of(const PartialOrder& order) {
  Result<HappensBefore> made = HappensBefore::make(order);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

//   chain 0   0 --- 2 --- 4       4 waits for 3, which waits for 0
//   chain 1     1 --- 3 -'
TEST(HappensBefore, FollowsChainsAndWaits) {
  const HappensBefore order = order_of({.chain_of = {0, 1, 0, 1, 0}, .before = {{}, {}, {}, {0}, {3}}, .chains = 2});
  EXPECT_TRUE(order.is_before(0, 2));
  EXPECT_TRUE(order.is_before(0, 3));
  EXPECT_TRUE(order.is_before(1, 4));  // through 3
  EXPECT_FALSE(order.is_before(1, 2));
  EXPECT_FALSE(order.is_before(2, 1));
  EXPECT_FALSE(order.is_before(2, 3));
  EXPECT_FALSE(order.is_before(4, 0));
  EXPECT_FALSE(order.is_before(3, 3));
}

// A diamond has two branches, so it has two chains. The node that joins them continues one of the chains.
TEST(Chains, FollowEdges) {
  const PartialOrder order = chains_of({{}, {0}, {0}, {1, 2}});
  EXPECT_EQ(order.chains, 2U);
  EXPECT_EQ(order.chain_of, (std::vector<Index>{0, 0, 1, 0}));
}

// Two rows join at 5, which waits for 4 and 3 and continues the chain of 4.
//   0 --- 2 --- 4 --- 5 --- 6 --- 7
//   1 --- 3 ---------'
TEST(Chains, ContinueAfterTheNodeThatEndsThem) {
  const PartialOrder order = chains_of({{}, {}, {0}, {1}, {2}, {4, 3}, {5}, {6}});
  EXPECT_EQ(order.chains, 2U);
  EXPECT_EQ(order.chain_of, (std::vector<Index>{0, 1, 0, 1, 0, 0, 0, 0}));
}

std::vector<std::vector<bool>> closure(const Before& before, const std::vector<Index>* chain_of) {
  const std::size_t n = before.size();
  std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n, false));
  for (std::size_t at = 0; at < n; ++at) {
    for (Index one : before[at]) reaches[one][at] = true;
    for (std::size_t other = 0; other < at; ++other) {
      if (chain_of != nullptr && (*chain_of)[other] == (*chain_of)[at]) reaches[other][at] = true;
    }
  }
  for (std::size_t via = 0; via < n; ++via) {
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (reaches[a][via] && reaches[via][b]) reaches[a][b] = true;
      }
    }
  }
  return reaches;
}

Before random_edges(Random& random, std::size_t count, int density) {
  Before before(count);
  for (std::size_t at = 0; at < count; ++at) {
    for (Index other = 0; other < at; ++other) {
      if (random.chance(density)) before[at].push_back(other);
    }
  }
  return before;
}

TEST(HappensBefore, EqualsTheTransitiveClosure) {
  Random random(5);
  for (int run = 0; run < 400; ++run) {
    const std::size_t count = 1 + random.below(14);
    PartialOrder order{.before = random_edges(random, count, static_cast<int>(random.between(5, 40))), .chains = 3};
    for (std::size_t at = 0; at < count; ++at) order.chain_of.push_back(static_cast<Index>(random.below(3)));
    const PartialOrder of_edges = chains_of(order.before);
    for (const PartialOrder* one : {&static_cast<const PartialOrder&>(order), &of_edges}) {
      const HappensBefore made = order_of(*one);
      const auto wanted = closure(order.before, one == &of_edges ? nullptr : &order.chain_of);
      for (Index a = 0; a < count; ++a) {
        for (Index b = 0; b < count; ++b) ASSERT_EQ(made.is_before(a, b), wanted[a][b]) << run << ": " << a << " " << b;
      }
    }
  }
}

// Each event waits for the one before it, so its clock has all chains: 10^5 x 10^4 x 4 bytes = 4 GB. Without waits, the
// clocks have one chain each.
TEST(HappensBefore, RefusesClocksAboveTheLimit) {
  constexpr Index kEvents = 100'000;
  PartialOrder order{.before = Before(kEvents), .chains = 10'000};
  for (Index at = 0; at < kEvents; ++at) order.chain_of.push_back(at % order.chains);
  EXPECT_TRUE(order_of(order).is_before(5, 10'005));
  EXPECT_FALSE(order_of(order).is_before(5, 10'006));
  for (Index at = 1; at < kEvents; ++at) order.before[at].push_back(at - 1);
  const Result<HappensBefore> made = HappensBefore::make(order);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::over_limit);
}

// Two buffers are in conflict unless all uses of one of them happen before all uses of the other.
TEST(BufferConflicts, MatchAComparisonOfAllPairsOfUses) {
  Random random(6);
  int free_pairs = 0;
  for (int run = 0; run < 400; ++run) {
    const std::size_t count = 2 + random.below(10);
    const PartialOrder edges = chains_of(random_edges(random, count, 30));
    const HappensBefore order = order_of(edges);
    std::vector<BufferUsers> buffers(1 + random.below(6));
    for (BufferUsers& buffer : buffers) {
      buffer.users.push_back(static_cast<Index>(random.below(count)));
      for (Index other = 0; other < count; ++other) {
        if (order.is_before(buffer.users[0], other) && random.chance(40)) buffer.users.push_back(other);
      }
      buffer.firsts = {buffer.users[0]};
      buffer.is_kept = random.chance(10);
    }
    const auto is_over = [&](const BufferUsers& a, const BufferUsers& b) {
      bool over = !a.is_kept;
      for (Index one : a.users) {
        for (Index other : b.users) over = over && order.is_before(one, other);
      }
      return over;
    };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted;
    for (std::uint32_t a = 0; a < buffers.size(); ++a) {
      for (std::uint32_t b = a + 1; b < buffers.size(); ++b) {
        if (is_over(buffers[a], buffers[b]) || is_over(buffers[b], buffers[a])) {
          ++free_pairs;
        } else {
          wanted.emplace_back(a, b);
        }
      }
    }
    ASSERT_EQ(buffer_conflicts(order, buffers), wanted) << run;
  }
  EXPECT_GT(free_pairs, 100);
}

}  // namespace
}  // namespace lowtide
