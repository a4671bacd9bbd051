// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/cut_bound.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "lowtide/schedule/orders/order_state.h"

namespace lowtide::schedule_internal {
namespace {

using Index = OrderProblem::Index;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;

// A network of directed edges with capacities. Vertex 0 is the source, and vertex 1 is the sink.
class FlowNetwork {
 public:
  static constexpr Index kSource = 0;
  static constexpr Index kSink = 1;

  explicit FlowNetwork(std::size_t vertices) : edges_of_(vertices), depth_(vertices), next_(vertices) {}

  void add(Index from, Index to, std::int64_t capacity) {
    edges_of_[from].push_back(static_cast<Index>(edges_.size()));
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(static_cast<Index>(edges_.size()));
    edges_.push_back({from, 0});
  }

  // The maximum flow, which is the capacity of a minimum cut. Ends early when the work is spent, with a smaller flow.
  std::int64_t flow(std::int64_t most_work) {
    std::int64_t sum = 0;
    while (work_ < most_work && find_depths()) {
      std::fill(next_.begin(), next_.end(), 0U);
      while (const std::int64_t pushed = push_along_path()) sum += pushed;
    }
    return sum;
  }

  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  struct Edge {
    Index to;
    std::int64_t left;
  };

  // Sets the distance of each vertex from the source. Returns false if the sink cannot be reached.
  bool find_depths() {
    std::fill(depth_.begin(), depth_.end(), kNone);
    depth_[kSource] = 0;
    std::vector<Index> queue = {kSource};
    for (std::size_t at = 0; at < queue.size() && depth_[kSink] == kNone; ++at) {
      for (const Index edge : edges_of_[queue[at]]) {
        ++work_;
        const Index to = edges_[edge].to;
        if (edges_[edge].left == 0 || depth_[to] != kNone) continue;
        depth_[to] = depth_[queue[at]] + 1;
        queue.push_back(to);
      }
    }
    return depth_[kSink] != kNone;
  }

  // Sends flow along one shortest path. Returns 0 if there is none.
  std::int64_t push_along_path() {
    path_.clear();
    for (Index at = kSource; at != kSink;) {
      if (next_[at] == edges_of_[at].size()) {
        if (path_.empty()) return 0;
        at = edges_[path_.back() ^ 1U].to;
        path_.pop_back();
        ++next_[at];
        continue;
      }
      ++work_;
      const Index edge = edges_of_[at][next_[at]];
      if (edges_[edge].left > 0 && depth_[edges_[edge].to] == depth_[at] + 1) {
        path_.push_back(edge);
        at = edges_[edge].to;
      } else {
        ++next_[at];
      }
    }
    std::int64_t pushed = kUnlimited;
    for (const Index edge : path_) pushed = std::min(pushed, edges_[edge].left);
    for (const Index edge : path_) {
      edges_[edge].left -= pushed;
      edges_[edge ^ 1U].left += pushed;
    }
    return pushed;
  }

  std::vector<std::vector<Index>> edges_of_;
  std::vector<Edge> edges_;  // the reverse of edge e is e ^ 1
  std::vector<Index> depth_;
  std::vector<Index> next_;  // the first edge of each vertex that may still lead to the sink
  std::vector<Index> path_;
  std::int64_t work_ = 0;
};

// The nodes that touch each value, each once.
std::vector<std::vector<Index>> nodes_of_values(const OrderProblem& problem) {
  std::vector<std::vector<Index>> nodes(problem.values.size());
  for (Index node = 0; node < problem.nodes.size(); ++node) {
    for (const OrderProblem::Step& step : problem.nodes[node].steps) {
      for (const Index value : step.values) {
        if (nodes[value].empty() || nodes[value].back() != node) nodes[value].push_back(node);
      }
    }
  }
  return nodes;
}

class NodeBounds {
 public:
  explicit NodeBounds(const OrderProblem& problem) : problem_(problem), nodes_of_(nodes_of_values(problem)) {}

