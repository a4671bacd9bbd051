// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/evict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <span>
#include <utility>

#include "lowtide/budget/runs/neighborhoods.h"
#include "lowtide/budget/runs/rerun_limits.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::uint32_t kNoUse = 0xFFFFFFFF;
constexpr std::size_t kMostNeighbors = 16;  // that count for the worth of an output
constexpr std::size_t kMostPath = 1'000'000;

// By entry: the positions in the order of the runs that read it. An output of the problem is read at the end.
class Uses {
 public:
  Uses(const RunProblem& problem, const Runs& order) : position(positions_in(problem, order)), next_(problem.count()) {
    for (Index entry = 0; entry < problem.count(); ++entry) {
      next_[entry] = uses_.size();
      for (Index reader : problem.readers(entry)) uses_.push_back(position[reader]);
      std::sort(uses_.begin() + static_cast<std::ptrdiff_t>(next_[entry]), uses_.end());
      if (problem.is_output[entry] != 0) uses_.push_back(static_cast<std::uint32_t>(order.size()));
      uses_.push_back(kNoUse);
    }
  }

  // The first use at or after a position, which must not be lower than in earlier calls for the entry.
  std::uint32_t from(Index entry, std::uint32_t now) {
    while (uses_[next_[entry]] < now) ++next_[entry];
    return uses_[next_[entry]];
  }

  std::vector<std::uint32_t> position;  // by run

 private:
  std::vector<std::uint32_t> uses_;
  std::vector<std::size_t> next_;  // by entry
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
        has_seed_(problem.count(), 0),
        dropped_(problem.count()) {}

  std::optional<Runs> along(const Runs& order) {
    Uses uses(problem_, order);
    uses_ = &uses;
    if (!problem_.is_free()) limits_.emplace(problem_, uses.position, rule_.keeps_once);
    held_until_.assign(problem_.count(), 0);
    held_at_.resize(order.size() + 1);
    for (now_ = 0; now_ < order.size(); ++now_) {
      if (!run_in_order(order[now_])) return std::nullopt;
      for (Index entry : held_at_[now_]) release(entry);
    }
    if (!make_outputs()) return std::nullopt;
    return std::move(runs_);
  }

