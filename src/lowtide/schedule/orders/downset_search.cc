// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/downset_search.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"

namespace lowtide::schedule_internal {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t kAdd = 100;  // work for a set that is looked up

// Sets have numbers of 32 bits.
std::int64_t sets_within(std::int64_t bytes, std::size_t words) {
  const std::int64_t each = DownsetSearch::kBytesPerSet + static_cast<std::int64_t>(8 * words);
  return std::clamp<std::int64_t>(bytes / each, 1, std::numeric_limits<std::int32_t>::max());
}

// Runs all nodes that may run, until a whole round over the ready nodes finds none. One node may make another ready, so
// this takes several rounds. The result does not depend on the sequence.
template <typename MayRun>
void run_all(OrderState& state, const MayRun& may_run) {
  std::size_t at = 0;
  for (std::size_t idle = 0; idle < state.ready().size();) {
    if (at >= state.ready().size()) at = 0;
    const OrderProblem::Index node = state.ready()[at];
    if (may_run(node)) {
      state.run(node);
      idle = 0;
    } else {
      ++at;
      ++idle;
    }
  }
}

}  // namespace

DownsetSearch::DownsetSearch(const OrderProblem& problem, std::int64_t level, const Options& options)
    : problem_(problem),
      bound_(level),
      level_(level),
      stride_(options.stride),
      most_sets_(sets_within(options.bytes, OrderState::words_for(problem))),
      state_(problem),
      table_(std::max<std::size_t>(OrderState::words_for(problem), 1)) {
  take_safe_steps();
  add(kNone, kNone);
}

void DownsetSearch::run(std::int64_t work, std::int64_t limit) {
  limit_ = limit;
  const std::int64_t before = this->work();
  while (!is_solved() && bound_ < limit_ && !is_full() && this->work() - before < work) {
    if (open_.empty()) {
      rise();
    } else {
      go_on();
    }
  }
}

void DownsetSearch::open(Index set, std::int64_t lowest) {
  open_.push_back({.set = set, .lowest = lowest, .last = {-kMost, 0}});
}

// Called when everything within the level is known, or at least everything below the lowest waiting step.
void DownsetSearch::rise() {
  if (waiting_.empty() || waiting_.top().first >= limit_) {
    bound_ = limit_;
    return;
  }
  const auto [load, set] = waiting_.top();
  waiting_.pop();
  bound_ = std::max(bound_, load);
  if (load > level_) level_ = std::max(load, std::min(level_ + stride_, limit_ - 1));
  open(set, load);
}

// Takes the next step of the last open set. If no step within the level is left, its lowest step above the level waits.
void DownsetSearch::go_on() {
  Open& last = open_.back();
  const Index set = last.set;
  state_.go_to(table_.words(set));
  work_ += state_.look() * static_cast<std::int64_t>(state_.ready().size());
  std::optional<std::pair<std::int64_t, Index>> next;
  Waiting above{limit_, set};
  for (Index node : state_.ready()) {
    const auto [load, change] = state_.effect_of(node);
    if (load > level_) {
      above.first = std::min(above.first, load);
      continue;
    }
    // If changes are equal, the node with the highest number is first.
    const std::pair<std::int64_t, Index> step{change, ~node};
    if (load >= last.lowest && step > last.last && (!next || step < *next)) next = step;
  }
  if (next) {
    last.last = *next;
    return take(set, ~next->second);
  }
  open_.pop_back();
  if (above.first < limit_) waiting_.push(above);
}

// Requires: the state is that of the set.
void DownsetSearch::take(Index set, Index node) {
  state_.run(node);
  take_safe_steps();
  add(set, node);
}

bool DownsetSearch::is_safe(OrderState& state, Index node) const {
  const auto [load, change] = state.effect_of(node);
  return change <= 0 && load <= level_;
}

void DownsetSearch::take_safe_steps() {
  run_all(state_, [&](Index node) {
    work_ += state_.look();
    return is_safe(state_, node);
  });
}

void DownsetSearch::add(Index parent, Index chosen) {
  const Index set = table_.size();
  work_ += kAdd + static_cast<std::int64_t>(state_.words().size());
  if (!table_.add(state_.hash(), state_.words())) return;
  parents_.push_back(parent);
  chosen_.push_back(chosen);
  open(set, -kMost);
  if (state_.left() == 0) goal_ = set;
}

// Goes from each set to the next by the chosen step and the safe steps after it. The level may have risen since then;
// steps that were safe are still safe.
std::vector<DownsetSearch::Index> DownsetSearch::order() const {
  LOWTIDE_CHECK(is_solved(), "an order is read only after it was found");
  std::vector<Index> sets;
  for (Index set = goal_; set != kNone; set = parents_[set]) sets.push_back(set);
  std::reverse(sets.begin(), sets.end());
  std::vector<Index> order;
  OrderState state(problem_);
  for (Index set : sets) {
    const std::uint64_t* words = table_.words(set);
    if (chosen_[set] != kNone) {
      state.run(chosen_[set]);
      order.push_back(chosen_[set]);
    }
    run_all(state, [&](Index node) {
      const bool is_inside = (words[node / 64] >> (node % 64) & 1) != 0;
      if (!is_inside || !is_safe(state, node)) return false;
      order.push_back(node);
      return true;
    });
  }
  LOWTIDE_CHECK(order.size() == problem_.nodes.size(), "the path to a complete set holds every node");
  return order;
}

}  // namespace lowtide::schedule_internal