  // The bytes that are live at this step of the node in every order, if fewer than `most_work` edges were visited.
  std::int64_t bound_of(Index node, const OrderProblem::Step& step, std::int64_t most_work) {
    std::vector<char> is_counted(problem_.values.size(), 0);
    std::int64_t touched = problem_.base + step.scratch;
    // A value of another step of the node may have died before this one, or not begun. So it counts nothing.
    for (const OrderProblem::Step& other : problem_.nodes[node].steps) {
      for (const Index value : other.values) is_counted[value] = 1;
    }
    for (const Index value : step.values) touched += problem_.values[value].size;
    const std::size_t nodes = problem_.nodes.size();
    FlowNetwork network(2 + nodes + 2 * problem_.values.size());
    const auto vertex_of = [](Index id) { return id + 2; };
    for (Index id = 0; id < nodes; ++id) {
      for (const Index before : problem_.nodes[id].before) network.add(vertex_of(id), vertex_of(before), kUnlimited);
    }
    for (const Index before : problem_.nodes[node].before) {
      network.add(FlowNetwork::kSource, vertex_of(before), kUnlimited);
    }
    network.add(vertex_of(node), FlowNetwork::kSink, kUnlimited);
    for (Index value = 0; value < nodes_of_.size(); ++value) {
      if (is_counted[value] == 0 && problem_.values[value].size > 0) add_value(value, network);
    }
    const std::int64_t cut = network.flow(most_work);
    work_ += network.work() + static_cast<std::int64_t>(nodes + nodes_of_.size());
    return touched + cut - in_place(step);
  }

  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  // The edge from `begun` to `over` is cut if the value is live: a node that touches it has run, and another one has
  // not.
  void add_value(Index value, FlowNetwork& network) const {
    const auto begun = static_cast<Index>(2 + problem_.nodes.size() + std::size_t{2} * value);
    const Index over = begun + 1;
    network.add(begun, over, problem_.values[value].size);
    if (problem_.values[value].is_there_first) network.add(FlowNetwork::kSource, begun, kUnlimited);
    if (problem_.values[value].is_kept) network.add(over, FlowNetwork::kSink, kUnlimited);
    for (const Index node : nodes_of_[value]) {
      network.add(node + 2, begun, kUnlimited);
      network.add(over, node + 2, kUnlimited);
    }
  }

  // The most bytes that a result in place can save at the step.
  [[nodiscard]] std::int64_t in_place(const OrderProblem::Step& step) const {
    const auto sum = [&](const std::vector<Index>& values) {
      return std::accumulate(values.begin(), values.end(), std::int64_t{0},
                             [&](std::int64_t bytes, Index value) { return bytes + problem_.values[value].size; });
    };
    return std::min(sum(step.dying), sum(step.born));
  }

  const OrderProblem& problem_;
  std::vector<std::vector<Index>> nodes_of_;
  std::int64_t work_ = 0;
};

}  // namespace

CutBound cut_bound(const OrderProblem& problem, std::int64_t bound, std::int64_t work) {
  // The nodes with the highest loads come first, because they are the most likely to raise the bound.
  std::vector<std::pair<std::int64_t, Index>> by_load;
  OrderState state(problem);
  for (Index node = 0; node < problem.nodes.size(); ++node) {
    by_load.emplace_back(state.effect_of(node).load, node);
    state.run(node);
  }
  std::sort(by_load.begin(), by_load.end(), std::greater<>());
  NodeBounds bounds(problem);
  for (const auto& [load, node] : by_load) {
    if (load <= bound) break;
    for (const OrderProblem::Step& step : problem.nodes[node].steps) {
      if (bounds.work() >= work) return {.bound = bound, .work = bounds.work()};
      if (step.counts) bound = std::max(bound, bounds.bound_of(node, step, work - bounds.work()));
    }
  }
  return {.bound = bound, .work = bounds.work()};
}

}  // namespace lowtide::schedule_internal
