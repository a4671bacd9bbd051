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

std::int64_t OrderState::saved_by(const OrderProblem::Node& node) const {
  std::int64_t dying = 0;
  std::int64_t born = 0;
  for (Index value : node.dying) dying += is_last_use(value) ? problem_.values[value].size : 0;
  for (Index value : node.born) born += is_new(value) ? problem_.values[value].size : 0;
  return std::min(dying, born);
}

std::int64_t OrderState::load_of(Index id) const {
  const OrderProblem::Node& node = problem_.nodes[id];
  std::int64_t load = live_ + node.scratch;
  for (Index value : node.values) load += is_new(value) ? problem_.values[value].size : 0;
  return node.born.empty() ? load : load - saved_by(node);
}

std::int64_t OrderState::change_of(Index id) const {
  std::int64_t change = 0;
  for (Index value : problem_.nodes[id].values) {
    if (is_new(value)) change += problem_.values[value].size;
    if (is_last_use(value)) change -= problem_.values[value].size;
  }
  return change;
}

void OrderState::run(Index id) {
  live_ += change_of(id);
  for (Index value : problem_.nodes[id].values) --unused_[value];
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
    live_ += change_of(node);
    for (Index value : problem_.nodes[node].values) --unused_[value];
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
