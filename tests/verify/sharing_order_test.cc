// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/sharing/sharing_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using verify_internal::not_ordered;
using verify_internal::OrderQuestion;

// Node n, at position n + 1, reads the results of `reads[n]`.
Graph graph_with(const std::vector<std::vector<std::uint32_t>>& reads) {
  std::string text = "graph \"g\" {\n  input x : u8[8]\n";
  for (std::size_t at = 0; at < reads.size(); ++at) {
    text += "  t" + std::to_string(at) + " = F(x";
    for (std::uint32_t from : reads[at]) text += ", t" + std::to_string(from);
    text += ") : u8[8]\n";
  }
  return graph_of(text + "  output t" + std::to_string(reads.size() - 1) + "\n}");
}

// reached[b][a]: node a runs before node b in every run.
std::vector<std::vector<bool>> all_paths(const std::vector<std::vector<std::uint32_t>>& reads) {
  std::vector<std::vector<bool>> reached(reads.size(), std::vector<bool>(reads.size(), false));
  for (std::size_t at = 0; at < reads.size(); ++at) {
    for (std::uint32_t from : reads[at]) {
      reached[at][from] = true;
      for (std::size_t before = 0; before < at; ++before) {
        if (reached[from][before]) reached[at][before] = true;
      }
    }
  }
  return reached;
}

std::vector<std::vector<std::uint32_t>> random_reads(Random& random, std::size_t nodes) {
  std::vector<std::vector<std::uint32_t>> reads(nodes);
  for (std::size_t at = 1; at < nodes; ++at) {
    for (std::int64_t edge = random.between(0, 2); edge > 0; --edge) {
      const std::size_t reach = std::min<std::size_t>(at, random.chance(80) ? 4 : at);
      reads[at].push_back(static_cast<std::uint32_t>(at - 1 - random.below(reach)));
    }
  }
  return reads;
}

// More than 64 uses. A write may be far from its use, at the same node, or before it.
TEST(SharingOrder, FindsWhatFollowingEveryPathFinds) {
  Random random(31);
  std::size_t refuted = 0;
  std::size_t asked = 0;
  for (int round = 0; round < 60; ++round) {
    const std::vector<std::vector<std::uint32_t>> reads = random_reads(random, 120);
    const Graph graph = graph_with(reads);
    const std::vector<std::vector<bool>> reached = all_paths(reads);
    std::vector<OrderQuestion> questions;
    for (int question = 0; question < 400; ++question) {
      const auto use = static_cast<std::uint32_t>(random.between(1, 120));
      const std::int64_t near = std::min<std::int64_t>(120, use + 6);
      const auto write = static_cast<std::uint32_t>(random.chance(50) ? random.between(1, 120) : near);
      questions.push_back({use, write, TensorId(0), TensorId(static_cast<std::uint32_t>(question % 100))});
    }
    std::stable_sort(questions.begin(), questions.end(),
                     [](const OrderQuestion& a, const OrderQuestion& b) { return a.use < b.use; });
    std::vector<std::pair<std::uint32_t, TensorId>> expected;
    for (const OrderQuestion& one : questions) {
      if (!reached[one.write - 1][one.use - 1]) expected.emplace_back(one.write, one.later);
    }
    std::vector<std::pair<std::uint32_t, TensorId>> found;
    for (const OrderQuestion& one : not_ordered(graph, given_order(graph), {}, questions)) {
      found.emplace_back(one.write, one.later);
    }
    EXPECT_EQ(found, expected) << round;
    refuted += found.size();
    asked += questions.size();
  }
  EXPECT_GT(refuted, asked / 10);
  EXPECT_LT(refuted, asked * 9 / 10);
}

// A chain of n nodes. Every node has a short question, and every tenth node has one about the middle or the end of the
// chain. Answering all of them together, 64 uses at a time, would visit n / 64 x n / 2 edges: 20,000 / 64 x 10,000 =
// 3 million. By classes, the short questions visit little more than n edges, and the 2,000 long ones visit
// 2,000 / 64 x 20,000 = 0.6 million.
TEST(SharingOrder, ShortQuestionsDoNotPayForLongOnes) {
  constexpr std::uint32_t kNodes = 20'000;
  std::vector<std::vector<std::uint32_t>> reads(kNodes);
  for (std::uint32_t at = 1; at < kNodes; ++at) reads[at] = {at - 1};
  const Graph graph = graph_with(reads);
  std::vector<OrderQuestion> questions;
  for (std::uint32_t use = 1; use < kNodes; ++use) questions.push_back({use, use + 1, TensorId(0), TensorId(0)});
  std::int64_t short_work = 0;
  EXPECT_TRUE(not_ordered(graph, given_order(graph), {}, questions, &short_work).empty());
  EXPECT_LE(short_work, 2 * (2 * kNodes));  // each position and its edge, and again where a batch ends
  for (std::uint32_t use = 1; use < kNodes; use += 10) {
    questions.push_back({use, use < kNodes / 2 ? kNodes / 2 : kNodes, TensorId(0), TensorId(0)});
  }
  std::int64_t work = 0;
  EXPECT_TRUE(not_ordered(graph, given_order(graph), {}, questions, &work).empty());
  EXPECT_LE(work, short_work + 2'000'000);
}

}  // namespace
}  // namespace lowtide::testing
