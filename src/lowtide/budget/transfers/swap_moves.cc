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

bool is_live_before(const ScannedSwaps& now, SwapProblem::Index entry, std::size_t run) {
  return std::any_of(now.stays.begin(), now.stays.end(),
                     [&](const Stay& stay) { return stay.entry == entry && stay.begin < run && run <= stay.end; });
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
    if (stay.begin < at && at < stay.end && !reads(now.runs[at], stay.entry)) choices_.push_back(choice);
  }
  if (choices_.empty()) return false;
  const Index entry = now.stays[choices_[below(choices_.size())]].entry;
  const Index maker = problem_.owner(entry);
  for (Index reader : problem_.readers(entry)) is_marked_.set(reader);
  std::size_t to = at + 1;
  while (to < size && !is_marked_.test(now.runs[to])) ++to;
  for (Index reader : problem_.readers(entry)) is_marked_.reset(reader);
  if (to == size) return false;
  added_.clear();
  if (problem_.transfer[entry] < kForever && (problem_.runs_once[maker] != 0 || random_.chance(50))) {
    added_.push_back({.node = entry, .is_fetch = true});
  } else {
    if (random_.chance(15)) to = at + 1 + below(to - at);
    collect(now, maker, to);
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
      const Index maker = problem_.owner(input);
      const auto brings_input = [&](const Item& item) { return item.node == (item.is_fetch ? input : maker); };
      if (std::any_of(added_.begin(), added_.end(), brings_input)) continue;
      // What a run writes over a second time is another output.
      const bool is_overwritten = problem_.overwriter_of(input) == added_[next].node;
      if (!is_overwritten && (is_live_before(now, input, to) || !(is_whole || random_.chance(40)))) continue;
      const bool may_fetch = problem_.runs_once[maker] != 0 || (has_fetches && !is_overwritten && random_.chance(50));
      const bool is_fetch = may_fetch && problem_.transfer[input] < kForever;
      added_.push_back({.node = is_fetch ? input : maker, .is_fetch = is_fetch});
    }
  }
  sort_by_first_run(now);
}

// Inputs before their readers, as in the first runs of the sequence.
void SwapMoves::sort_by_first_run(const ScannedSwaps& now) {
  if (added_.size() < 2) return;
  Items sorted;
  for (const Item& item : added_) {
    if (item.is_fetch && problem_.is_fetched(item.node)) sorted.push_back(item);  // it has no run
  }
  for (Index node : now.runs) {
    for (const Item& item : added_) {
      if (problem_.owner(item.node) != node || std::find(sorted.begin(), sorted.end(), item) != sorted.end()) continue;
      sorted.push_back(item);
    }
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
  if (item.is_fetch && problem_.is_fetched(item.node)) return false;  // no run makes it
  added_.clear();
  if (item.is_fetch) {
    collect(now, problem_.owner(item.node), run_of(now.items, at));
  } else {
    problem_.for_each_entry(item.node, [&](Index entry) {
      if (problem_.transfer[entry] < kForever) added_.push_back({.node = entry, .is_fetch = true});
    });
    if (added_.empty()) return false;
  }
  candidate = now.items;
  const auto place = candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(at));
  candidate.insert(place, added_.begin(), added_.end());
  return true;
}

template <typename Act>
void SwapMoves::for_each_block(Index moved, bool is_later, Act act) const {
  act(moved);
  if (is_later) {
    act(problem_.end());
    problem_.for_each_entry(moved, [&](Index entry) {
      for (Index reader : problem_.readers(entry)) act(reader);
    });
    for (Index writer : problem_.writers_after(moved)) act(writer);
  } else {
    for (Index input : problem_.inputs(moved)) act(problem_.owner(input));
    for (Index reader : problem_.readers_before(moved)) act(reader);
  }
  if (problem_.group_of(moved) == SwapProblem::kNone) return;
  for (Index other : problem_.groups()[problem_.group_of(moved)]) act(other);
}

bool SwapMoves::blocks(const Item& item, Index moved) const {
  return item.is_fetch ? problem_.owner(item.node) == moved : is_marked_.test(item.node);
}

bool SwapMoves::move(const ScannedSwaps& now, Items& candidate) {
  if (now.items.size() < 2) return false;
  const std::size_t from = below(now.items.size() - 1);  // not the end
  if (now.items[from].is_fetch) return false;
  const Index node = now.items[from].node;
  const bool is_later = random_.chance(50);
  for_each_block(node, is_later, [&](Index other) { is_marked_.set(other); });
  std::size_t to = from;
  if (is_later) {
    while (to + 1 < now.items.size() && !blocks(now.items[to + 1], node)) ++to;
  } else {
    while (to > 0 && !blocks(now.items[to - 1], node)) --to;
  }
  for_each_block(node, is_later, [&](Index other) { is_marked_.reset(other); });
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

bool SwapMoves::reads(Index reader, Index entry) const {
  const auto inputs = problem_.inputs(reader);
  return std::find(inputs.begin(), inputs.end(), entry) != inputs.end();
}

}  // namespace lowtide::budget_internal
