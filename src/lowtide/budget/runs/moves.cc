// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/moves.h"

#include <algorithm>
#include <limits>

namespace lowtide::budget_internal {
namespace {

constexpr std::size_t kMostCollected = 24;
constexpr std::size_t kTries = 24;  // to find a live output, or a run above the budget
constexpr std::size_t kNear = 8;    // runs: half of the shifts go no farther
constexpr std::size_t kAhead = 60;  // runs: half of the advances go no farther

}  // namespace

Moves::Moves(const RunProblem& problem, std::uint64_t seed, Timeline& timeline)
    : problem_(problem),
      random_(seed),
      timeline_(timeline),
      rank_(problem.count(), 0),
      is_open_(problem.count(), 0),
      is_replaced_(problem.count(), 0) {
  std::vector<std::size_t> missing(problem.count());
  std::vector<Index> sorted;
  for (Index node = 0; node < problem.count(); ++node) {
    missing[node] = problem.inputs(node).size() + problem.readers_before(node).size();
    if (missing[node] == 0 && problem.is_run(node)) sorted.push_back(node);
  }
  const auto has_run = [&](Index later) {
    if (--missing[later] == 0) sorted.push_back(later);
  };
  for (std::size_t at = 0; at < sorted.size(); ++at) {
    const Index node = sorted[at];
    rank_[node] = static_cast<std::uint32_t>(at);
    problem.for_each_entry(node, [&](Index entry) {
      for (Index reader : problem.readers(entry)) has_run(reader);
    });
    for (Index writer : problem.writers_after(node)) has_run(writer);
  }
}

bool Moves::change(double affordable, bool is_over) {
  const std::size_t kind = below(100);
  if (kind < 22) return insert(affordable, is_over);
  if (kind < 40) return remove();
  if (kind < 55) return advance(affordable);
  if (kind < 70) return exchange(affordable);
  return shift();
}

std::size_t Moves::place_to_drop(bool is_over) {
  const std::size_t length = timeline_.length();
  if (!is_over || !random_.chance(60)) return below(length);
  if (random_.chance(50)) return timeline_.peak_at();
  std::size_t at = below(length);
  const auto budget = static_cast<double>(problem_.budget);
  for (std::size_t tries = 0; tries < kTries && timeline_.load_at(at) <= budget; ++tries) at = below(length);
  return at;
}

unsigned Moves::some_chance(unsigned never) {
  if (random_.chance(never)) return 0;
  return random_.chance(50) ? 100 : 40;
}

bool Moves::insert(double affordable, bool is_over) { return drop(place_to_drop(is_over), affordable); }

bool Moves::drop(std::size_t at, double affordable) {
  if (at == 0) return false;
  const auto inputs = problem_.inputs(timeline_.node_at(at));
  for (std::size_t tries = 0; tries < kTries; ++tries) {
    const std::size_t made = below(at);
    const Index node = timeline_.node_at(made);
    const Index entry = some_entry(node);
    if (timeline_.last_use_at(made, problem_.slot(entry)) <= at) continue;
    if (std::find(inputs.begin(), inputs.end(), entry) != inputs.end()) continue;
    std::size_t to = timeline_.next_reader(entry, at);
    if (random_.chance(15)) to = at + 1 + below(to - at);
    if (!collect(node, to, some_chance(0), affordable)) return false;
    for (Index added : collected_) timeline_.insert(added, to);
    return true;
  }
  return false;
}

Moves::Index Moves::some_entry(Index node) {
  const auto parts = problem_.parts(node);
  if (parts.empty()) return node;
  const std::size_t slot = below(parts.size() + 1);
  return slot == 0 ? node : parts[slot - 1];
}

void Moves::push(Index node) {
  is_open_[node] = 1;
  open_.push_back(node);
  std::push_heap(open_.begin(), open_.end(), [&](Index a, Index b) { return rank_[a] < rank_[b]; });
}

Moves::Index Moves::pop() {
  std::pop_heap(open_.begin(), open_.end(), [&](Index a, Index b) { return rank_[a] < rank_[b]; });
  const Index node = open_.back();
  open_.pop_back();
  is_open_[node] = 0;
  return node;
}

void Moves::clear_open() {
  for (Index node : open_) is_open_[node] = 0;
  open_.clear();
}

bool Moves::loses_use(Index node, std::size_t at) const {
  const std::size_t made = timeline_.latest_run(node, at);
  if (made == at) return false;
  bool is_used = false;
  problem_.for_each_entry(node, [&](Index entry) {
    for (Index reader : problem_.readers(entry)) {
      is_used = is_used || (is_replaced_[reader] == 0 && timeline_.runs_within(reader, made, at));
    }
  });
  return !is_used;
}

bool Moves::runs_too(Index node, Index input, std::size_t at, unsigned percent) {
  const Index maker = problem_.owner(input);
  if (is_open_[maker] != 0) return false;
  // What a rerun writes over a second time must be made again.
  if (problem_.overwriter_of(input) == node && is_replaced_[node] == 0) return true;
  return !timeline_.is_live(input, at) && random_.chance(percent) && !timeline_.is_locked(maker, at);
}

bool Moves::collect(Index node, std::size_t at, unsigned percent, double affordable) {
  collected_.clear();
  if (timeline_.is_locked(node, at)) return false;
  double cost = 0;
  push(node);
  while (!open_.empty()) {
    const Index added = pop();
    collected_.push_back(added);
    // The earlier run will disappear, so this one is not a rerun but the same run at another place.
    is_replaced_[added] = loses_use(added, at) ? 1 : 0;
    if (is_replaced_[added] == 0) cost += static_cast<double>(problem_.cost[added]);
    const bool is_forbidden = is_replaced_[added] == 0 && problem_.runs_once[added] != 0;
    if (is_forbidden || cost > affordable || collected_.size() > kMostCollected) {
      cost = is_forbidden ? std::numeric_limits<double>::infinity() : cost;
      break;
    }
    for (Index input : problem_.inputs(added)) {
      if (runs_too(added, input, at, percent)) push(problem_.owner(input));
    }
    work_ += static_cast<std::int64_t>(30 + 20 * problem_.inputs(added).size());
  }
  clear_open();
  for (Index added : collected_) is_replaced_[added] = 0;
  return cost <= affordable && collected_.size() <= kMostCollected;
}

bool Moves::collect_ahead(Index node, std::size_t at, unsigned percent, double affordable) {
  collected_.clear();
  is_ahead_.clear();
  double cost = 0;
  push(node);
  while (!open_.empty()) {
    const Index added = pop();
    const bool is_ahead = added == node || !timeline_.has_run(added, at);
    collected_.push_back(added);
    is_ahead_.push_back(is_ahead ? 1 : 0);
    if (!is_ahead) cost += static_cast<double>(problem_.cost[added]);
    if (cost > affordable || collected_.size() > kMostCollected) break;
    for (Index input : problem_.inputs(added)) {
      const Index maker = problem_.owner(input);
      if (is_open_[maker] != 0) continue;
      const bool may_rerun = problem_.runs_once[maker] == 0 && !timeline_.is_live(input, at);
      if (!timeline_.has_run(maker, at) || (may_rerun && random_.chance(percent))) push(maker);
    }
    for (Index reader : problem_.readers_before(added)) {
      if (is_open_[reader] == 0 && !timeline_.has_run(reader, at)) push(reader);
    }
    work_ += static_cast<std::int64_t>(30 + 20 * problem_.inputs(added).size());
  }
  clear_open();
  return cost <= affordable && collected_.size() <= kMostCollected;
}

bool Moves::advance(double affordable) {
  if (timeline_.length() < 2) return false;
  const std::size_t from = 1 + below(timeline_.length() - 1);
  const Index node = timeline_.node_at(from);
  const std::size_t at = from - 1 - below(random_.chance(50) ? std::min(from, kAhead) : from);
  if (!collect_ahead(node, at, some_chance(30), affordable)) return false;
  const std::size_t count = collected_.size();
  for (std::size_t added = 0; added < count; ++added) timeline_.insert(collected_[count - 1 - added], at + added);
  // The same runs after the place, readers first, so that each is no longer needed.
  for (std::size_t added = 0; added < count; ++added) {
    if (is_ahead_[added] == 0) continue;
    const std::size_t old = timeline_.next_run(collected_[added], at + count - 1);
    if (old < timeline_.length() && !timeline_.erase(old)) return false;
  }
  return true;
}

bool Moves::remove() {
  const std::vector<Index>& repeated = timeline_.repeated();
  if (repeated.empty()) return false;
  const Index node = repeated[below(repeated.size())];
  return timeline_.erase(timeline_.position_of(node, below(timeline_.times(node))));
}

bool Moves::exchange(double affordable) {
  const std::vector<Index>& repeated = timeline_.repeated();
  if (repeated.empty()) return false;
  const Index node = repeated[below(repeated.size())];
  const std::size_t rerun = 1 + below(timeline_.times(node) - 1);
  const std::int64_t cost = timeline_.cost();
  const std::size_t removed = timeline_.position_of(node, rerun);
  if (!timeline_.erase(removed)) return false;
  timeline_.prune();
  // Now the output of the run before it stays up to there, so another output must go in the meantime.
  const std::size_t from = timeline_.position_of(node, std::min(rerun, timeline_.times(node)) - 1);
  std::size_t last_use = timeline_.last_use_at(from);
  for (Index part : problem_.parts(node)) {
    last_use = std::max(last_use, timeline_.last_use_at(from, problem_.slot(part)));
  }
  const std::size_t until = std::min({removed, last_use, timeline_.length()});
  if (until <= from + 1) return true;
  const std::size_t at =
      random_.chance(50) ? timeline_.peak_within(from + 1, until) : from + 1 + below(until - from - 1);
  return drop(at, affordable + static_cast<double>(cost - timeline_.cost()));
}

std::size_t Moves::step(std::size_t most) {
  if (random_.chance(30)) return most;
  return 1 + below(random_.chance(50) ? std::min(most, kNear) : most);
}

bool Moves::shift() {
  const std::size_t from = below(timeline_.length());
  return random_.chance(50) ? shift_later(from) : shift_earlier(from);
}

bool Moves::shift_later(std::size_t from) {
  const Index node = timeline_.node_at(from);
  std::size_t end = timeline_.next_run(node, from);
  problem_.for_each_entry(node, [&](Index entry) { end = std::min(end, timeline_.next_reader(entry, from)); });
  for (Index writer : problem_.writers_after(node)) end = std::min(end, timeline_.next_run(writer, from));
  const std::size_t most = end - 1 - from;
  if (most == 0) return false;
  timeline_.insert(node, from + step(most) + 1);
  return timeline_.erase(from);
}

bool Moves::shift_earlier(std::size_t from) {
  const Index node = timeline_.node_at(from);
  std::size_t least = 0;
  const auto stay_after = [&](Index other) {
    const std::size_t at = timeline_.latest_run(other, from);
    if (at != from) least = std::max(least, at + 1);
  };
  for (Index input : problem_.inputs(node)) stay_after(problem_.owner(input));
  for (Index reader : problem_.readers_before(node)) stay_after(reader);
  stay_after(node);
  if (least == from) return false;
  timeline_.insert(node, from - step(from - least));
  return timeline_.erase(from + 1);
}

}  // namespace lowtide::budget_internal
