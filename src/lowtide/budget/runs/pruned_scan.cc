// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/pruned_scan.h"

#include <algorithm>
#include <utility>

namespace lowtide::budget_internal {
namespace {

// Counts positions from the begin, after they were counted from the end.
void turn_around(ScannedRuns& result) {
  const auto last = static_cast<std::uint32_t>(result.runs.size() - 1);
  std::reverse(result.runs.begin(), result.runs.end());
  std::reverse(result.loads.begin(), result.loads.end());
  std::reverse(result.last_use.begin(), result.last_use.end());
  for (std::uint32_t& use : result.last_use) use = last - use;
  std::vector<std::uint32_t> part_uses;
  for (std::size_t run = result.runs.size(); run-- > 0;) {
    for (std::size_t part = 0; part < result.most_parts; ++part) {
      part_uses.push_back(last - result.part_uses[run * result.most_parts + part]);
    }
  }
  result.part_uses = std::move(part_uses);
  const auto peak = std::max_element(result.loads.begin(), result.loads.end());
  result.peak = *peak;
  result.peak_at = static_cast<std::size_t>(peak - result.loads.begin());
}

}  // namespace

bool PrunedScan::take_uses(Index run, std::uint32_t here, ScannedRuns& result, std::int64_t& live) {
  bool is_used = false;
  const auto take = [&](Index entry) {
    if (needed_by_[entry] == kNothing) return here;
    is_used = true;
    live -= problem_.size[entry];
    --needed_;
    return std::exchange(needed_by_[entry], kNothing);
  };
  result.last_use.push_back(take(run));
  const auto parts = problem_.parts(run);
  for (std::size_t at = 0; at < result.most_parts; ++at) {
    result.part_uses.push_back(at < parts.size() ? take(parts[at]) : here);
  }
  return is_used;
}

bool PrunedScan::scan(const Runs& runs, ScannedRuns& result) {
  result = {.runs = {}, .loads = {}, .last_use = {}, .part_uses = {}, .most_parts = problem_.most_parts()};
  std::int64_t live = 0;
  needed_ = 0;
  const auto need = [&](Index entry, std::uint32_t by) {
    if (needed_by_[entry] != kNothing) return;
    needed_by_[entry] = by;
    live += problem_.size[entry];
    ++needed_;
  };
  for (Index node : runs) ++left_[node];
  for (Index entry = 0; entry < problem_.count(); ++entry) {
    if (problem_.is_output[entry] != 0) need(entry, 0);
  }
  // Positions count from the end until the length is known.
  for (std::size_t at = runs.size(); at-- > 0;) {
    const Index node = runs[at];
    const bool is_only_one = --left_[node] == 0;
    const auto here = static_cast<std::uint32_t>(result.runs.size());
    // A node that has been met keeps the mark that it ran: at least one run of it remains.
    const bool may_go = (!is_only_one || has_run_.test(node)) && problem_.group_of(node) == RunProblem::kNone;
    if (!take_uses(node, here, result, live) && may_go) {
      result.last_use.pop_back();
      result.part_uses.resize(result.part_uses.size() - result.most_parts);
      continue;
    }
    has_run_.set(node);
    for (Index input : problem_.inputs(node)) need(input, here);
    work_ += static_cast<std::int64_t>(problem_.inputs(node).size());
    const std::int64_t load = live + problem_.own_load[node];
    result.runs.push_back(node);
    result.loads.push_back(load);
    result.cost += problem_.cost[node];
    if (load > problem_.budget) result.excess += static_cast<double>(load - problem_.budget);
  }
  work_ += static_cast<std::int64_t>(2 * runs.size() + problem_.count());
  for (Index node : result.runs) has_run_.reset(node);
  if (needed_ != 0) {
    std::fill(needed_by_.begin(), needed_by_.end(), kNothing);
    return false;
  }
  turn_around(result);
  return true;
}

}  // namespace lowtide::budget_internal
