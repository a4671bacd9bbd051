// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/load_scan.h"

#include <algorithm>

namespace lowtide::budget_internal {

bool LoadScan::keeps_rules(Index run) {
  for (Index overwritten : problem_.overwritten_by(run)) {
    if (is_needed_[overwritten] != 0) return false;
  }
  return rules_.keep(run, [&](Index reader) { return has_run_[reader] == number_; });
}

void LoadScan::begin_seed(Index run, std::int64_t& live) {
  if (problem_.seed[run] == 0 || has_seed_[run] != 0 || left_[run] < 2) return;
  has_seed_[run] = 1;
  live += problem_.seed[run];
}

void LoadScan::end_seed(Index run, std::int64_t& live) {
  if (--left_[run] > 0 || has_seed_[run] == 0) return;
  has_seed_[run] = 0;
  live -= problem_.seed[run];
}

Loads LoadScan::scan(const Runs& runs, std::vector<std::int64_t>* loads) {
  ++number_;
  Loads result;
  if (loads != nullptr) loads->resize(runs.size());
  std::int64_t live = 0;
  std::size_t different = 0;
  std::size_t needed = 0;
  bool is_allowed = true;
  const bool has_seeds = problem_.has_seeds();
  if (has_seeds) {
    for (Index run : runs) ++left_[run];
  }
  rules_.begin();
  const auto need = [&](Index entry) {
    if (is_needed_[entry] != 0) return;
    is_needed_[entry] = 1;
    live += problem_.size[entry];
    ++needed;
  };
  for (Index entry = 0; entry < problem_.count(); ++entry) {
    if (problem_.is_output[entry] != 0) need(entry);
  }
  for (std::size_t at = runs.size(); at-- > 0;) {
    const Index node = runs[at];
    problem_.for_each_entry(node, [&](Index entry) {
      if (is_needed_[entry] == 0) return;
      is_needed_[entry] = 0;
      live -= problem_.size[entry];
      --needed;
    });
    if (problem_.is_ruled(node) && !keeps_rules(node)) is_allowed = false;
    if (has_run_[node] != number_) {
      has_run_[node] = number_;
      ++different;
    } else if (problem_.runs_once[node] != 0) {
      is_allowed = false;
    }
    for (Index input : problem_.inputs(node)) need(input);
    if (has_seeds) begin_seed(node, live);
    result.cost += problem_.cost[node];
    const std::int64_t load = live + problem_.own_load[node];
    if (has_seeds) end_seed(node, live);
    if (loads != nullptr) (*loads)[at] = load;
    if (load >= result.peak) {
      result.peak = load;
      result.peak_at = at;
    }
    if (load > problem_.budget) result.excess += static_cast<double>(load - problem_.budget);
  }
  result.is_valid = is_allowed && needed == 0 && different == problem_.run_count() && rules_.are_groups_done();
  if (needed != 0) std::fill(is_needed_.begin(), is_needed_.end(), char{0});
  return result;
}

}  // namespace lowtide::budget_internal
