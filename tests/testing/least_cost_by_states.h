// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "tests/testing/run_states.h"

namespace lowtide {

// The least cost of all sequences that keep the budget, reruns included; nullopt if there are none.
[[nodiscard]] inline std::optional<std::int64_t> least_cost_by_states(const BudgetProblem& problem) {
  const RunStates states(problem);
  std::map<RunState, std::int64_t> least = {{{}, 0}};
  using Open = std::pair<std::int64_t, RunState>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  open.push({0, {}});
  while (!open.empty()) {
    const auto [cost, from] = open.top();
    open.pop();
    if (cost > least.at(from)) continue;
    const std::optional<Bytes> end = states.end(from);
    if (end && *end <= problem.budget) return cost;
    const auto reach = [&](const RunState& to, std::int64_t to_cost) {
      const auto [place, is_new] = least.emplace(to, to_cost);
      if (!is_new && place->second <= to_cost) return;
      place->second = to_cost;
      open.push({to_cost, to});
    };
    for (const RunState& to : states.drops(from)) reach(to, cost);
    for (std::uint32_t at = 0; at < states.count(); ++at) {
      for (bool keeps_seed : {false, true}) {
        const std::optional<RunStates::Move> move = states.run(from, at, keeps_seed);
        if (move && move->load <= problem.budget) reach(move->to, cost + states.cost(at));
      }
    }
  }
  return std::nullopt;
}

}  // namespace lowtide
