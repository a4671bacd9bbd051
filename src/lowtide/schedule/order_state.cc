// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/order_state.h"

#include <algorithm>

namespace lowtide::detail {

OrderState::OrderState(const OrderProblem& problem) : problem_(problem), after_(problem.nodes.size()) {
  for (Index node = 0; node < problem.nodes.size(); ++node) {
    for (Index before : problem.nodes[node].before) after_[before].push_back(node);
  }
  reset();
}

void OrderState::reset() {
  const std::size_t count = problem_.nodes.size();
  waiting_.resize(count);
  unused_.resize(problem_.values.size());
  ready_.clear();
  left_ = count;
  live_ = problem_.base;
  for (Index node = 0; node < count; ++node) {
    waiting_[node] = static_cast<std::uint32_t>(problem_.nodes[node].before.size());
    if (waiting_[node] == 0) ready_.push_back(node);
  }
  for (Index value = 0; value < problem_.values.size(); ++value) {
    unused_[value] = problem_.values[value].users;
    if (problem_.values[value].is_there_first) live_ += problem_.values[value].size;
  }
}

std::int64_t OrderState::saved_by(const OrderProblem::Step& step) const {
  std::int64_t dying = 0;
  std::int64_t born = 0;
  for (Index value : step.dying) dying += is_last_use(value) ? problem_.values[value].size : 0;
  for (Index value : step.born) born += is_new(value) ? problem_.values[value].size : 0;
  return std::min(dying, born);
}

std::int64_t OrderState::load_of(const OrderProblem::Step& step) const {
  std::int64_t load = live_ + step.scratch;
  for (Index value : step.values) load += is_new(value) ? problem_.values[value].size : 0;
  return step.born.empty() ? load : load - saved_by(step);
}

void OrderState::touch(const OrderProblem::Step& step) {
  for (Index value : step.values) {
    if (is_new(value)) live_ += problem_.values[value].size;
    if (is_last_use(value)) live_ -= problem_.values[value].size;
    --unused_[value];
  }
}

OrderState::Effect OrderState::effect_of(Index id) {
  const OrderProblem::Node& node = problem_.nodes[id];
  const std::int64_t live = live_;
  Effect effect{.load = live, .change = 0};
  for (const OrderProblem::Step& step : node.steps) {
    if (step.counts) effect.load = std::max(effect.load, load_of(step));
    touch(step);
  }
  effect.change = live_ - live;
  for (const OrderProblem::Step& step : node.steps) {
    for (Index value : step.values) ++unused_[value];
  }
  live_ = live;
  return effect;
}

void OrderState::run(Index id) {
  for (const OrderProblem::Step& step : problem_.nodes[id].steps) touch(step);
  waiting_[id] = kHasRun;
  --left_;
  *std::find(ready_.begin(), ready_.end(), id) = ready_.back();
  ready_.pop_back();
  for (Index after : after_[id]) {
    if (--waiting_[after] == 0) ready_.push_back(after);
  }
}

void OrderState::load(const std::uint64_t* words) {
  reset();
  // In the order of the problem, which is topological.
  ready_.clear();
  for (Index node = 0; node < problem_.nodes.size(); ++node) {
    if ((words[node / 64] >> (node % 64) & 1) == 0) {
      if (waiting_[node] == 0) ready_.push_back(node);
      continue;
    }
    for (const OrderProblem::Step& step : problem_.nodes[node].steps) touch(step);
    waiting_[node] = kHasRun;
    --left_;
    for (Index after : after_[node]) --waiting_[after];
  }
}

void OrderState::store(std::uint64_t* words) const {
  std::fill(words, words + words_for(problem_), 0);
  for (Index node = 0; node < problem_.nodes.size(); ++node) {
    if (has_run(node)) words[node / 64] |= std::uint64_t{1} << (node % 64);
  }
}

}  // namespace lowtide::detail
