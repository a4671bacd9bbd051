// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/order_line.h"

#include <algorithm>
#include <utility>

namespace lowtide::detail {

OrderLine::OrderLine(const OrderProblem& problem, std::vector<Index> order)
    : problem_(problem),
      order_(std::move(order)),
      first_(problem.values.size(), static_cast<std::int64_t>(order_.size())),
      last_(problem.values.size(), -1),
      live_(order_.size() + 1, problem.base),
      load_(order_.size(), 0) {
  for (std::size_t step = 0; step < order_.size(); ++step) {
    for (Index value : problem_.nodes[order_[step]].steps[0].values) {
      first_[value] = std::min(first_[value], static_cast<std::int64_t>(step));
      last_[value] = static_cast<std::int64_t>(step);
    }
  }
  for (Index value = 0; value < problem_.values.size(); ++value) {
    const OrderProblem::Value& one = problem_.values[value];
    if (one.is_there_first) first_[value] = -1;
    if (one.is_kept) last_[value] = static_cast<std::int64_t>(order_.size());
    if (one.is_there_first) live_[0] += one.size;
  }
  for (std::size_t step = 0; step < order_.size(); ++step) find_load(step);
}

std::int64_t OrderLine::peak() const {
  return load_.empty() ? live_[0] : *std::max_element(load_.begin(), load_.end());
}

void OrderLine::find_load(std::size_t step) {
  const OrderProblem::Step& node = problem_.nodes[order_[step]].steps[0];
  const auto at = static_cast<std::int64_t>(step);
  std::int64_t born = 0;
  std::int64_t died = 0;
  for (Index value : node.values) {
    if (first_[value] == at) born += problem_.values[value].size;
    if (last_[value] == at) died += problem_.values[value].size;
  }
  std::int64_t overwritten = 0;
  std::int64_t written = 0;
  for (Index value : node.dying) overwritten += last_[value] == at ? problem_.values[value].size : 0;
  for (Index value : node.born) written += first_[value] == at ? problem_.values[value].size : 0;
  load_[step] = live_[step] + born + node.scratch - std::min(overwritten, written);
  live_[step + 1] = live_[step] + born - died;
  work_ += static_cast<std::int64_t>(node.values.size() + node.dying.size() + node.born.size()) + 1;
}

bool OrderLine::comes_after(Index node, Index other) const {
  const std::vector<Index>& before = problem_.nodes[node].before;
  return std::binary_search(before.begin(), before.end(), other);
}

bool OrderLine::may_exchange(std::size_t step) const { return !comes_after(order_[step + 1], order_[step]); }

void OrderLine::move_value(Index value, std::int64_t from, std::int64_t to) {
  if (first_[value] == from) first_[value] = to;
  if (last_[value] == from) last_[value] = to;
}

// A value that both touch stays where it is: its first and last user is one of the two or none.
void OrderLine::exchange(std::size_t step) {
  const std::vector<Index>& ahead = problem_.nodes[order_[step]].steps[0].values;
  const std::vector<Index>& behind = problem_.nodes[order_[step + 1]].steps[0].values;
  const auto at = static_cast<std::int64_t>(step);
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < ahead.size() || b < behind.size()) {
    if (b == behind.size() || (a < ahead.size() && ahead[a] < behind[b])) {
      move_value(ahead[a++], at, at + 1);
    } else if (a == ahead.size() || behind[b] < ahead[a]) {
      move_value(behind[b++], at + 1, at);
    } else {
      ++a, ++b;
    }
  }
  std::swap(order_[step], order_[step + 1]);
  find_load(step);
  find_load(step + 1);
}

}  // namespace lowtide::detail
