// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/offload.h"

#include <algorithm>
#include <array>
#include <optional>

#include "lowtide/base/check.h"
#include "lowtide/budget/transfers/swap_anneal.h"

namespace lowtide {
namespace budget_internal {
namespace {

constexpr std::array<double, 2> kHeats = {0.2, 1};          // of the rounds from each start
constexpr std::array<double, 2> kColdHeats = {0.05, 0.02};  // of the rounds from the best sequence, at the end

// With transfers, everything but the working set of a node can be outside while it runs.
std::optional<SwapProblem::Index> find_too_large(const SwapProblem& problem) {
  for (SwapProblem::Index node = 0; node < problem.count(); ++node) {
    if (!problem.is_run(node) || problem.is_fetched(node)) continue;
    std::int64_t bytes = problem.own_load[node];
    for (SwapProblem::Index input : problem.inputs(node)) bytes += problem.size[input];
    if (bytes > problem.budget) return node;
  }
  return std::nullopt;
}

// A run of a fetched entry is a copy.
Items items_of(const std::vector<NodeId>& runs, const SwapProblem& problem) {
  Items items;
  for (NodeId node : runs) items.push_back({.node = node.value(), .is_fetch = problem.is_fetched(node.value())});
  items.push_back({.node = problem.end(), .is_fetch = false});
  return items;
}

// Each output leaves after each use, and comes back for the next one.
Items all_fetched(const Items& runs, const SwapProblem& problem) {
  Items items;
  for (const Item& run : runs) {
    if (run.is_fetch) continue;
    for (SwapProblem::Index input : problem.inputs(run.node)) {
      const bool may_leave = problem.transfer[input] < kForever && !problem.is_fetched_once(input);
      if (may_leave) items.push_back({.node = input, .is_fetch = true});
    }
    items.push_back(run);
  }
  return items;
}

std::int64_t stall_time(const SwapProblem& problem, const FoundSwaps& found) {
  std::int64_t busy = 0;
  for (SwapProblem::Index node : found.runs) busy += problem.time[node];
  return found.time - busy;
}

SwapAnswer answer_of(const SwapProblem& problem, const FoundSwaps& found) {
  SwapAnswer answer{.base_time = problem.base_time, .time_bound = problem.least_time};
  for (std::size_t at = 0; at + 1 < found.runs.size(); ++at) answer.runs.emplace_back(found.runs[at]);
  answer.transfers = found.transfers;
  answer.fetches = found.fetches;
  answer.peak = Bytes(found.peak + problem.state_bytes);
  answer.time = found.time;
  answer.stall_time = stall_time(problem, found);
  return answer;
}

// Runs without transfers, whatever their live bytes are.
FoundSwaps without_transfers(const SwapProblem& problem, const Items& items) {
  SwapScan scan(problem);
  ScannedSwaps swaps;
  LOWTIDE_CHECK(scan.scan(items, swaps), "every sequence that the search begins from is valid");
  TransferClock clock(problem);
  const std::int64_t time = clock.time(swaps);
  return {.items = swaps.items,
          .runs = swaps.runs,
          .transfers = clock.transfers(swaps),
          .fetches = clock.fetches(),
          .peak = clock.peak(swaps),
          .time = time};
}

}  // namespace
}  // namespace budget_internal

SwapAnswer offload(const BudgetProblem& problem, const TransferLink& link,
                   const std::vector<std::vector<NodeId>>& starts, const OffloadOptions& options) {
  using namespace budget_internal;  // NOLINT(google-build-using-namespace): the body is about these types only
  LOWTIDE_CHECK(!starts.empty(), "the search has a sequence to begin from");
  const SwapProblem swaps(problem, link);
  if (const std::optional<SwapProblem::Index> node = find_too_large(swaps)) {
    SwapAnswer answer = answer_of(swaps, without_transfers(swaps, items_of(starts[0], swaps)));
    answer.outcome = BudgetOutcome::infeasible;
    if (*node != swaps.end()) answer.obstruction = NodeId(*node);
    return answer;
  }
  SwapAnnealing annealing(swaps, options.seed, options.stop);
  for (const std::vector<NodeId>& start : starts) {
    const Items items = items_of(start, swaps);
    annealing.note(items);
    annealing.note(all_fetched(items, swaps));
  }
  const auto rounds = static_cast<std::int64_t>(starts.size() * kHeats.size() + kColdHeats.size());
  const std::int64_t length = (options.length > 0 ? options.length : options.effort) / rounds;
  std::int64_t left = options.effort;
  const auto cool = [&](const Items& items, double heat) {
    if (left <= 0) return;
    const SwapAnnealing::Cooling cooling{
        .heat = heat, .goal = swaps.base_time, .length = std::max<std::int64_t>(length, 1)};
    annealing.cool(items, cooling, left);
  };
  for (const std::vector<NodeId>& start : starts) {
    for (double heat : kHeats) cool(items_of(start, swaps), heat);
  }
  for (double heat : kColdHeats) {
    if (annealing.found().time < kForever) cool(Items(annealing.found().items), heat);
  }
  const bool is_found = annealing.found().time < kForever;
  SwapAnswer answer =
      answer_of(swaps, is_found ? annealing.found() : without_transfers(swaps, items_of(starts[0], swaps)));
  answer.outcome = is_found ? BudgetOutcome::found : BudgetOutcome::not_found;
  return answer;
}

}  // namespace lowtide
