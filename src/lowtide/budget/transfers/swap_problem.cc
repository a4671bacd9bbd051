// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/swap_problem.h"

#include <algorithm>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"

namespace lowtide::budget_internal {
namespace {

// kForever if it is longer than the limit.
std::int64_t copy_time(std::int64_t bytes, std::int64_t bytes_per_second, std::int64_t latency) {
  const Int128 whole = nanoseconds_to_move(bytes, bytes_per_second) + latency;
  return whole > kMaxTime ? kForever : static_cast<std::int64_t>(whole);
}

BudgetProblem with_end(const BudgetProblem& problem) {
  BudgetProblem result = problem;
  BudgetNode end{.reads = {}, .runs_once = true};
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    if (!problem.nodes[id].is_output) continue;
    end.reads.push_back(id);
    result.nodes[id].is_output = false;
  }
  result.nodes.push_back(std::move(end));
  return result;
}

}  // namespace

SwapProblem::SwapProblem(const BudgetProblem& problem, const TransferLink& link)
    : RunProblem(with_end(problem)),
      time(count(), 0),
      transfer(count(), kForever),
      link_of(count(), kMainLink),
      is_fetched_once_(count(), 0) {
  find_times(problem, link);
  LOWTIDE_CHECK(base_time <= kMaxTime && fetch_time <= kMaxTime,
                "the time of one run of each node is within its limit");
  least_time = std::max(base_time, link_time());
}

void SwapProblem::find_times(const BudgetProblem& problem, const TransferLink& link) {
  std::vector<std::uint32_t> number_of(problem.links.size(), kMainLink);
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const BudgetNode& node = problem.nodes[id];
    const Index entry = id.value();
    if (node.view_of || node.is_state) continue;
    if (node.fetched_over) {
      const FetchLink& from = problem.links[*node.fetched_over];
      transfer[entry] = copy_time(node.size.count(), from.bytes_per_second, from.latency_nanoseconds);
      fetch_time = must_add(fetch_time, transfer[entry]);
      std::uint32_t& number = number_of[*node.fetched_over];
      if (number == kMainLink) number = static_cast<std::uint32_t>(link_count_++);
      link_of[entry] = number;
      is_fetched_once_[entry] = runs_once[entry];
      runs_once[entry] = 1;
      (readers(entry).empty() ? unread_ : fetched_).push_back(entry);
      continue;
    }
    time[entry] = must_multiply(node.cost, link.nanoseconds_per_cost);
    base_time = must_add(base_time, time[entry]);
    // What is empty saves nothing elsewhere.
    if (node.size == Bytes(0)) continue;
    transfer[entry] = copy_time(node.size.count(), link.bytes_per_second, link.latency_nanoseconds);
  }
}

// The first copies of a link follow each other, and something reads the last of them.
std::int64_t SwapProblem::link_time() const {
  std::vector<std::int64_t> copies(link_count_, 0);
  std::vector<std::int64_t> last(link_count_, kForever);
  const auto add = [&](Index entry, std::int64_t after) {
    copies[link_of[entry]] += transfer[entry];
    last[link_of[entry]] = std::min(last[link_of[entry]], after);
  };
  for (Index entry : unread_) add(entry, 0);
  for (Index entry : fetched_) {
    std::int64_t after = kForever;
    for (Index reader : readers(entry)) after = std::min(after, time[reader]);
    add(entry, after);
  }
  std::int64_t most = 0;
  for (std::size_t link = 0; link < link_count_; ++link) {
    if (copies[link] > 0) most = std::max(most, must_add(copies[link], last[link]));
  }
  return std::min(most, kMaxTime);
}

}  // namespace lowtide::budget_internal
