// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/cut_bound.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/schedule/orders/order_state.h"

namespace lowtide::schedule_internal {
namespace {

using Index = OrderProblem::Index;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;

// Above kNearArcs the network is too large for the caches near a core, so each look at an arc takes longer.
constexpr std::int64_t kFarArcLook = 4;
constexpr std::size_t kNearArcs = 1 << 14;
constexpr std::int64_t kMakingOfArc = 8;  // for each arc of the network

// A network of directed arcs with capacities. It is made once, and then has one flow after another, each with sources
// and sinks of its own. reset() restores the capacities that it was made with. Everything counts as work.
class FlowNetwork {
 public:
  struct Arc {
    Index from;
    Index to;
    std::int64_t capacity;
  };

  using Sinks = std::array<Index, 2>;

  FlowNetwork(std::size_t vertices, const std::vector<Arc>& arcs)
      : begin_(vertices + 1, 0),
        ends_(2 * arcs.size()),
        left_(2 * arcs.size()),
        depth_(vertices, kNone),
        next_(vertices),
        capacities_(arcs.size()),
        is_changed_(arcs.size()) {
    for (const Arc& arc : arcs) ++begin_[arc.from + 1], ++begin_[arc.to + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    arcs_of_.resize(begin_.back());
    std::vector<Index> next(begin_.begin(), begin_.end() - 1);
    for (Index arc = 0; arc < arcs.size(); ++arc) {
      arcs_of_[next[arcs[arc].from]++] = forward(arc);
      arcs_of_[next[arcs[arc].to]++] = backward(arc);
      ends_[forward(arc)] = arcs[arc].to;
      ends_[backward(arc)] = arcs[arc].from;
      left_[forward(arc)] = capacities_[arc] = arcs[arc].capacity;
    }
    if (arcs.size() > kNearArcs) look_ = kFarArcLook;
    work_ = kMakingOfArc * static_cast<std::int64_t>(vertices + arcs.size());
  }

  // Changes the capacity of an arc until the next reset().
  void set_capacity(Index arc, std::int64_t capacity) { change(forward(arc), capacity - left_[forward(arc)]); }

  // The maximum flow, which is the capacity of a minimum cut. Ends early when all work that was ever done exceeds
  // `most_work`, with a smaller flow.
  std::int64_t flow(const std::vector<Index>& sources, const Sinks& sinks, std::int64_t most_work) {
    std::int64_t sum = 0;
    while (work_ < most_work && find_depths(sources, sinks)) {
      for (const Index source : sources) {
        while (work_ < most_work) {
          const std::int64_t pushed = push_along_path(source, sinks);
          if (pushed == 0) break;
          sum += pushed;
        }
      }
    }
    return sum;
  }

  // Restores all capacities. O(arcs that changed).
  void reset() {
    work_ += look_ * static_cast<std::int64_t>(changed_.size());
    for (const Index arc : changed_) {
      left_[forward(arc)] = capacities_[arc];
      left_[backward(arc)] = 0;
      is_changed_.reset(arc);
    }
    changed_.clear();
  }

  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();

  // An arc as it was given, and its reverse.
  static Index forward(Index arc) { return 2 * arc; }
  static Index backward(Index arc) { return 2 * arc + 1; }

  // Sets the distance of vertices from the sources. Returns false if no sink can be reached.
  bool find_depths(const std::vector<Index>& sources, const Sinks& sinks) {
    for (const Index vertex : reached_) depth_[vertex] = kNone;
    reached_ = sources;
    for (const Index source : sources) reach(source, 0);
    for (std::size_t at = 0; at < reached_.size() && !is_reached(sinks); ++at) {
      const Index vertex = reached_[at];
      for (Index place = begin_[vertex]; place < begin_[vertex + 1]; ++place) {
        const Index arc = arcs_of_[place];
        if (left_[arc] == 0 || depth_[ends_[arc]] != kNone) continue;
        reach(ends_[arc], depth_[vertex] + 1);
        reached_.push_back(ends_[arc]);
      }
      work_ += look_ * (2 + begin_[vertex + 1] - begin_[vertex]);
    }
    return is_reached(sinks);
  }

  [[nodiscard]] bool is_reached(const Sinks& sinks) const {
    return depth_[sinks[0]] != kNone || depth_[sinks[1]] != kNone;
  }

  void reach(Index vertex, Index depth) {
    depth_[vertex] = depth;
    next_[vertex] = begin_[vertex];
  }

  // Sends flow along one shortest path. Returns 0 if there is none.
  std::int64_t push_along_path(Index source, const Sinks& sinks) {
    path_.clear();
    for (Index at = source; at != sinks[0] && at != sinks[1];) {
      work_ += look_;
      if (next_[at] == begin_[at + 1]) {
        if (path_.empty()) return 0;
        at = ends_[path_.back() ^ 1U];
        path_.pop_back();
        ++next_[at];
        continue;
      }
      const Index arc = arcs_of_[next_[at]];
      if (left_[arc] > 0 && depth_[ends_[arc]] == depth_[at] + 1) {
        path_.push_back(arc);
        at = ends_[arc];
      } else {
        ++next_[at];
      }
    }
    std::int64_t pushed = kUnlimited;
    for (const Index arc : path_) pushed = std::min(pushed, left_[arc]);
    for (const Index arc : path_) {
      change(arc, -pushed);
      change(arc ^ 1U, pushed);
    }
    work_ += 2 * look_ * static_cast<std::int64_t>(path_.size());
    return pushed;
  }

  void change(Index directed, std::int64_t by) {
    left_[directed] += by;
    const Index arc = directed / 2;
    if (is_changed_.test(arc)) return;
    is_changed_.set(arc);
    changed_.push_back(arc);
  }

  std::vector<Index> begin_;        // by vertex: where its arcs begin in `arcs_of_`
  std::vector<Index> arcs_of_;      // by forward() and backward()
  std::vector<Index> ends_;         // by arc
  std::vector<std::int64_t> left_;  // by arc: the capacity that is left
  std::vector<Index> depth_;        // by vertex: its distance from the sources; kNone if it was not reached
  std::vector<Index> next_;         // by reached vertex: its first arc that may still lead to a sink
  std::vector<Index> reached_;
  std::vector<Index> path_;
  std::vector<std::int64_t> capacities_;  // by arc as it was given
  std::vector<Index> changed_;            // arcs as they were given, each once
  Flags<Index> is_changed_;
  std::int64_t look_ = 1;
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

// Vertices: each node, for each value the two vertices `begun` and `over`, and two more. Vertex `first_` is a source of
// every flow, and vertex `first_ + 1` is a sink of every flow.
class NodeBounds {
 public:
  explicit NodeBounds(const OrderProblem& problem)
      : problem_(problem),
        first_(static_cast<Index>(problem.nodes.size() + 2 * problem.values.size())),
        network_(first_ + std::size_t{2}, arcs_of(problem)) {}

  // A lower bound of the bytes that are live at this step of the node, in every order. It is lower if all work exceeds
  // `most_work`.
  std::int64_t bound_of(Index node, const OrderProblem::Step& step, std::int64_t most_work) {
    network_.reset();
    std::int64_t touched = problem_.base + step.scratch;
    // The values of this step count in `touched`. Those of other steps of the node may have died, or not begun.
    for (const OrderProblem::Step& other : problem_.nodes[node].steps) {
      for (const Index value : other.values) network_.set_capacity(value, 0);
    }
    for (const Index value : step.values) touched += problem_.values[value].size;
    std::vector<Index> sources = problem_.nodes[node].before;
    sources.push_back(first_);
    return touched + network_.flow(sources, {node, first_ + 1}, most_work) - in_place(step);
  }

  [[nodiscard]] std::int64_t work() const { return network_.work(); }

 private:
  // The arc from `begun` to `over` is cut if the value is live: a node that touches it has run, and another one has
  // not. The arc of value i has number i.
  static std::vector<FlowNetwork::Arc> arcs_of(const OrderProblem& problem) {
    const auto nodes = static_cast<Index>(problem.nodes.size());
    const auto values = static_cast<Index>(problem.values.size());
    const Index first = nodes + 2 * values;
    const auto begun = [&](Index value) { return nodes + 2 * value; };
    const auto over = [&](Index value) { return nodes + 2 * value + 1; };
    std::vector<FlowNetwork::Arc> arcs;
    for (Index value = 0; value < values; ++value) {
      arcs.push_back({begun(value), over(value), problem.values[value].size});
    }
    for (Index node = 0; node < nodes; ++node) {
      for (const Index before : problem.nodes[node].before) arcs.push_back({node, before, kUnlimited});
    }
    const std::vector<std::vector<Index>> nodes_of = nodes_of_values(problem);
    for (Index value = 0; value < values; ++value) {
      if (problem.values[value].size == 0) continue;
      if (problem.values[value].is_there_first) arcs.push_back({first, begun(value), kUnlimited});
      if (problem.values[value].is_kept) arcs.push_back({over(value), first + 1, kUnlimited});
      for (const Index node : nodes_of[value]) {
        arcs.push_back({node, begun(value), kUnlimited});
        arcs.push_back({over(value), node, kUnlimited});
      }
    }
    return arcs;
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
  Index first_;
  FlowNetwork network_;
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
      if (step.counts) bound = std::max(bound, bounds.bound_of(node, step, work));
    }
  }
  return {.bound = bound, .work = bounds.work()};
}

}  // namespace lowtide::schedule_internal
