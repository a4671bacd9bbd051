// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "lowtide/base/random.h"
#include "lowtide/verify/bounds/decide_order.h"
#include "lowtide/verify/bounds/order_count.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using verify_internal::Chain;
using verify_internal::decide_order;
using verify_internal::joined_chains;
using verify_internal::OrderCount;
using verify_internal::OrderDecision;
using verify_internal::single_chains;
using Index = OrderCount::Index;

constexpr std::int64_t kEffort = 100'000'000;

void add_edge(OrderCount& count, Index from, Index to) {
  count.nodes[from].after.push_back(to);
  count.nodes[to].before.push_back(from);
}

// Requires: `users` are ascending.
void add_piece(OrderCount& count, std::int64_t size, const std::vector<Index>& users) {
  for (Index user : users) count.nodes[user].pieces.push_back(static_cast<Index>(count.pieces.size()));
  count.pieces.push_back({.size = size, .users = static_cast<Index>(users.size())});
}

// Nodes 0 to nodes - 1, and an edge from i to i + 1 for each i below `edges`.
OrderCount path(Index nodes, Index edges) {
  OrderCount count;
  count.nodes.resize(nodes);
  for (Index node = 0; node < edges; ++node) add_edge(count, node, node + 1);
  return count;
}

std::vector<std::vector<Index>> nodes_of(const std::vector<Chain>& chains) {
  std::vector<std::vector<Index>> nodes;
  for (const Chain& chain : chains) nodes.push_back(chain.nodes);
  return nodes;
}

// 0 and 1 write 8 bytes each, and 2 reads both. So 0 may run right before 2, and 1 right before 0.
TEST(Chains, JoinWritersToTheirOnlyReader) {
  OrderCount count = path(3, 0);
  add_edge(count, 0, 2);
  add_edge(count, 1, 2);
  add_piece(count, 8, {0, 2});
  add_piece(count, 8, {1, 2});
  EXPECT_THAT(nodes_of(joined_chains(count)), ElementsAre(ElementsAre(1, 0, 2)));
}

// The graph is that above, but 0 needs 100 bytes of scratch. If 0 ran right before 2, the 8 bytes of 1 would be live
// together with the scratch. So 0 runs first.
TEST(Chains, KeepAnExpensiveWriterBeforeOthers) {
  OrderCount count = path(3, 0);
  add_edge(count, 0, 2);
  add_edge(count, 1, 2);
  add_piece(count, 8, {0, 2});
  add_piece(count, 8, {1, 2});
  count.nodes[0].scratch = 100;
  EXPECT_THAT(nodes_of(joined_chains(count)), ElementsAre(ElementsAre(0, 1, 2)));
}

// 2 and 3 both read what 0 and 1 write. So no node has only one predecessor or only one successor.
TEST(Chains, LeaveCrossingEdgesAlone) {
  OrderCount count = path(4, 0);
  for (Index writer : {0U, 1U}) {
    add_edge(count, writer, 2);
    add_edge(count, writer, 3);
    add_piece(count, 8, {writer, 2, 3});
  }
  EXPECT_EQ(joined_chains(count).size(), 4U);
}

