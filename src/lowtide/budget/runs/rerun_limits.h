// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"

namespace lowtide::budget_internal {

// Until when each node may run again, if first runs follow an order. A step is the first run of one node, with the
// reruns right before it. The last step is the end.
//
//   order  a b c d, and c writes over what b read: b may run again up to the step of c, and not at that of d
class RerunLimits {
 public:
  using Index = RunProblem::Index;

  // `position`: by run, its place in the order. `with_seeds`: nodes with seeds may run again.
  RerunLimits(const RunProblem& problem, std::vector<std::uint32_t> position, bool with_seeds);

  // Whether a node itself may run again at a step, if its inputs are there.
  [[nodiscard]] bool may_run(Index run, std::uint32_t step) const { return step < limit_[run]; }

  // Whether a node can run again at a step, although everything that may run again is dropped before. `held` receives
  // what is live now and must stay until then for it. Subtracts what it does from `work`.
  [[nodiscard]] bool find_held(Index run, std::uint32_t step, const std::vector<char>& is_live,
                               std::vector<Index>& held, std::int64_t& work);

 private:
  // Runs from which the node can be reached by way of runs that may happen again, in the order.
  void find_reached(Index run, std::uint32_t step);
  [[nodiscard]] bool stays(Index entry, std::uint32_t step, const std::vector<char>& is_live) const;

  const RunProblem& problem_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> limit_;     // by run: the first step at which it must not run again
  std::vector<std::uint32_t> earliest_;  // by run: the lowest limit of the run and all its ancestors
  std::vector<Index> reached_;
  std::vector<char> can_run_;  // by run; all 0 between searches
};

}  // namespace lowtide::budget_internal
