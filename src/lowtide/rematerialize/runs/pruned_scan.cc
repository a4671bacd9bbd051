// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/pruned_scan.h"

#include <algorithm>

namespace lowtide::rematerialize_internal {

bool PrunedScan::scan(const Runs& runs, ScannedRuns& result) {
  result.runs.clear();
  result.loads.clear();
  result.last_use.clear();
  result.cost = 0;
  result.peak = 0;
  result.excess = 0;
  std::int64_t live = 0;
  std::size_t needed = 0;
  const auto need = [&](RunProblem::Index node, std::uint32_t by) {
    if (needed_by_[node] != kNothing) return;
    needed_by_[node] = by;
    live += problem_.size[node];
    ++needed;
  };
  for (RunProblem::Index node : runs) ++left_[node];
  for (RunProblem::Index node = 0; node < problem_.count(); ++node) {
    if (problem_.is_output[node] != 0) need(node, 0);
  }
  // Positions count from the end until the length is known.
  for (std::size_t at = runs.size(); at-- > 0;) {
    const RunProblem::Index node = runs[at];
    const bool is_only_one = --left_[node] == 0;
    auto here = static_cast<std::uint32_t>(result.runs.size());
    if (needed_by_[node] != kNothing) {
      result.last_use.push_back(needed_by_[node]);
      needed_by_[node] = kNothing;
      live -= problem_.size[node];
      --needed;
    } else {
      // A node that has been met keeps the mark that it ran: at least one run of it remains.
      if (!is_only_one || has_run_.test(node)) continue;
      result.last_use.push_back(here);
    }
    has_run_.set(node);
    for (RunProblem::Index input : problem_.inputs(node)) need(input, here);
    work_ += static_cast<std::int64_t>(problem_.inputs(node).size());
    const std::int64_t load = live + problem_.own_load[node];
    result.runs.push_back(node);
    result.loads.push_back(load);
    result.cost += problem_.cost[node];
    if (load > problem_.budget) result.excess += static_cast<double>(load - problem_.budget);
  }
  work_ += static_cast<std::int64_t>(2 * runs.size() + problem_.count());
  for (RunProblem::Index node : result.runs) has_run_.reset(node);
  if (needed != 0) {
    std::fill(needed_by_.begin(), needed_by_.end(), kNothing);
    return false;
  }
  const auto last = static_cast<std::uint32_t>(result.runs.size() - 1);
  std::reverse(result.runs.begin(), result.runs.end());
  std::reverse(result.loads.begin(), result.loads.end());
  std::reverse(result.last_use.begin(), result.last_use.end());
  for (std::uint32_t& use : result.last_use) use = last - use;
  const auto peak = std::max_element(result.loads.begin(), result.loads.end());
  result.peak = *peak;
  result.peak_at = static_cast<std::size_t>(peak - result.loads.begin());
  return true;
}

}  // namespace lowtide::rematerialize_internal
