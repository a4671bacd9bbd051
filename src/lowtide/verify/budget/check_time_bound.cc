// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/flags.h"
#include "lowtide/verify/budget/link_clock.h"
#include "lowtide/verify/check_budget.h"
#include "lowtide/verify/check_transfers.h"

namespace lowtide {
namespace verify_internal {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// How long it takes at least to move bytes out before the first run of a node, and in after it.
class AwayTime {
 public:
  AwayTime(const BudgetProblem& problem, const TransferLink& link, const std::vector<std::int64_t>& times)
      : problem_(problem), link_(link), times_(times), readers_(problem.nodes.size()) {
    std::vector<std::uint32_t> left;
    for (NodeId node : all_ids<NodeId>(problem.nodes.size())) {
      left.push_back(static_cast<std::uint32_t>(problem.nodes[node].reads.size()));
      if (left.back() == 0) order_.push_back(node);
      for (NodeId input : problem.nodes[node].reads) readers_[input].push_back(node);
    }
    for (std::size_t at = 0; at < order_.size(); ++at) {
      for (NodeId reader : readers_[order_[at]]) {
        if (--left[reader.index()] == 0) order_.push_back(reader);
      }
    }
    count_tails();
    for (NodeId node : all_ids<NodeId>(problem.nodes.size())) heads_.push_back(head(node));
  }

  // The least time of a sequence in which at least `away` bytes of ancestors of the node are outside during its first
  // run. kNever if there are not that many.
  [[nodiscard]] std::int64_t least(NodeId node, std::int64_t away) const {
    const Flags<NodeId> before = ancestors(node);
    const Flags<NodeId> after = descendants(node);
    std::vector<std::pair<std::int64_t, std::int64_t>> outs;  // when the output exists, bytes
    std::vector<std::pair<std::int64_t, std::int64_t>> ins;   // the time from its arrival to the end, bytes
    std::int64_t time_before = 0;
    std::int64_t time_after = 0;
    for (NodeId other : order_) {
      if (after.test(other)) time_after += times_[other.index()];
      if (!before.test(other)) continue;
      time_before += times_[other.index()];
      const auto& inputs = problem_.nodes[node].reads;
      if (std::find(inputs.begin(), inputs.end(), other) != inputs.end()) continue;  // it is in memory
      const std::int64_t bytes = problem_.nodes[other].size.count();
      outs.emplace_back(heads_[other.index()], bytes);
      ins.emplace_back(tails_[other.index()], bytes);
    }
    const std::int64_t out = moved(std::move(outs), away);
    const std::int64_t in = moved(std::move(ins), away);
    if (out == kNever || in == kNever) return kNever;
    return std::max(time_before, out) + times_[node.index()] + std::max(time_after, in);
  }

 private:
  // The time of one run of a node and of all that must run before it.
  [[nodiscard]] std::int64_t head(NodeId node) const {
    const Flags<NodeId> before = ancestors(node);
    std::int64_t time = times_[node.index()];
    for (NodeId other : order_) time += before.test(other) ? times_[other.index()] : 0;
    return time;
  }

  // What must still run once an output has come in: the fastest chain of readers to the end, or to an output of the
  // problem. Longer chains are not certain, because readers may run again.
  void count_tails() {
    tails_.assign(order_.size(), 0);
    for (std::size_t at = order_.size(); at-- > 0;) {
      const NodeId node = order_[at];
      if (problem_.nodes[node].is_output || readers_[node].empty()) continue;
      std::int64_t least = kNever;
      for (NodeId reader : readers_[node]) {
        least = std::min(least, times_[reader.index()] + tails_[reader.index()]);
      }
      tails_[node.index()] = least;
    }
  }

  [[nodiscard]] Flags<NodeId> ancestors(NodeId start) const {
    Flags<NodeId> found(problem_.nodes.size());
    std::vector<NodeId> open = {start};
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      for (NodeId input : problem_.nodes[node].reads) {
        if (found.insert(input)) open.push_back(input);
      }
    }
    return found;
  }

  [[nodiscard]] Flags<NodeId> descendants(NodeId start) const {
    Flags<NodeId> found(problem_.nodes.size());
    std::vector<NodeId> open = {start};
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      for (NodeId reader : readers_[node]) {
        if (found.insert(reader)) open.push_back(reader);
      }
    }
    return found;
  }

  // When a link can have moved this many bytes at the earliest, if an output may be moved in parts from its time on.
  // For each time, the bytes that it must move after it take at least their share of the bandwidth.
  [[nodiscard]] std::int64_t moved(std::vector<std::pair<std::int64_t, std::int64_t>> ready, std::int64_t away) const {
    std::sort(ready.begin(), ready.end());
    std::size_t count = 0;
    std::int64_t sum = 0;
    while (count < ready.size() && sum < away) sum += std::min(ready[count++].second, away - sum);
    if (sum < away) return kNever;
    std::int64_t latest = 0;
    std::int64_t earlier = 0;  // bytes that are ready before
    for (std::size_t at = 0; at < count; ++at) {
      const Wide span = Wide{away - earlier} * 1'000'000'000 / link_.bytes_per_second;
      if (span > kMaxTime * Wide{4}) return kMaxTime * 4;
      latest = std::max(latest, ready[at].first + static_cast<std::int64_t>(span));
      earlier += ready[at].second;
    }
    return latest + link_.latency_nanoseconds;
  }

  const BudgetProblem& problem_;
  const TransferLink& link_;
  const std::vector<std::int64_t>& times_;  // by node
  IdVector<NodeId, std::vector<NodeId>> readers_;
  std::vector<NodeId> order_;        // inputs before readers
  std::vector<std::int64_t> heads_;  // by node
  std::vector<std::int64_t> tails_;  // by node
};

}  // namespace
}  // namespace verify_internal

TimeBoundCheck check_time_bound(const BudgetProblem& problem, const TransferLink& link, const TimeProof& proof) {
  const auto malformed = [](const std::string& what) { return TimeBoundCheck{.proven = 0, .problem = what}; };
  if (proof.away < Bytes(0)) return malformed("the bytes outside are negative");
  const std::optional<std::int64_t> budget = checked_add(problem.budget.count(), proof.away.count());
  if (!budget || *budget >= kMaxTime) return malformed("the budget and the bytes outside exceed the limits");
  const verify_internal::LinkClock clock(problem, link);
  std::vector<std::int64_t> times;
  std::int64_t base = 0;
  for (const BudgetNode& node : problem.nodes) {
    const std::optional<std::int64_t> time = clock.run_time(node);
    if (!time || base + *time > kMaxTime) return malformed("the times of the runs exceed the limits");
    base += *time;
    times.push_back(*time);
  }
  BudgetProblem larger{.nodes = problem.nodes, .budget = Bytes(*budget)};
  const CostBoundCheck costs = check_cost_bound(larger, proof.proof);
  if (costs.problem) return malformed(*costs.problem);
  const std::optional<std::int64_t> proven = checked_multiply(costs.proven, link.nanoseconds_per_cost);
  if (!proven) return malformed("the proven time exceeds 64 bits");
  std::int64_t least = *proven;
  const verify_internal::AwayTime away(problem, link, times);
  for (NodeId milestone : proof.proof.milestones) {
    least = std::min(least, away.least(milestone, proof.away.count() + 1));
  }
  return {.proven = std::max(base, least), .problem = std::nullopt};
}

}  // namespace lowtide
