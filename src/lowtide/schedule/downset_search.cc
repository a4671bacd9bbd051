// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/downset_search.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"

namespace lowtide {

using detail::OrderState;

DownsetSearch::DownsetSearch(const OrderProblem& problem, std::int64_t level)
    : problem_(problem), words_a_set_(OrderState::words_for(problem)), level_(level), state_(problem) {
  work_a_set_ = static_cast<std::int64_t>(problem.nodes.size() + problem.values.size());
  for (const OrderProblem::Node& node : problem.nodes) {
    work_a_set_ += static_cast<std::int64_t>(node.before.size());
    for (const OrderProblem::Step& step : node.steps) work_a_set_ += static_cast<std::int64_t>(step.values.size());
  }
  take_safe_steps(state_);
  add(state_, kNone, kNone);
}

void DownsetSearch::run(std::int64_t work, std::int64_t limit) {
  limit_ = limit;
  const std::int64_t last = work_ + work;
  while (!is_solved() && level_ < limit_ && work_ < last) {
    if (!open_.empty()) {
      const Index set = open_.back();
      open_.pop_back();
      expand(set);
      continue;
    }
    // All within the level is known.
    if (waiting_.empty()) {
      level_ = limit_;
      return;
    }
    const auto [load, set, node] = waiting_.top();
    if (load >= limit_) {
      level_ = limit_;
      return;
    }
    waiting_.pop();
    level_ = std::max(level_, load);
    take(set, node);
  }
}

// Tried first: what leaves the fewest bytes.
void DownsetSearch::expand(Index set) {
  state_.load(words(set));
  work_ += work_a_set_;
  std::vector<std::pair<std::int64_t, Index>> within;
  for (Index node : state_.ready()) {
    const auto [load, change] = state_.effect_of(node);
    if (load <= level_) {
      within.emplace_back(-change, node);
    } else if (load < limit_) {
      waiting_.emplace(load, set, node);
    }
  }
  std::sort(within.begin(), within.end());
  for (const auto& [change, node] : within) {
    take(set, node);
    if (is_solved()) return;
  }
}

void DownsetSearch::take(Index set, Index node) {
  state_.load(words(set));
  state_.run(node);
  take_safe_steps(state_);
  work_ += work_a_set_;
  add(state_, set, node);
}

bool DownsetSearch::is_safe(OrderState& state, Index node) const {
  const auto [load, change] = state.effect_of(node);
  return change <= 0 && load <= level_;
}

void DownsetSearch::take_safe_steps(OrderState& state) const {
  for (std::size_t at = 0; at < state.ready().size();) {
    const Index node = state.ready()[at];
    if (is_safe(state, node)) {
      state.run(node);
      at = 0;  // what it freed may have made others safe
    } else {
      ++at;
    }
  }
}

namespace {

// Two sets are taken for the same if their hashes are; of 2^64, that a pair of ten million agree by chance is one in
// 10^5.
std::size_t hash_of(const std::uint64_t* words, std::size_t count) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (std::size_t at = 0; at < count; ++at) {
    hash = (hash ^ words[at]) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

void DownsetSearch::add(const OrderState& state, Index parent, Index chosen) {
  const auto set = static_cast<Index>(parents_.size());
  words_.resize(words_.size() + words_a_set_);
  state.store(words_.data() + set * words_a_set_);
  if (!known_.insert(hash_of(words(set), words_a_set_)).second) {
    words_.resize(words_.size() - words_a_set_);
    return;
  }
  parents_.push_back(parent);
  chosen_.push_back(chosen);
  open_.push_back(set);
  if (state.left() == 0) goal_ = set;
}

// From each set to the next: the step that was chosen, and what was safe after it. The level may have risen since: what
// was safe then is so still.
std::vector<DownsetSearch::Index> DownsetSearch::order() const {
  LOWTIDE_CHECK(is_solved(), "an order is asked for after it was found");
  std::vector<Index> sets;
  for (Index set = goal_; set != kNone; set = parents_[set]) sets.push_back(set);
  std::reverse(sets.begin(), sets.end());
  std::vector<Index> order;
  OrderState state(problem_);
  const auto run = [&](Index node) {
    state.run(node);
    order.push_back(node);
  };
  for (Index set : sets) {
    if (chosen_[set] != kNone) run(chosen_[set]);
    for (std::size_t at = 0; at < state.ready().size();) {
      const Index node = state.ready()[at];
      const bool is_inside = (words(set)[node / 64] >> (node % 64) & 1) != 0;
      if (is_inside && is_safe(state, node)) {
        run(node);
        at = 0;
      } else {
        ++at;
      }
    }
  }
  LOWTIDE_CHECK(order.size() == problem_.nodes.size(), "the way to a complete set holds every node");
  return order;
}

}  // namespace lowtide
