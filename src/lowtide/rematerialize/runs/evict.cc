// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/evict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <span>
#include <utility>

#include "lowtide/rematerialize/runs/neighborhoods.h"

namespace lowtide::rematerialize_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::uint32_t kNoUse = 0xFFFFFFFF;
constexpr std::size_t kMostNeighbors = 16;  // that count for the worth of an output
constexpr std::size_t kMostPath = 1'000'000;

// By node: the positions in the order of the runs that read its output. An output of the problem is read at the end.
class Uses {
 public:
  Uses(const RunProblem& problem, const Runs& order) : position(problem.count()), next_(problem.count()) {
    for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = static_cast<std::uint32_t>(at);
    for (Index node = 0; node < problem.count(); ++node) {
      next_[node] = uses_.size();
      for (Index reader : problem.readers(node)) uses_.push_back(position[reader]);
      std::sort(uses_.begin() + static_cast<std::ptrdiff_t>(next_[node]), uses_.end());
      if (problem.is_output[node] != 0) uses_.push_back(static_cast<std::uint32_t>(order.size()));
      uses_.push_back(kNoUse);
    }
  }

  // The first use at or after a position, which must not be lower than in earlier calls for the node.
  std::uint32_t from(Index node, std::uint32_t now) {
    while (uses_[next_[node]] < now) ++next_[node];
    return uses_[next_[node]];
  }

  std::vector<std::uint32_t> position;  // by node

 private:
  std::vector<std::uint32_t> uses_;
  std::vector<std::size_t> next_;  // by node
};

class Eviction {
 public:
  Eviction(const RunProblem& problem, const EvictionRule& rule, const FloorSearch& floor, std::int64_t& work)
      : problem_(problem),
        rule_(rule),
        floor_(floor),
        work_(work),
        is_live_(problem.count(), 0),
        is_marked_(problem.count(), 0),
        pins_(problem.count(), 0),
        stamp_(problem.count(), 0),
        dropped_(problem.count()) {}

  std::optional<Runs> along(const Runs& order) {
    Uses uses(problem_, order);
    uses_ = &uses;
    for (now_ = 0; now_ < order.size(); ++now_) {
      if (!run_in_order(order[now_])) return std::nullopt;
    }
    if (!make_outputs()) return std::nullopt;
    return std::move(runs_);
  }

