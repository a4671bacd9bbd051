// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/text.h"
#include "lowtide/schedule/orders/heuristics.h"
#include "tests/testing/graphs.h"

namespace lowtide::schedule_internal {
namespace {

using testing::graph_of;

// A port of the original's order, which shares no code with it: maps, recursion, and dictionaries that keep the order
// of insertion.
class Port {
 public:
  explicit Port(const Graph& graph) : count_(static_cast<int>(graph.nodes().size())) {
    for (int at = 0; at < count_; ++at) next_[at] = {};
    for (int from = 0; from < count_; ++from) {
      for (int to = from + 1; to < count_; ++to) {
        if (reads(graph, from, to)) next_[from].push_back(to);
      }
    }
    add_target();
  }

  // nullopt if the original's assertion fails.
  std::optional<std::vector<int>> order() {
    for (int source : sources_) add_path(source);
    std::vector<int> leaves;
    collect_leaves(target_, leaves);
    std::vector<int> sorted = leaves;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != sources_) return std::nullopt;
    std::vector<int> post;
    for (int leaf : leaves) finish(leaf, post);
    std::reverse(post.begin(), post.end());
    return post;
  }

 private:
  static bool reads(const Graph& graph, int from, int to) {
    for (TensorId tensor : graph.reads(NodeId(static_cast<std::uint32_t>(to)))) {
      const std::optional<NodeId> producer = graph.tensor(tensor).producer;
      if (producer && static_cast<int>(producer->value()) == from) return true;
    }
    return false;
  }

  void add_target() {
    std::vector<int> ends;
    std::set<int> has_parent;
    for (const auto& [from, row] : next_) {
      if (row.empty()) ends.push_back(from);
      has_parent.insert(row.begin(), row.end());
    }
    for (int at = 0; at < count_; ++at) {
      if (!has_parent.contains(at)) sources_.push_back(at);
    }
    target_ = ends.front();
    if (ends.size() == 1) return;
    target_ = count_;
    for (int end : ends) next_[end].push_back(target_);
    next_[target_] = {};
  }

  void add_path(int source) {
    std::map<int, int> distance = {{source, 0}};
    std::map<int, std::optional<int>> parent = {{source, std::nullopt}};
    std::deque<int> queue = {source};
    std::set<int> queued = {source};
    while (!queue.empty()) {
      const int at = queue.front();
      queue.pop_front();
      queued.erase(at);
      if (parent[at] && queued.contains(*parent[at])) continue;
      for (int to : next_[at]) {
        if (distance.contains(to) && distance[at] - 1 >= distance[to]) continue;
        if (queued.insert(to).second) queue.push_back(to);
        distance[to] = distance[at] - 1;
        parent[to] = at;
      }
    }
    std::vector<int> path = {target_};
    while (parent[path.back()]) path.push_back(*parent[path.back()]);
    for (std::size_t at = path.size() - 1; at > 0; --at) {
      std::vector<int>& row = children_[path[at - 1]];
      if (std::count(row.begin(), row.end(), path[at]) == 0) row.push_back(path[at]);
    }
  }

  int height(int at) {
    int most = -1;
    for (int child : children_[at]) most = std::max(most, height(child));
    return most + 1;
  }

  void collect_leaves(int at, std::vector<int>& leaves) {
    std::vector<int> row = children_[at];
    if (row.empty()) leaves.push_back(at);
    std::stable_sort(row.begin(), row.end(), [&](int a, int b) { return height(a) < height(b); });
    for (int child : row) collect_leaves(child, leaves);
  }

  // The last reader comes first.
  void finish(int at, std::vector<int>& post) {
    if (at == count_ || !done_.insert(at).second) return;
    for (auto to = next_[at].rbegin(); to != next_[at].rend(); ++to) finish(*to, post);
    post.push_back(at);
  }

  int count_;
  int target_ = 0;
  std::map<int, std::vector<int>> next_;
  std::vector<int> sources_;
  std::map<int, std::vector<int>> children_;
  std::set<int> done_;
};

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
    const std::optional<std::vector<int>> expected = Port(graph).order();
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
