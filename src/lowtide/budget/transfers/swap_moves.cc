// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/swap_moves.h"

#include <algorithm>

namespace lowtide::budget_internal {
namespace {

constexpr std::size_t kChainLength = 12;

// The item of a run. Requires: there are more runs.
std::size_t item_of(const Items& items, std::size_t run) {
  for (std::size_t at = 0;; ++at) {
    if (!items[at].is_fetch && run-- == 0) return at;
  }
}

// The number of runs before an item.
std::size_t run_of(const Items& items, std::size_t item) {
  return static_cast<std::size_t>(std::count_if(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(item),
                                                [](const Item& other) { return !other.is_fetch; }));
}

bool is_live_before(const ScannedSwaps& now, SwapProblem::Index node, std::size_t run) {
  return std::any_of(now.stays.begin(), now.stays.end(),
                     [&](const Stay& stay) { return stay.node == node && stay.begin < run && run <= stay.end; });
}

}  // namespace

bool SwapMoves::change(const ScannedSwaps& now, Items& candidate) {
  const std::size_t kind = below(100);
  if (kind < 35) return insert(now, candidate);
  if (kind < 60) return remove(now, candidate);
  if (kind < 70) return replace(now, candidate);
  return move(now, candidate);
}

// Drops an output that is live after some run, and fetches it or makes it again before its next reader.
bool SwapMoves::insert(const ScannedSwaps& now, Items& candidate) {
  const std::size_t size = now.runs.size();
  const std::size_t at = now.peak > problem_.budget && random_.chance(60) ? now.peak_at : below(size);
  choices_.clear();
  for (std::size_t choice = 0; choice < now.stays.size(); ++choice) {
    const Stay& stay = now.stays[choice];
    if (stay.begin < at && at < stay.end && !reads(now.runs[at], stay.node)) choices_.push_back(choice);
  }
  if (choices_.empty()) return false;
  const Index node = now.stays[choices_[below(choices_.size())]].node;
  for (Index reader : problem_.readers(node)) is_reader_.set(reader);
  std::size_t to = at + 1;
  while (to < size && !is_reader_.test(now.runs[to])) ++to;
  for (Index reader : problem_.readers(node)) is_reader_.reset(reader);
  if (to == size) return false;
  added_.clear();
  if (problem_.transfer[node] < kForever && (problem_.runs_once[node] != 0 || random_.chance(50))) {
    added_.push_back({.node = node, .is_fetch = true});
  } else {
    if (random_.chance(15)) to = at + 1 + below(to - at);
    collect(now, node, to);
  }
  candidate = now.items;
  candidate.insert(candidate.begin() + static_cast<std::ptrdiff_t>(item_of(now.items, to)), added_.begin(),
                   added_.end());
  return true;
}

// The run of a node, after reruns or fetches of some of its inputs that are not live before a run.
void SwapMoves::collect(const ScannedSwaps& now, Index node, std::size_t to) {
  added_.push_back({.node = node, .is_fetch = false});
  const bool is_whole = random_.chance(50);  // all missing inputs, or each by chance
  const bool has_fetches = random_.chance(50);
  for (std::size_t next = 0; next < added_.size() && next < kChainLength; ++next) {
    if (added_[next].is_fetch) continue;
    for (Index input : problem_.inputs(added_[next].node)) {
      const auto is_input = [&](const Item& item) { return item.node == input; };
      if (std::any_of(added_.begin(), added_.end(), is_input)) continue;
      if (is_live_before(now, input, to) || !(is_whole || random_.chance(40))) continue;
      const bool may_fetch = problem_.runs_once[input] != 0 || (has_fetches && random_.chance(50));
      const bool is_fetch = may_fetch && problem_.transfer[input] < kForever;
      added_.push_back({.node = input, .is_fetch = is_fetch});
    }
  }
  sort_by_first_run(now);
}

// Inputs before their readers, as in the first runs of the sequence.
void SwapMoves::sort_by_first_run(const ScannedSwaps& now) {
  if (added_.size() < 2) return;
  Items sorted;
  for (Index node : now.runs) {
    const auto found = std::find_if(added_.begin(), added_.end(), [&](const Item& item) { return item.node == node; });
    if (found == added_.end() || std::find(sorted.begin(), sorted.end(), *found) != sorted.end()) continue;
    sorted.push_back(*found);
    if (sorted.size() == added_.size()) break;
  }
  added_ = std::move(sorted);
}

// A fetch, or a run of a node that has several.
bool SwapMoves::pick_extra(const ScannedSwaps& now, std::size_t& at) {
  for (Index node : now.runs) ++times_[node];
  choices_.clear();
  for (std::size_t item = 0; item < now.items.size(); ++item) {
    if (now.items[item].is_fetch || times_[now.items[item].node] > 1) choices_.push_back(item);
  }
  for (Index node : now.runs) times_[node] = 0;
  if (choices_.empty()) return false;
  at = choices_[below(choices_.size())];
  return true;
}

bool SwapMoves::remove(const ScannedSwaps& now, Items& candidate) {
  std::size_t at = 0;
  if (!pick_extra(now, at)) return false;
  candidate = now.items;
  candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool SwapMoves::replace(const ScannedSwaps& now, Items& candidate) {
  std::size_t at = 0;
  if (!pick_extra(now, at)) return false;
  const Item item = now.items[at];
  if (!item.is_fetch && problem_.transfer[item.node] == kForever) return false;
  added_.clear();
  if (item.is_fetch) {
    collect(now, item.node, run_of(now.items, at));
  } else {
    added_.push_back({.node = item.node, .is_fetch = true});
  }
  candidate = now.items;
  const auto place = candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(at));
  candidate.insert(place, added_.begin(), added_.end());
  return true;
}

bool SwapMoves::blocks(const Item& item, Index moved, bool is_later) const {
  if (item.node == moved) return true;
  if (item.is_fetch) return false;
  return is_later ? item.node == problem_.end() || reads(item.node, moved) : reads(moved, item.node);
}

bool SwapMoves::move(const ScannedSwaps& now, Items& candidate) {
  const std::size_t from = below(now.items.size() - 1);  // not the end
  if (now.items[from].is_fetch) return false;
  const Index node = now.items[from].node;
  const bool is_later = random_.chance(50);
  std::size_t to = from;
  if (is_later) {
    while (to + 1 < now.items.size() && !blocks(now.items[to + 1], node, true)) ++to;
  } else {
    while (to > 0 && !blocks(now.items[to - 1], node, false)) --to;
  }
  const std::size_t distance = is_later ? to - from : from - to;
  if (distance == 0) return false;
  const std::size_t step =
      random_.chance(30) ? distance : 1 + below(random_.chance(50) ? std::min<std::size_t>(distance, 8) : distance);
  candidate = now.items;
  const auto at = candidate.begin() + static_cast<std::ptrdiff_t>(from);
  if (is_later) {
    std::rotate(at, at + 1, at + 1 + static_cast<std::ptrdiff_t>(step));
  } else {
    std::rotate(at - static_cast<std::ptrdiff_t>(step), at, at + 1);
  }
  return true;
}

bool SwapMoves::reads(Index reader, Index node) const {
  const auto inputs = problem_.inputs(reader);
  return std::find(inputs.begin(), inputs.end(), node) != inputs.end();
}

}  // namespace lowtide::budget_internal
