// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/text.h"
#include "lowtide/schedule/orders/heuristics.h"
#include "tests/schedule/longest_path_port.h"
#include "tests/testing/graphs.h"

namespace lowtide::schedule_internal {
namespace {

using testing::graph_of;
using testing::ported_longest_path;
using testing::PortedReaders;

// Node j reads a result of node i < j.
PortedReaders readers_in(const Graph& graph) {
  PortedReaders readers(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    for (TensorId tensor : graph.reads(id)) {
      const std::optional<NodeId> producer = graph.tensor(tensor).producer;
      if (!producer) continue;
      std::vector<int>& row = readers[producer->index()];
      const int reader = static_cast<int>(id.value());
      if (row.empty() || row.back() != reader) row.push_back(reader);
    }
  }
  return readers;
}

std::string random_graph_text(Random& random) {
  const int nodes = static_cast<int>(random.between(1, 16));
  const unsigned sources = random.chance(50) ? 15 : 40;
  std::string text = "graph \"g\" {\n  input x : f32[1]\n";
  for (int at = 0; at < nodes; ++at) {
    std::string reads;
    const auto add = [&] {
      reads += (reads.empty() ? "n" : ", n") + std::to_string(random.below(static_cast<std::uint64_t>(at)));
    };
    if (at > 0 && !random.chance(sources)) {
      add();
      if (random.chance(50)) add();
      if (random.chance(20)) add();
    }
    text += "  n" + std::to_string(at) + " = Conv(" + (reads.empty() ? "x" : reads) + ") : f32[1]\n";
  }
  return text + "  output n" + std::to_string(nodes - 1) + "\n}\n";
}

TEST(LongestPath, IsThatOfThePort) {
  Random random(71);
  int same = 0;
  int others = 0;
  int failed = 0;
  for (int round = 0; round < 3000; ++round) {
    const Graph graph = graph_of(random_graph_text(random));
    const std::vector<NodeId> order = longest_path(graph);
    EXPECT_TRUE(testing::is_topological(graph, order)) << print_graph(graph);
    const std::optional<std::vector<int>> expected = ported_longest_path(readers_in(graph));
    if (!expected) {
      ++failed;
      continue;
    }
    std::vector<int> found;
    for (NodeId id : order) found.push_back(static_cast<int>(id.value()));
    EXPECT_EQ(found, *expected) << print_graph(graph);
    if (HasFailure()) return;
    ++same;
    if (order != deepest_input_first(graph)) ++others;
  }
  EXPECT_GT(same, 2500);
  EXPECT_GT(others, 500);
  RecordProperty("failed", failed);
}

// 6,001 sources feed one row of 6,001 nodes, so the searches of the original look at 3 x 6,000 x 6,000 / 2 edges,
// which is more than the limit.
TEST(LongestPath, IsFoundForManySources) {
  std::string text = "graph \"g\" {\n  input x : u8[1]\n  r0 = F(x) : u8[1]\n";
  for (int at = 1; at <= 6000; ++at) {
    text += "  s" + std::to_string(at) + " = F(x) : u8[1]\n";
    text += "  r" + std::to_string(at) + " = G(r" + std::to_string(at - 1) + ", s" + std::to_string(at) + ") : u8[1]\n";
  }
  const Graph graph = graph_of(text + "  output r6000\n}\n");
  std::vector<NodeId> order = longest_path(graph);
  ASSERT_TRUE(testing::is_topological(graph, order));
  // Sources with long paths come first: s1 and r0, then r1, s2, r2 and so on. r0 is in front of s1 in the given order.
  std::swap(order[0], order[1]);
  EXPECT_EQ(order, testing::given_order(graph));
}

}  // namespace
}  // namespace lowtide::schedule_internal
