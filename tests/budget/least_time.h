// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "lowtide/plan/transfers.h"

namespace lowtide {

// The least time of all sequences and transfers that keep the budget, by a search over moments of a machine that
// knows no positions: a worker, two copy engines, and for each node whether its output is in memory, outside, or
// both, and whether it is on its way. At a moment, outputs may be dropped, runs and copies may begin, or time may
// pass to the next event. A copy out holds its bytes up to its end. Those of a copy in are reserved before it,
// between two runs. So every sequence with transfers is one of these histories.
class LeastTime {
 public:
  LeastTime(const BudgetProblem& problem, const TransferLink& link) : problem_(problem), link_(link) {}

  // nullopt if there are more than `most_states` states, or nothing keeps the budget.
  std::optional<std::int64_t> search(std::size_t most_states) {
    reach({}, 0);
    while (!open_.empty()) {
      const auto [time, state] = open_.top();
      open_.pop();
      if (known_.at(state) != time) continue;
      if (is_done(state)) return time;
      if (known_.size() > most_states) return std::nullopt;
      expand(state, time);
    }
    return std::nullopt;
  }

 private:
  // Bits by node. At most one run and one copy in each direction are in progress; `left` is what they still take.
  struct State {
    std::uint32_t ran = 0;
    std::uint32_t inside = 0;             // in memory and complete
    std::uint32_t outside = 0;            // a copy outside is complete and of the present output
    std::uint32_t reserved = 0;           // its bytes are reserved for a copy in that has not begun
    std::array<std::uint32_t, 3> busy{};  // the node that runs, leaves, arrives
    std::array<std::int64_t, 3> left{};
    auto operator<=>(const State&) const = default;
  };

  [[nodiscard]] static std::uint32_t bit(std::uint32_t node) { return 1U << node; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(problem_.nodes.size()); }

  [[nodiscard]] std::int64_t bytes(std::uint32_t nodes) const {
    std::int64_t sum = 0;
    for (std::uint32_t node = 0; node < count(); ++node) {
      sum += (nodes & bit(node)) != 0 ? problem_.nodes[NodeId(node)].size.count() : 0;
    }
    return sum;
  }
  [[nodiscard]] std::uint32_t reads(std::uint32_t node) const {
    std::uint32_t set = 0;
    for (NodeId input : problem_.nodes[NodeId(node)].reads) set |= bit(input.value());
    return set;
  }
  // What occupies memory, complete or not.
  [[nodiscard]] static std::uint32_t held(const State& state) {
    return state.inside | state.reserved | state.busy[0] | state.busy[2];
  }
  [[nodiscard]] std::int64_t copy_time(std::uint32_t node) const {
    const std::int64_t size = problem_.nodes[NodeId(node)].size.count() * 1'000'000'000;
    return link_.latency_nanoseconds + (size + link_.bytes_per_second - 1) / link_.bytes_per_second;
  }

  [[nodiscard]] bool is_done(const State& state) const {
    for (std::uint32_t node = 0; node < count(); ++node) {
      if ((state.ran & bit(node)) == 0) return false;
      if (problem_.nodes[NodeId(node)].is_output && (state.inside & bit(node)) == 0) return false;
    }
    return state.busy[0] == 0 && state.busy[1] == 0 && state.busy[2] == 0;
  }

  void reach(const State& state, std::int64_t time) {
    const auto [found, is_new] = known_.try_emplace(state, time);
    if (!is_new && found->second <= time) return;
    found->second = time;
    open_.push({time, state});
  }

  static void finish(State& state) {
    if (state.busy[0] != 0 && state.left[0] == 0) {
      state.ran |= state.busy[0];
      state.inside |= state.busy[0];
      state.busy[0] = 0;
    }
    if (state.busy[1] != 0 && state.left[1] == 0) {
      state.outside |= state.busy[1];
      state.busy[1] = 0;
    }
    if (state.busy[2] != 0 && state.left[2] == 0) {
      state.inside |= state.busy[2];
      state.busy[2] = 0;
    }
  }

  void begin(State state, std::size_t engine, std::uint32_t node, std::int64_t takes, std::int64_t time) {
    state.busy[engine] = bit(node);
    state.left[engine] = takes;
    const std::int64_t extra = engine == 0 ? problem_.nodes[NodeId(node)].extra.count() : 0;
    if (bytes(held(state)) + extra > problem_.budget.count()) return;
    finish(state);
    reach(state, time);
  }

  void expand(const State& state, std::int64_t time) {
    // What a run reads and what leaves must stay.
    std::uint32_t pinned = state.busy[1];
    for (std::uint32_t node = 0; node < count(); ++node) pinned |= state.busy[0] == bit(node) ? reads(node) : 0;
    for (std::uint32_t node = 0; node < count(); ++node) {
      const std::uint32_t it = bit(node);
      const bool is_repeated = problem_.nodes[NodeId(node)].runs_once && (state.ran & it) != 0;
      const bool is_held = (held(state) & it) != 0;
      if ((state.inside & it) != 0 && (pinned & it) == 0) {
        State dropped = state;
        dropped.inside &= ~it;
        reach(dropped, time);
      }
      if (state.busy[0] == 0 && !is_held && (reads(node) & ~state.inside) == 0 && !is_repeated) {
        State run = state;
        run.outside &= ~it;  // a copy is of one run
        begin(run, 0, node, problem_.nodes[NodeId(node)].cost * link_.nanoseconds_per_cost, time);
      }
      if (state.busy[1] == 0 && (state.inside & it) != 0 && (state.outside & it) == 0) {
        begin(state, 1, node, copy_time(node), time);
      }
      // Bytes are reserved between two runs only, because the load of a run must not depend on time.
      if (state.busy[0] == 0 && !is_held && (state.outside & it) != 0) {
        State reserved = state;
        reserved.reserved |= it;
        if (bytes(held(reserved)) <= problem_.budget.count()) reach(reserved, time);
      }
      if (state.busy[2] == 0 && (state.reserved & it) != 0) {
        State arriving = state;
        arriving.reserved &= ~it;
        begin(arriving, 2, node, copy_time(node), time);
      }
    }
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (std::size_t engine = 0; engine < 3; ++engine) {
      if (state.busy[engine] != 0) step = std::min(step, state.left[engine]);
    }
    if (step == std::numeric_limits<std::int64_t>::max()) return;
    State next = state;
    for (std::size_t engine = 0; engine < 3; ++engine) {
      if (next.busy[engine] != 0) next.left[engine] -= step;
    }
    finish(next);
    reach(next, time + step);
  }

  const BudgetProblem& problem_;
  const TransferLink& link_;
  std::map<State, std::int64_t> known_;
  std::priority_queue<std::pair<std::int64_t, State>, std::vector<std::pair<std::int64_t, State>>, std::greater<>>
      open_;
};

}  // namespace lowtide
