// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/swap_scan.h"

#include <algorithm>
#include <iterator>

namespace lowtide::budget_internal {

SwapScan::SwapScan(const SwapProblem& problem)
    : problem_(problem),
      rules_(problem),
      needs_(problem.count()),
      left_(problem.count(), 0),
      first_use_(problem.count(), 0),
      has_run_(problem.count()),
      comes_back_(problem.count()) {
  for (Index entry : problem.fetched()) has_run_.set(entry);  // it may come back at any time
}

// Moves each fetch to the next run that reads its entry. Drops it if the entry is made before that, or was never made.
// Adds the first fetch of what begins outside.
void SwapScan::place_fetches(const Items& items) {
  placed_.clear();
  for (Index entry : problem_.fetched()) comes_back_.set(entry);
  for (const Item& item : items) {
    if (item.is_fetch) {
      if (has_run_.test(problem_.owner(item.node))) comes_back_.set(item.node);
      continue;
    }
    for (Index input : problem_.inputs(item.node)) {
      if (!comes_back_.test(input)) continue;
      comes_back_.reset(input);
      placed_.push_back({.node = input, .is_fetch = true});
    }
    problem_.for_each_entry(item.node, [&](Index entry) { comes_back_.reset(entry); });
    has_run_.set(item.node);
    placed_.push_back(item);
    work_ += 2 + static_cast<std::int64_t>(problem_.inputs(item.node).size());
  }
  for (const Item& item : items) {
    if (item.is_fetch) {
      comes_back_.reset(item.node);
    } else {
      has_run_.reset(item.node);
    }
  }
}

void SwapScan::use(Index entry, std::uint32_t here, ScannedSwaps& result) {
  Need& need = needs_[entry];
  first_use_[entry] = here;
  if (need.last_use != kNone) return;
  live_ += problem_.size[entry];
  need.last_use = here;
  if (!need.is_away) {
    ++needed_;
    return;
  }
  need.is_away = false;
  Absence& absence = result.absences[need.absence];
  absence.before = here;
  if (here == absence.after + 1 && problem_.overwriter_of(entry) != running_) {
    // No run is between its uses, so it may as well stay.
    need.last_use = absence.made;  // the end of the stay that followed, until the maker is known
    absence.entry = problem_.end();
    need.absence = next_absence_[need.absence];
    // Only fetches follow the run of the reader so far.
    const auto useless = std::find(result.items.rbegin(), result.items.rend(), Item{.node = entry, .is_fetch = true});
    result.items.erase(std::next(useless).base());
  } else if (problem_.is_fetched_once(entry)) {
    is_broken_ = true;
  }
}

void SwapScan::fetch(Index entry, std::uint32_t reader, ScannedSwaps& result) {
  Need& need = needs_[entry];
  if (need.last_use == kNone) return;
  is_misplaced_ = is_misplaced_ || first_use_[entry] != reader;
  result.items.push_back({.node = entry, .is_fetch = true});
  result.absences.push_back({.entry = entry, .made = need.last_use, .before = 0, .after = reader});
  next_absence_.push_back(need.absence);
  need.absence = static_cast<std::uint32_t>(result.absences.size() - 1);
  need.last_use = kNone;
  need.is_away = true;
  live_ -= problem_.size[entry];
}

// Completes the absences of an output, now that its maker is known.
void SwapScan::take_absences(Index entry, std::uint32_t made, ScannedSwaps& result) {
  for (std::uint32_t at = needs_[entry].absence; at != kNone; at = next_absence_[at]) {
    Absence& absence = result.absences[at];
    if (absence.made != absence.after) {
      result.stays.push_back({.entry = entry, .begin = absence.after, .end = absence.made});
    }
    absence.made = made;
  }
}

inline void SwapScan::make(Index entry, std::uint32_t here, ScannedSwaps& result) {
  Need& need = needs_[entry];
  if (need.is_away) use(entry, here, result);
  live_ -= problem_.size[entry];
  --needed_;
  if (need.last_use != here) result.stays.push_back({.entry = entry, .begin = here, .end = need.last_use});
  if (need.absence != kNone) take_absences(entry, here, result);
  need = {};
}

// The first copy of a fetched entry needs no item.
void SwapScan::begin_outside(Index entry, ScannedSwaps& result) {
  if (!needs_[entry].is_away) return;
  --needed_;
  const auto first = std::find(result.items.rbegin(), result.items.rend(), Item{.node = entry, .is_fetch = true});
  result.items.erase(std::next(first).base());
  result.absences[needs_[entry].absence].before = Absence::kOutside;
  take_absences(entry, Absence::kOutside, result);
  needs_[entry] = {};
}

// Whether a run may be here, seen from the end. What it writes over is needed no more, unless another copy comes in.
bool SwapScan::keeps_rules(Index node) {
  for (Index input : problem_.inputs(node)) {
    if (problem_.overwriter_of(input) != node) continue;
    const Need& need = needs_[input];
    if (problem_.is_fetched(input) ? need.last_use != kNone : need.is_needed()) return false;
  }
  return rules_.keep(node, [&](Index reader) { return has_run_.test(reader); });
}

void SwapScan::run(Index node, std::uint32_t here, ScannedSwaps& result) {
  running_ = node;
  problem_.for_each_entry(node, [&](Index entry) {
    if (needs_[entry].is_needed()) make(entry, here, result);
  });
  is_broken_ = is_broken_ || (problem_.runs_once[node] != 0 && has_run_.test(node));
  if (problem_.has_rules() && problem_.is_ruled(node) && !keeps_rules(node)) is_broken_ = true;
  has_run_.set(node);
  for (Index input : problem_.inputs(node)) use(input, here, result);
  work_ += 4 + 2 * static_cast<std::int64_t>(problem_.inputs(node).size());
  const std::int64_t load = live_ + problem_.own_load[node];
  result.items.push_back({.node = node, .is_fetch = false});
  result.runs.push_back(node);
  result.loads.push_back(load);
  if (load > problem_.budget) result.excess += static_cast<double>(load - problem_.budget);
}

// Whether a run must stay for one of its parts, or for its group.
bool SwapScan::must_stay_for_more(Index node) const {
  if (problem_.group_of(node) != SwapProblem::kNone) return true;
  const auto parts = problem_.parts(node);
  return std::any_of(parts.begin(), parts.end(), [&](Index part) { return needs_[part].is_needed(); });
}

bool SwapScan::walk_back(ScannedSwaps& result) {
  result.items.clear();
  result.runs.clear();
  result.loads.clear();
  result.stays.clear();
  result.absences.clear();
  result.excess = 0;
  next_absence_.clear();
  rules_.begin();
  live_ = 0;
  needed_ = 0;
  is_misplaced_ = false;
  is_broken_ = false;
  for (const Item& item : placed_) left_[item.node] += item.is_fetch ? 0 : 1;
  const bool has_more = problem_.most_parts() > 0 || !problem_.groups().empty();
  for (std::size_t at = placed_.size(); at-- > 0;) {
    const Item& item = placed_[at];
    const auto here = static_cast<std::uint32_t>(result.runs.size());
    if (item.is_fetch) {
      fetch(item.node, here - 1, result);
      continue;
    }
    const bool is_first = --left_[item.node] == 0;
    const bool must_stay = needs_[item.node].is_needed() || (has_more && must_stay_for_more(item.node));
    if (must_stay || (is_first && !has_run_.test(item.node))) run(item.node, here, result);
  }
  for (Index entry : problem_.fetched()) begin_outside(entry, result);
  is_broken_ = is_broken_ || !rules_.are_groups_done();
  work_ += static_cast<std::int64_t>(2 * placed_.size());
  for (Index node : result.runs) has_run_.reset(node);
  return !is_misplaced_;
}

// The bytes of a seed are live from the first run of its node to the last one, if there are two.
void SwapScan::add_seeds(ScannedSwaps& result) {
  changes_.assign(result.runs.size() + 1, 0);
  for (std::uint32_t at = 0; at < result.runs.size(); ++at) {
    const Index node = result.runs[at];
    if (problem_.seed[node] == 0) continue;
    const std::uint32_t times = left_[node]++;
    if (times > 0) {
      changes_[first_use_[node] + (times > 1 ? 1 : 0)] += problem_.seed[node];
      changes_[at + 1] -= problem_.seed[node];
    }
    first_use_[node] = at;  // the latest run
  }
  for (Index node : result.runs) left_[node] = 0;
  std::int64_t seeds = 0;
  result.excess = 0;
  for (std::size_t at = 0; at < result.runs.size(); ++at) {
    seeds += changes_[at];
    result.loads[at] += seeds;
    if (result.loads[at] > problem_.budget) {
      result.excess += static_cast<double>(result.loads[at] - problem_.budget);
    }
  }
}

// Turns positions that count from the end into positions that count from the begin.
void SwapScan::complete(ScannedSwaps& result) {
  const auto last = static_cast<std::uint32_t>(result.runs.size() - 1);
  const auto removed = std::remove_if(result.absences.begin(), result.absences.end(),
                                      [&](const Absence& absence) { return absence.entry == problem_.end(); });
  result.absences.erase(removed, result.absences.end());
  std::reverse(result.absences.begin(), result.absences.end());
  for (Absence& absence : result.absences) {
    if (absence.made != Absence::kOutside) absence.made = last - absence.made;
    if (absence.before != Absence::kOutside) absence.before = last - absence.before;
    absence.after = last - absence.after;
  }
  for (Stay& stay : result.stays) {
    stay.begin = last - stay.begin;
    stay.end = last - stay.end;
  }
  std::reverse(result.items.begin(), result.items.end());
  std::reverse(result.runs.begin(), result.runs.end());
  std::reverse(result.loads.begin(), result.loads.end());
  if (problem_.has_seeds()) add_seeds(result);
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
  if (needed_ != 0 || is_broken_) return false;
  complete(result);
  return true;
}

}  // namespace lowtide::budget_internal
