// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/rerun_limits.h"

#include <algorithm>
#include <utility>

namespace lowtide::budget_internal {
namespace {

constexpr std::uint32_t kAlways = 0xFFFFFFFF;
constexpr char kReached = 1;
constexpr char kCanRun = 2;
constexpr char kNeeded = 3;

}  // namespace

RerunLimits::RerunLimits(const RunProblem& problem, std::vector<std::uint32_t> position, bool with_seeds)
    : problem_(problem),
      position_(std::move(position)),
      limit_(problem.count(), kAlways),
      can_run_(problem.count(), 0) {
  std::vector<Index> order;
  for (Index run = 0; run < problem.count(); ++run) {
    if (!problem.is_run(run)) continue;
    order.push_back(run);
    const bool is_once = problem.runs_once[run] != 0 || problem.group_of(run) != RunProblem::kNone;
    if (is_once || (problem.seed[run] != 0 && !with_seeds)) limit_[run] = 0;
    for (Index writer : problem.writers_after(run)) limit_[run] = std::min(limit_[run], position_[writer] + 1);
  }
  earliest_ = limit_;
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return position_[a] < position_[b]; });
  for (Index run : order) {
    for (Index input : problem.inputs(run)) earliest_[run] = std::min(earliest_[run], earliest_[problem.owner(input)]);
  }
}

bool RerunLimits::stays(Index entry, std::uint32_t step, const std::vector<char>& is_live) const {
  const Index writer = problem_.overwriter_of(entry);
  return is_live[entry] != 0 && (writer == RunProblem::kNone || position_[writer] >= step);
}

void RerunLimits::find_reached(Index run, std::uint32_t step) {
  reached_ = {run};
  can_run_[run] = kReached;
  for (std::size_t at = 0; at < reached_.size(); ++at) {
    for (Index input : problem_.inputs(reached_[at])) {
      const Index maker = problem_.owner(input);
      if (earliest_[maker] > step || can_run_[maker] != 0 || !may_run(maker, step)) continue;
      can_run_[maker] = kReached;
      reached_.push_back(maker);
    }
  }
  std::sort(reached_.begin(), reached_.end(), [&](Index a, Index b) { return position_[a] < position_[b]; });
}

bool RerunLimits::find_held(Index run, std::uint32_t step, const std::vector<char>& is_live, std::vector<Index>& held,
                            std::int64_t& work) {
  held.clear();
  if (earliest_[run] > step) return true;
  if (!may_run(run, step)) return false;
  find_reached(run, step);
  work -= static_cast<std::int64_t>(40 * reached_.size());
  for (Index reached : reached_) {
    const auto inputs = problem_.inputs(reached);
    const bool has_all = std::all_of(inputs.begin(), inputs.end(), [&](Index input) {
      const Index maker = problem_.owner(input);
      return earliest_[maker] > step || can_run_[maker] == kCanRun || stays(input, step, is_live);
    });
    if (has_all) can_run_[reached] = kCanRun;
  }
  const bool can_run = can_run_[run] == kCanRun;
  // From the readers to what they read: only what this run needs is held.
  std::vector<Index> needed = {run};
  can_run_[run] = kNeeded;
  for (std::size_t at = 0; can_run && at < needed.size(); ++at) {
    for (Index input : problem_.inputs(needed[at])) {
      const Index maker = problem_.owner(input);
      if (earliest_[maker] > step) continue;
      if (can_run_[maker] == kCanRun) {
        can_run_[maker] = kNeeded;
        needed.push_back(maker);
      } else if (can_run_[maker] != kNeeded) {
        held.push_back(input);
      }
    }
  }
  for (Index reached : reached_) can_run_[reached] = 0;
  return can_run;
}

}  // namespace lowtide::budget_internal