 private:
  // An entry that may be dropped. It is out of date if the stamp is no longer that of the entry.
  struct Candidate {
    std::uint32_t next_use;
    std::uint32_t stamp;
    Index entry;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.next_use != b.next_use ? a.next_use < b.next_use : a.entry > b.entry;
    }
  };

  bool run_in_order(Index node) {
    if (replay(node)) return true;
    if (work_ < 0) return false;
    return run_path(node) && replay(node);
  }

  bool make_outputs() {
    std::vector<Index> outputs;
    for (Index entry = 0; entry < problem_.count(); ++entry) {
      if (problem_.is_output[entry] != 0) outputs.push_back(entry);
    }
    for (Index entry : outputs) ++pins_[entry];
    bool fits = true;
    for (Index entry : outputs) fits = fits && (is_live_[entry] != 0 || replay(problem_.owner(entry)));
    for (Index entry : outputs) --pins_[entry];
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
        const Index maker = problem_.owner(input);
        if (is_live_[input] != 0 || is_marked_[maker] != 0) continue;
        is_marked_[maker] = 1;
        added_.push_back(maker);
      }
    }
    for (Index added : added_) is_marked_[added] = 0;
    std::sort(added_.begin(), added_.end(), [&](Index a, Index b) { return uses_->position[a] < uses_->position[b]; });
  }

  // Requires: the inputs are live and pinned. Unpins them.
  bool run(Index node) {
    work_ -= static_cast<std::int64_t>(60 + 40 * problem_.inputs(node).size());
    // The run replaces what the last run of the node made and is still there.
    problem_.for_each_entry(node, [&](Index entry) {
      if (is_live_[entry] != 0) free(entry);
    });
    const bool keeps_seed = problem_.seed[node] != 0 && rule_.keeps_once && has_seed_[node] == 0;
    if (keeps_seed) {
      has_seed_[node] = 1;
      live_bytes_ += problem_.seed[node];
    }
    if (work_ < 0 || !make_space(problem_.own_load[node])) return false;
    problem_.for_each_entry(node, [&](Index entry) {
      is_live_[entry] = 1;
      live_bytes_ += problem_.size[entry];
    });
    runs_.push_back(node);
    dropped_.remove(node);
    for (Index overwritten : problem_.overwritten_by(node)) free(overwritten);
    for (Index input : problem_.inputs(node)) unpin(input);
    problem_.for_each_entry(node, [&](Index entry) { release(entry); });
    return true;
  }

  void unpin(Index entry) {
    --pins_[entry];
    release(entry);
  }

  // Frees the entry if nothing reads it any more. Otherwise it may be dropped, if it can be made again.
  void release(Index entry) {
    if (pins_[entry] > 0 || is_live_[entry] == 0 || held_until_[entry] > now_) return;
    const Index maker = problem_.owner(entry);
    const bool is_once = problem_.runs_once[maker] != 0;
    if (is_once && (rule_.keeps_once || problem_.size[entry] == 0)) return;
    const std::uint32_t next_use = uses_->from(entry, now_ + 1);
    if (next_use == kNoUse) {
      free(entry);
    } else if (problem_.size[entry] > 0 && (!limits_ || limits_->may_run(maker, next_use))) {
      classes_[class_of(entry)].push({next_use, ++stamp_[entry], entry});
    }
  }

  void free(Index entry) {
    ++stamp_[entry];
    is_live_[entry] = 0;
    live_bytes_ -= problem_.size[entry];
  }

  bool make_space(std::int64_t bytes) {
    while (live_bytes_ + bytes > problem_.budget) {
      const std::optional<Candidate> least = least_worth();
      if (!least) return false;
      if (!limits_ || hold_inputs(*least)) drop(least->entry);
    }
    return true;
  }

  // Keeps what a dropped output needs to be made again. Returns false if it cannot be made again. Then it stays.
  bool hold_inputs(const Candidate& dropped) {
    const Index maker = problem_.owner(dropped.entry);
    if (!limits_->find_held(maker, dropped.next_use, is_live_, held_, work_)) {
      ++stamp_[dropped.entry];
      return false;
    }
    // At the end, several outputs are made in one step.
    const std::uint32_t until = dropped.next_use + (dropped.next_use + 1 == held_at_.size() ? 1 : 0);
    for (Index entry : held_) {
      if (held_until_[entry] >= until) continue;
      held_until_[entry] = until;
      ++stamp_[entry];
      held_at_[dropped.next_use].push_back(entry);
    }
    return true;
  }

  void drop(Index entry) {
    free(entry);
    const Index node = problem_.owner(entry);
    if (dropped_.root_of(node)) return;
    const Surroundings around = surroundings_of(entry);
    dropped_.add(node, around.own_cost);
    for (Index root : around.roots()) dropped_.join(root, node);
  }

  // The entry with the least worth per distance. Of each class, only the one with the farthest use can be it.
  std::optional<Candidate> least_worth() {
    std::optional<Candidate> best;
    double least = 0;
    for (std::size_t at = 0; at < classes_.size(); ++at) {
      settle(at);
      if (classes_[at].empty()) continue;
      const Candidate& top = classes_[at].top();
      const double distance = rule_.uses_distance ? static_cast<double>(top.next_use - now_) : 1;
      const double worth = worth_of(top.entry) / distance;
      work_ -= 20;
      if (best && worth >= least) continue;
      best = top;
      least = worth;
    }
    return best;
  }

  // Removes tops that are out of date or pinned, and moves those whose worth has grown.
  void settle(std::size_t at) {
    auto& heap = classes_[at];
    while (!heap.empty()) {
      const Candidate top = heap.top();
      const bool is_old = stamp_[top.entry] != top.stamp || pins_[top.entry] > 0;
      const std::size_t now_in = is_old ? at : class_of(top.entry);
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

  Surroundings surroundings_of(Index entry) {
    const Index node = problem_.owner(entry);
    Surroundings around{.own_cost = problem_.cost[node]};
    std::array<Index, kMostNeighbors> gone = {node};
    std::size_t known = 1;
    for (std::size_t at = 0; at < known; ++at) {
      for (Index input : problem_.inputs(gone[at])) {
        const Index maker = problem_.owner(input);
        if (is_live_[input] != 0 || add_neighbor(around, maker) || known == gone.size()) continue;
        if (std::find(gone.begin(), gone.begin() + known, maker) != gone.begin() + known) continue;
        gone[known++] = maker;
        around.own_cost += problem_.cost[maker];
      }
    }
    const auto readers = problem_.readers(entry);
    for (std::size_t at = 0; at < std::min(readers.size(), kMostNeighbors); ++at) add_neighbor(around, readers[at]);
    return around;
  }

  // Returns whether an output of the node is dropped.
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
  double worth_of(Index entry) {
    const Surroundings around = surroundings_of(entry);
    std::int64_t chain = 0;
    for (Index neighbor : around.roots()) chain += std::min(dropped_.cost_around(neighbor), kMaxTotalCost);
    double all = static_cast<double>(around.own_cost) + static_cast<double>(chain) * rule_.chain_quarters / 4;
    // The node runs again anyway, for another of its outputs.
    if (dropped_.root_of(problem_.owner(entry))) all /= kSharedRun;
    work_ -= 60;
    return (all + 1e-6) / static_cast<double>(problem_.size[entry]);
  }

  // Two classes per power of two.
  std::size_t class_of(Index entry) {
    int exponent = 0;
    const double mantissa = std::frexp(worth_of(entry), &exponent);
    const int number = 2 * exponent + (mantissa >= 0.7071 ? 1 : 0) + static_cast<int>(kClasses) / 2;
    return static_cast<std::size_t>(std::clamp(number, 0, static_cast<int>(kClasses) - 1));
  }

  // Drops everything, and takes the path of the floor search. Then the inputs of the node are live, and nothing else.
  bool run_path(std::optional<Index> node) {
    if (floor_.bound() > problem_.budget || !problem_.is_free()) return false;
    const std::optional<Runs> path = floor_.path_to(node, kMostPath);
    if (!path) return false;
    std::vector<char> kept = problem_.is_output;
    if (node) {
      kept.assign(problem_.count(), 0);
      for (Index input : problem_.inputs(*node)) kept[input] = 1;
    }
    for (Index entry = 0; entry < problem_.count(); ++entry) {
      const bool stays = kept[entry] != 0;
      if (is_live_[entry] != 0 && !stays) drop(entry);
      if (is_live_[entry] == 0 && stays) {
        is_live_[entry] = 1;
        live_bytes_ += problem_.size[entry];
        dropped_.remove(problem_.owner(entry));
      }
    }
    runs_.insert(runs_.end(), path->begin(), path->end());
    work_ -= static_cast<std::int64_t>(problem_.count() + 20 * path->size());
    return work_ >= 0;
  }

  static constexpr std::size_t kClasses = 192;
  static constexpr double kSharedRun = 8;

  const RunProblem& problem_;
  const EvictionRule& rule_;
  const FloorSearch& floor_;
  std::int64_t& work_;
  Uses* uses_ = nullptr;
  std::uint32_t now_ = 0;  // position in the order
  std::int64_t live_bytes_ = 0;
  Runs runs_;
  Runs added_;                       // of one replay
  std::vector<char> is_live_;        // by entry
  std::vector<char> is_marked_;      // by run; all 0 between replays
  std::vector<std::uint32_t> pins_;  // by entry: runs of this replay that will read it
  std::vector<std::uint32_t> stamp_;
  std::vector<char> has_seed_;  // by run: its seed is kept
  // Absent if every node is free to run again.
  std::optional<RerunLimits> limits_;
  std::vector<Index> held_;                                       // of one drop
  std::vector<std::uint32_t> held_until_;                         // by entry: the step for which it stays live
  std::vector<std::vector<Index>> held_at_;                       // by step: entries that need not stay any longer
  std::array<std::priority_queue<Candidate>, kClasses> classes_;  // by worth
  Neighborhoods dropped_;
};

}  // namespace

std::optional<Runs> evict_along(const RunProblem& problem, const Runs& order, const EvictionRule& rule,
                                const FloorSearch& floor, std::int64_t& work) {
  return Eviction(problem, rule, floor, work).along(order);
}

}  // namespace lowtide::budget_internal