// Node 1 reads the 8 bytes of node 0 and writes 2 bytes, so it lowers the live bytes. It needs 10 bytes, and node 0
// with its scratch needs 12. Both figures omit the byte for node 2.
TEST(Chains, JoinAReaderThatFreesBytes) {
  OrderCount count = path(3, 1);
  add_piece(count, 8, {0, 1});
  add_piece(count, 2, {1});
  count.pieces[1].is_kept = true;
  count.nodes[0].scratch = 4;
  add_piece(count, 1, {0, 2});
  add_edge(count, 0, 2);
  EXPECT_THAT(nodes_of(joined_chains(count)), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Chains, HaveCutsAroundSeparators) {
  OrderCount count = path(5, 0);
  for (Index branch : {1U, 2U}) {
    add_edge(count, 0, branch);
    add_edge(count, branch, 3);
  }
  add_edge(count, 3, 4);
  EXPECT_THAT(cuts_of(single_chains(count)), ElementsAre(0, 1, 3, 4, 5));
}

TEST(Chains, HaveNoInnerCutWithoutASeparator) { EXPECT_THAT(cuts_of(single_chains(path(4, 0))), ElementsAre(0, 4)); }

// A small random count: pieces with random users, scratch, and operands that may be overwritten.
OrderCount random_count(Random& random, Index nodes) {
  OrderCount count;
  count.nodes.resize(nodes);
  for (Index node = 1; node < nodes; ++node) {
    for (Index before = 0; before < node; ++before) {
      if (random.between(0, 9) < 3) add_edge(count, before, node);
    }
  }
  for (Index node = 0; node < nodes; ++node) {
    if (random.between(0, 3) == 0) count.nodes[node].scratch = random.between(1, 20);
    std::vector<Index> users = {node};
    for (Index after : count.nodes[node].after) {
      if (random.between(0, 2) > 0) users.push_back(after);
    }
    const auto piece = static_cast<Index>(count.pieces.size());
    add_piece(count, random.between(1, 20), users);
    count.pieces[piece].is_kept = random.between(0, 7) == 0;
    count.pieces[piece].is_first = random.between(0, 11) == 0;
    // The result of the first reader may overwrite a piece that dies there.
    if (users.size() < 2 || random.between(0, 1) == 0) continue;
    count.nodes[users[1]].overwritten.push_back({piece});
  }
  for (OrderCount::Node& node : count.nodes) {
    if (!node.overwritten.empty()) node.written = count.pieces[node.pieces.back()].size;
  }
  return count;
}

// The lowest peak over all orders, each of which is tried. The peak of an order is counted by its definition, from the
// first and last user of each piece.
std::int64_t least_load(const OrderCount& count) {
  std::vector<NodeId> order;
  std::vector<char> has_run(count.nodes.size(), 0);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const auto extend = [&](const auto& self) -> void {
    if (order.size() == count.nodes.size()) least = std::min(least, counted_load(count, order).count());
    for (Index node = 0; node < count.nodes.size(); ++node) {
      const std::vector<Index>& before = count.nodes[node].before;
      const bool is_ready = std::all_of(before.begin(), before.end(), [&](Index one) { return has_run[one] != 0; });
      if (has_run[node] != 0 || !is_ready) continue;
      has_run[node] = 1;
      order.emplace_back(node);
      self(self);
      order.pop_back();
      has_run[node] = 0;
    }
  };
  extend(extend);
  return least;
}

// Whether each written piece begins at the node that writes it, as in every count of a graph.
bool writes_its_own(const OrderCount& count) {
  for (Index node = 0; node < count.nodes.size(); ++node) {
    if (!count.nodes[node].overwritten.empty() && count.pieces[node].is_first) return false;
  }
  return true;
}

TEST(Chains, KeepTheLeastLoadOfRandomCounts) {
  Random random(7);
  std::size_t joined = 0;
  int rounds = 0;
  while (rounds < 2000) {
    const OrderCount count = random_count(random, static_cast<Index>(random.between(1, 7)));
    if (!writes_its_own(count)) continue;
    ++rounds;
    joined += count.nodes.size() - joined_chains(count).size();
    const std::int64_t least = least_load(count);
    const OrderDecision above = decide_order(count, least, kEffort);
    ASSERT_EQ(above.verdict, OrderBoundVerdict::refuted) << "round " << rounds;
    ASSERT_LE(counted_load(count, above.order).count(), least) << "round " << rounds;
    if (least == count.at_end) continue;
    ASSERT_EQ(decide_order(count, least - 1, kEffort).verdict, OrderBoundVerdict::confirmed) << "round " << rounds;
  }
  EXPECT_GT(joined, 2000U);
}

TEST(Chains, MayHaveOneNodeEach) {
  const OrderCount count = path(3, 2);
  EXPECT_THAT(nodes_of(single_chains(count)), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(single_chains(count)[0].before, IsEmpty());
  EXPECT_THAT(single_chains(count)[2].before, ElementsAre(1));
}

}  // namespace
}  // namespace lowtide
