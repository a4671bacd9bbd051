// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/small_search.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace lowtide::rematerialize_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::size_t kMostNodes = 32;
constexpr Index kDropped = 0xFFFFFFFF;  // the step to a state was not a run

std::uint64_t bit(Index node) { return std::uint64_t{1} << node; }

class SmallSearch {
 public:
  explicit SmallSearch(const RunProblem& problem) : problem_(problem), inputs_(problem.count()) {
    for (Index node = 0; node < problem.count(); ++node) {
      for (Index input : problem.inputs(node)) inputs_[node] |= bit(input);
      if (problem.is_output[node] != 0) outputs_ |= bit(node);
      all_ |= bit(node);
    }
  }

  SmallAnswer search(std::int64_t most_states) {
    reach(0, 0, {0, kDropped});
    while (!open_.empty()) {
      const auto [cost, state] = open_.top();
      open_.pop();
      Known& known = known_.at(state);
      if (known.cost != cost || known.is_closed) continue;
      known.is_closed = true;
      const std::uint64_t ran = state >> 32U;
      const std::uint64_t live = state & 0xFFFFFFFFU;
      if (ran == all_ && (outputs_ & ~live) == 0) return {true, runs_to(state)};
      expand(state, cost);
      if (static_cast<std::int64_t>(known_.size()) > most_states) return {false, std::nullopt};
    }
    return {true, std::nullopt};
  }

 private:
  struct Known {
    std::int64_t cost = 0;   // of the reruns
    Index last = kDropped;   // the run that led here
    std::uint64_t from = 0;  // the state before
    bool is_closed = false;
  };

  std::int64_t bytes_of(std::uint64_t nodes) const {
    std::int64_t sum = 0;
    for (Index node = 0; node < problem_.count(); ++node) sum += (nodes & bit(node)) != 0 ? problem_.size[node] : 0;
    return sum;
  }

  void expand(std::uint64_t state, std::int64_t cost) {
    const std::uint64_t ran = state >> 32U;
    const std::uint64_t live = state & 0xFFFFFFFFU;
    const std::int64_t bytes = bytes_of(live);
    for (Index node = 0; node < problem_.count(); ++node) {
      if ((live & bit(node)) != 0) {
        reach((ran << 32U) | (live & ~bit(node)), cost, {state, kDropped});
        continue;
      }
      const bool is_rerun = (ran & bit(node)) != 0;
      if (is_rerun && problem_.runs_once[node] != 0) continue;
      if ((inputs_[node] & ~live) != 0 || bytes + problem_.own_load[node] > problem_.budget) continue;
      const std::int64_t more = is_rerun ? problem_.cost[node] : 0;
      reach(((ran | bit(node)) << 32U) | live | bit(node), cost + more, {state, node});
    }
  }

  void reach(std::uint64_t state, std::int64_t cost, std::pair<std::uint64_t, Index> step) {
    const auto [found, is_new] = known_.try_emplace(state, Known{cost, step.second, step.first});
    if (!is_new) {
      if (found->second.cost <= cost) return;
      found->second = Known{cost, step.second, step.first};
    }
    open_.push({cost, state});
  }

  Runs runs_to(std::uint64_t state) const {
    Runs runs;
    while (state != 0) {
      const Known& known = known_.at(state);
      if (known.last != kDropped) runs.push_back(known.last);
      state = known.from;
    }
    std::reverse(runs.begin(), runs.end());
    return runs;
  }

  using Open = std::pair<std::int64_t, std::uint64_t>;  // cost and state

  const RunProblem& problem_;
  std::vector<std::uint64_t> inputs_;  // by node
  std::uint64_t outputs_ = 0;
  std::uint64_t all_ = 0;
  // A state has the nodes that ran in its upper half, and the live outputs in its lower half.
  std::unordered_map<std::uint64_t, Known> known_;  // never iterated
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

SmallAnswer search_small(const RunProblem& problem, std::int64_t most_states) {
  if (problem.count() > kMostNodes) return {};
  return SmallSearch(problem).search(most_states);
}

}  // namespace lowtide::rematerialize_internal
