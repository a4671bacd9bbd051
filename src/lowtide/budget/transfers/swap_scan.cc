// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/swap_scan.h"

#include <algorithm>
#include <iterator>

namespace lowtide::budget_internal {

using Index = SwapProblem::Index;

SwapScan::SwapScan(const SwapProblem& problem)
    : problem_(problem),
      needs_(problem.count()),
      left_(problem.count(), 0),
      first_use_(problem.count(), 0),
      has_run_(problem.count()),
      is_fetched_(problem.count()) {}

// Moves each fetch to the next run that reads its node. Drops it if the node runs before that, or never ran.
void SwapScan::place_fetches(const Items& items) {
  placed_.clear();
  for (const Item& item : items) {
    if (item.is_fetch) {
      if (has_run_.test(item.node)) is_fetched_.set(item.node);
      continue;
    }
    for (Index input : problem_.inputs(item.node)) {
      if (!is_fetched_.test(input)) continue;
      is_fetched_.reset(input);
      placed_.push_back({.node = input, .is_fetch = true});
    }
    is_fetched_.reset(item.node);
    has_run_.set(item.node);
    placed_.push_back(item);
    work_ += 2 + static_cast<std::int64_t>(problem_.inputs(item.node).size());
  }
  for (const Item& item : items) {
    has_run_.reset(item.node);
    is_fetched_.reset(item.node);
  }
}

void SwapScan::use(Index node, std::uint32_t here, ScannedSwaps& result) {
  Need& need = needs_[node];
  first_use_[node] = here;
  if (need.last_use != kNone) return;
  live_ += problem_.size[node];
  need.last_use = here;
  if (!need.is_away) {
    ++needed_;
    return;
  }
  need.is_away = false;
  Absence& absence = result.absences[need.absence];
  absence.before = here;
  if (here == absence.after + 1) {  // no run is between its uses, so it may as well stay
    need.last_use = absence.made;   // the end of the stay that followed, until the maker is known
    absence.node = problem_.end();
    need.absence = next_absence_[need.absence];
    // Only fetches follow the run of the reader so far.
    const auto useless = std::find(result.items.rbegin(), result.items.rend(), Item{.node = node, .is_fetch = true});
    result.items.erase(std::next(useless).base());
  }
}

void SwapScan::fetch(Index node, std::uint32_t reader, ScannedSwaps& result) {
  Need& need = needs_[node];
  if (need.last_use == kNone) return;
  is_misplaced_ = is_misplaced_ || first_use_[node] != reader;
  result.items.push_back({.node = node, .is_fetch = true});
  result.absences.push_back({.node = node, .made = need.last_use, .before = 0, .after = reader});
  next_absence_.push_back(need.absence);
  need.absence = static_cast<std::uint32_t>(result.absences.size() - 1);
  need.last_use = kNone;
  need.is_away = true;
  live_ -= problem_.size[node];
}

void SwapScan::run(Index node, std::uint32_t here, ScannedSwaps& result) {
  Need& need = needs_[node];
  if (need.last_use != kNone || need.is_away) {
    if (need.is_away) use(node, here, result);
    live_ -= problem_.size[node];
    --needed_;
    if (need.last_use != here) result.stays.push_back({.node = node, .begin = here, .end = need.last_use});
    for (std::uint32_t at = need.absence; at != kNone; at = next_absence_[at]) {
      Absence& absence = result.absences[at];
      if (absence.made != absence.after) {
        result.stays.push_back({.node = node, .begin = absence.after, .end = absence.made});
      }
      absence.made = here;
    }
    need = {};
  }
  is_repeated_ = is_repeated_ || (has_run_.test(node) && problem_.runs_once[node] != 0);
  has_run_.set(node);
  for (Index input : problem_.inputs(node)) use(input, here, result);
  work_ += 4 + 2 * static_cast<std::int64_t>(problem_.inputs(node).size());
  const std::int64_t load = live_ + problem_.own_load[node];
  result.items.push_back({.node = node, .is_fetch = false});
  result.runs.push_back(node);
  result.loads.push_back(load);
  if (load > problem_.budget) result.excess += static_cast<double>(load - problem_.budget);
}

bool SwapScan::walk_back(ScannedSwaps& result) {
  result.items.clear();
  result.runs.clear();
  result.loads.clear();
  result.stays.clear();
  result.absences.clear();
  result.excess = 0;
  next_absence_.clear();
  live_ = 0;
  needed_ = 0;
  is_misplaced_ = false;
  is_repeated_ = false;
  for (const Item& item : placed_) left_[item.node] += item.is_fetch ? 0 : 1;
  for (std::size_t at = placed_.size(); at-- > 0;) {
    const Item& item = placed_[at];
    const auto here = static_cast<std::uint32_t>(result.runs.size());
    if (item.is_fetch) {
      fetch(item.node, here - 1, result);
      continue;
    }
    const bool is_first = --left_[item.node] == 0;
    const Need& need = needs_[item.node];
    const bool is_needed = need.last_use != kNone || need.is_away;
    if (is_needed || (is_first && !has_run_.test(item.node))) run(item.node, here, result);
  }
  work_ += static_cast<std::int64_t>(2 * placed_.size());
  for (Index node : result.runs) has_run_.reset(node);
  return !is_misplaced_;
}

// Turns positions that count from the end into positions that count from the begin.
void SwapScan::complete(ScannedSwaps& result) {
  const auto last = static_cast<std::uint32_t>(result.runs.size() - 1);
  const auto removed = std::remove_if(result.absences.begin(), result.absences.end(),
                                      [&](const Absence& absence) { return absence.node == problem_.end(); });
  result.absences.erase(removed, result.absences.end());
  std::reverse(result.absences.begin(), result.absences.end());
  for (Absence& absence : result.absences) {
    absence.made = last - absence.made;
    absence.before = last - absence.before;
    absence.after = last - absence.after;
  }
  for (Stay& stay : result.stays) {
    stay.begin = last - stay.begin;
    stay.end = last - stay.end;
  }
  std::reverse(result.items.begin(), result.items.end());
  std::reverse(result.runs.begin(), result.runs.end());
  std::reverse(result.loads.begin(), result.loads.end());
  const auto peak = std::max_element(result.loads.begin(), result.loads.end());
  result.peak = *peak;
  result.peak_at = static_cast<std::size_t>(peak - result.loads.begin());
}

bool SwapScan::scan(const Items& items, ScannedSwaps& result) {
  place_fetches(items);
  if (!walk_back(result)) {
    if (needed_ == 0) {
      std::reverse(result.items.begin(), result.items.end());
      place_fetches(result.items);
      static_cast<void>(walk_back(result));
    }
  }
  if (needed_ != 0) std::fill(needs_.begin(), needs_.end(), Need{});
  if (needed_ != 0 || is_repeated_) return false;
  complete(result);
  return true;
}

}  // namespace lowtide::budget_internal