 private:
  // An output that may be dropped. It is out of date if the stamp is no longer that of the node.
  struct Candidate {
    std::uint32_t next_use;
    std::uint32_t stamp;
    Index node;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.next_use != b.next_use ? a.next_use < b.next_use : a.node > b.node;
    }
  };

  bool run_in_order(Index node) {
    if (replay(node)) return true;
    if (work_ < 0) return false;
    return run_path(node) && replay(node);
  }

  bool make_outputs() {
    Runs outputs;
    for (Index node = 0; node < problem_.count(); ++node) {
      if (problem_.is_output[node] != 0) outputs.push_back(node);
    }
    for (Index node : outputs) ++pins_[node];
    bool fits = true;
    for (Index node : outputs) fits = fits && (is_live_[node] != 0 || replay(node));
    for (Index node : outputs) --pins_[node];
    return fits || (work_ >= 0 && run_path(std::nullopt));
  }

  // Runs a node after all ancestors that are missing. Returns false if they do not fit.
  bool replay(Index node) {
    collect_missing(node);
    for (Index added : added_) {
      for (Index input : problem_.inputs(added)) ++pins_[input];
    }
    std::size_t done = 0;
    while (done < added_.size() && run(added_[done])) ++done;
    for (std::size_t at = done; at < added_.size(); ++at) {
      for (Index input : problem_.inputs(added_[at])) unpin(input);
    }
    return done == added_.size();
  }

  // The node and its missing ancestors, in the order.
  void collect_missing(Index node) {
    added_ = {node};
    is_marked_[node] = 1;
    for (std::size_t at = 0; at < added_.size(); ++at) {
      for (Index input : problem_.inputs(added_[at])) {
        if (is_live_[input] != 0 || is_marked_[input] != 0) continue;
        is_marked_[input] = 1;
        added_.push_back(input);
      }
    }
    for (Index added : added_) is_marked_[added] = 0;
    std::sort(added_.begin(), added_.end(), [&](Index a, Index b) { return uses_->position[a] < uses_->position[b]; });
  }

  // Requires: the inputs are live and pinned. Unpins them.
  bool run(Index node) {
    work_ -= static_cast<std::int64_t>(60 + 40 * problem_.inputs(node).size());
    if (work_ < 0 || !make_space(problem_.own_load[node])) return false;
    if (std::exchange(is_live_[node], char{1}) == 0) live_bytes_ += problem_.size[node];
    runs_.push_back(node);
    dropped_.remove(node);
    for (Index input : problem_.inputs(node)) unpin(input);
    release(node);
    return true;
  }

  void unpin(Index node) {
    --pins_[node];
    release(node);
  }

  // Frees the output if nothing reads it any more. Otherwise it may be dropped. A node that runs only once stays live,
  // because a rerun may read it.
  void release(Index node) {
    if (pins_[node] > 0 || is_live_[node] == 0 || problem_.runs_once[node] != 0) return;
    const std::uint32_t next_use = uses_->from(node, now_ + 1);
    if (next_use == kNoUse) {
      free(node);
    } else if (problem_.size[node] > 0) {
      classes_[class_of(node)].push({next_use, ++stamp_[node], node});
    }
  }

  void free(Index node) {
    ++stamp_[node];
    is_live_[node] = 0;
    live_bytes_ -= problem_.size[node];
  }

  bool make_space(std::int64_t bytes) {
    while (live_bytes_ + bytes > problem_.budget) {
      const std::optional<Index> least = least_worth();
      if (!least) return false;
      drop(*least);
    }
    return true;
  }

  void drop(Index node) {
    free(node);
    const Surroundings around = surroundings_of(node);
    dropped_.add(node, around.own_cost);
    for (Index root : around.roots()) dropped_.join(root, node);
  }

  // The output with the least worth per distance. Of each class, only the one with the farthest use can be it.
  std::optional<Index> least_worth() {
    std::optional<Index> best;
    double least = 0;
    for (std::size_t at = 0; at < classes_.size(); ++at) {
      settle(at);
      if (classes_[at].empty()) continue;
      const Candidate& top = classes_[at].top();
      const double distance = rule_.uses_distance ? static_cast<double>(top.next_use - now_) : 1;
      const double worth = worth_of(top.node) / distance;
      work_ -= 20;
      if (best && worth >= least) continue;
      best = top.node;
      least = worth;
    }
    return best;
  }

  // Removes tops that are out of date or pinned, and moves those whose worth has grown.
  void settle(std::size_t at) {
    auto& heap = classes_[at];
    while (!heap.empty()) {
      const Candidate top = heap.top();
      const bool is_old = stamp_[top.node] != top.stamp || pins_[top.node] > 0;
      const std::size_t now_in = is_old ? at : class_of(top.node);
      if (!is_old && now_in <= at) return;
      work_ -= 40;
      heap.pop();
      if (!is_old) classes_[now_in].push(top);
    }
  }

  // What must run again with a node.
  struct Surroundings {
    std::int64_t own_cost = 0;  // of the node, and of its ancestors that are gone because nothing reads them any more
    std::array<Index, kMostNeighbors> neighbors{};  // in different neighborhoods of dropped outputs
    std::size_t count = 0;
    [[nodiscard]] std::span<const Index> roots() const { return {neighbors.data(), count}; }
  };

  Surroundings surroundings_of(Index node) {
    Surroundings around{.own_cost = problem_.cost[node]};
    std::array<Index, kMostNeighbors> gone = {node};
    std::size_t known = 1;
    for (std::size_t at = 0; at < known; ++at) {
      for (Index input : problem_.inputs(gone[at])) {
        if (is_live_[input] != 0 || add_neighbor(around, input) || known == gone.size()) continue;
        if (std::find(gone.begin(), gone.begin() + known, input) != gone.begin() + known) continue;
        gone[known++] = input;
        around.own_cost += problem_.cost[input];
      }
    }
    const auto readers = problem_.readers(node);
    for (std::size_t at = 0; at < std::min(readers.size(), kMostNeighbors); ++at) add_neighbor(around, readers[at]);
    return around;
  }

  // Returns whether the output is dropped.
  bool add_neighbor(Surroundings& around, Index node) {
    const std::optional<Index> root = dropped_.root_of(node);
    if (!root) return false;
    const auto has = [&](Index other) { return dropped_.root_of(other) == root; };
    if (around.count < around.neighbors.size() && std::none_of(around.roots().begin(), around.roots().end(), has)) {
      around.neighbors[around.count++] = node;
    }
    return true;
  }

  // The cost per byte to make an output again.
  double worth_of(Index node) {
    const Surroundings around = surroundings_of(node);
    std::int64_t chain = 0;
    for (Index neighbor : around.roots()) chain += std::min(dropped_.cost_around(neighbor), kMaxTotalCost);
    const double all = static_cast<double>(around.own_cost) + static_cast<double>(chain) * rule_.chain_quarters / 4;
    work_ -= 60;
    return (all + 1e-6) / static_cast<double>(problem_.size[node]);
  }

  // Two classes per power of two.
  std::size_t class_of(Index node) {
    int exponent = 0;
    const double mantissa = std::frexp(worth_of(node), &exponent);
    const int number = 2 * exponent + (mantissa >= 0.7071 ? 1 : 0) + static_cast<int>(kClasses) / 2;
    return static_cast<std::size_t>(std::clamp(number, 0, static_cast<int>(kClasses) - 1));
  }

  // Drops everything, and takes the path of the floor search. Then the inputs of the node are live, and nothing else.
  bool run_path(std::optional<Index> node) {
    const bool may_drop_all =
        std::find(problem_.runs_once.begin(), problem_.runs_once.end(), 1) == problem_.runs_once.end();
    if (floor_.bound() > problem_.budget || !may_drop_all) return false;
    const std::optional<Runs> path = floor_.path_to(node, kMostPath);
    if (!path) return false;
    std::vector<char> kept = problem_.is_output;
    if (node) {
      kept.assign(problem_.count(), 0);
      for (Index input : problem_.inputs(*node)) kept[input] = 1;
    }
    for (Index other = 0; other < problem_.count(); ++other) {
      const bool stays = kept[other] != 0;
      if (is_live_[other] != 0 && !stays) drop(other);
      if (is_live_[other] == 0 && stays) {
        is_live_[other] = 1;
        live_bytes_ += problem_.size[other];
        dropped_.remove(other);
      }
    }
    runs_.insert(runs_.end(), path->begin(), path->end());
    work_ -= static_cast<std::int64_t>(problem_.count() + 20 * path->size());
    return work_ >= 0;
  }

  static constexpr std::size_t kClasses = 192;

  const RunProblem& problem_;
  const EvictionRule& rule_;
  const FloorSearch& floor_;
  std::int64_t& work_;
  Uses* uses_ = nullptr;
  std::uint32_t now_ = 0;  // position in the order
  std::int64_t live_bytes_ = 0;
  Runs runs_;
  Runs added_;  // of one replay
  std::vector<char> is_live_;
  std::vector<char> is_marked_;      // all 0 between replays
  std::vector<std::uint32_t> pins_;  // by node: runs of this replay that will read its output
  std::vector<std::uint32_t> stamp_;
  std::array<std::priority_queue<Candidate>, kClasses> classes_;  // by worth
  Neighborhoods dropped_;
};

}  // namespace

std::optional<Runs> evict_along(const RunProblem& problem, const Runs& order, const EvictionRule& rule,
                                const FloorSearch& floor, std::int64_t& work) {
  return Eviction(problem, rule, floor, work).along(order);
}

}  // namespace lowtide::rematerialize_internal
