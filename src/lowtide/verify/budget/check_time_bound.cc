// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/int128.h"
#include "lowtide/verify/budget/entry_facts.h"
#include "lowtide/verify/budget/link_clock.h"
#include "lowtide/verify/check_budget.h"
#include "lowtide/verify/check_transfers.h"

namespace lowtide {
namespace verify_internal {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// How long it takes at least to move bytes out before the first run of a node, and in after it.
class AwayTime {
 public:
  AwayTime(const BudgetProblem& problem, const TransferLink& link, const std::vector<std::int64_t>& times)
      : problem_(problem), link_(link), times_(times), facts_(problem) {
    sort_runs();
    count_tails();
    for (NodeId node : all_ids<NodeId>(problem.nodes.size())) heads_.push_back(facts_.is_run(node) ? head(node) : 0);
  }

  // Whether the proof may count outputs that need not exist before a milestone as kept while it runs: some row is about
  // an entry that none of the milestone's inputs needs.
  [[nodiscard]] bool may_keep_aside(const CostProof& proof) const {
    for (const ProofCase& one : proof.cases) {
      for (const auto& [row, times] : one.rows) {
        if (row.rule == PhaseRule::memory) continue;
        if (!ancestors(proof.milestones[row.phase]).test(facts_.maker(row.node))) return true;
      }
    }
    return false;
  }

  // The least time of a sequence in which at least `away` bytes are outside during the first run of a node: outputs of
  // its ancestors and, `with_aside`, of all that are not its descendants. kNever if there are not that many.
  [[nodiscard]] std::int64_t least(NodeId node, std::int64_t away, bool with_aside) const {
    const Flags<NodeId> before = ancestors(node);
    const Flags<NodeId> after = descendants(node);
    std::vector<std::pair<std::int64_t, std::int64_t>> outs;  // when the output exists, bytes
    std::vector<std::pair<std::int64_t, std::int64_t>> ins;   // the time from its arrival to the end, bytes
    std::int64_t time_before = 0;
    std::int64_t time_after = 0;
    for (NodeId other : order_) {
      if (after.test(other)) time_after += times_[other.index()];
      if (before.test(other)) time_before += times_[other.index()];
      if (other == node || after.test(other) || !(with_aside || before.test(other))) continue;
      if (problem_.nodes[other].fetched_over) continue;  // it is not moved out
      for_each_entry(other, [&](NodeId entry) {
        if (facts_.reads(node, entry)) return;  // it is in memory
        outs.emplace_back(heads_[other.index()], problem_.nodes[entry].size.count());
        ins.emplace_back(tails_[entry.index()], problem_.nodes[entry].size.count());
      });
    }
    const std::int64_t out = moved(std::move(outs), away);
    const std::int64_t in = moved(std::move(ins), away);
    if (out == kNever || in == kNever) return kNever;
    return std::max(time_before, out) + times_[node.index()] + std::max(time_after, in);
  }

 private:
  // The output of a run, and its parts.
  template <typename Act>
  void for_each_entry(NodeId run, Act act) const {
    act(run);
    for (NodeId part : facts_.parts(run)) act(part);
  }

  void sort_runs() {
    IdVector<NodeId, std::size_t> left(problem_.nodes.size());
    for (NodeId node : all_ids<NodeId>(problem_.nodes.size())) {
      left[node] = facts_.reads(node).size();
      if (facts_.is_run(node) && left[node] == 0) order_.push_back(node);
    }
    for (std::size_t at = 0; at < order_.size(); ++at) {
      for_each_entry(order_[at], [&](NodeId entry) {
        for (NodeId reader : facts_.readers(entry)) {
          if (--left[reader] == 0) order_.push_back(reader);
        }
      });
    }
  }

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
    tails_.assign(problem_.nodes.size(), 0);
    for (std::size_t at = order_.size(); at-- > 0;) {
      for_each_entry(order_[at], [&](NodeId entry) {
        if (facts_.is_output(entry) || facts_.readers(entry).empty()) return;
        std::int64_t least = kNever;
        for (NodeId reader : facts_.readers(entry)) least = std::min(least, times_[reader.index()] + tail_of(reader));
        tails_[entry.index()] = least;
      });
    }
  }

  // The least time after a run: one of its output and parts may be all that is needed.
  [[nodiscard]] std::int64_t tail_of(NodeId run) const {
    std::int64_t least = tails_[run.index()];
    for (NodeId part : facts_.parts(run)) least = std::min(least, tails_[part.index()]);
    return least;
  }

  [[nodiscard]] Flags<NodeId> ancestors(NodeId start) const {
    Flags<NodeId> found(problem_.nodes.size());
    std::vector<NodeId> open = {start};
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      for (NodeId input : facts_.reads(node)) {
        if (found.insert(facts_.maker(input))) open.push_back(facts_.maker(input));
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
      for_each_entry(node, [&](NodeId entry) {
        for (NodeId reader : facts_.readers(entry)) {
          if (found.insert(reader)) open.push_back(reader);
        }
      });
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
      const Int128 span = Int128{away - earlier} * 1'000'000'000 / link_.bytes_per_second;
      if (span > kMaxTime * Int128{4}) return kMaxTime * 4;
      latest = std::max(latest, ready[at].first + static_cast<std::int64_t>(span));
      earlier += ready[at].second;
    }
    return latest + link_.latency_nanoseconds;
  }

  const BudgetProblem& problem_;
  const TransferLink& link_;
  const std::vector<std::int64_t>& times_;  // by node
  const EntryFacts facts_;
  std::vector<NodeId> order_;        // runs, inputs before readers
  std::vector<std::int64_t> heads_;  // by run
  std::vector<std::int64_t> tails_;  // by entry
};

}  // namespace
}  // namespace verify_internal

std::int64_t least_link_time(const BudgetProblem& problem, const TransferLink& link) {
  const verify_internal::LinkClock clock(problem, link);
  const EntryBytes facts(problem);
  Int128 base = 0;
  IdVector<NodeId, std::int64_t> after(problem.nodes.size(), kMaxTime);  // by entry: the shortest run that reads it
  for (const BudgetNode& node : problem.nodes) {
    if (!node.is_run()) continue;
    const std::int64_t time = clock.run_time(node).value_or(kMaxTime);
    base += time;
    for (NodeId read : node.reads) after[facts.bytes[read]] = std::min(after[facts.bytes[read]], time);
  }
  std::vector<Int128> copies(problem.links.size(), 0);
  std::vector<std::int64_t> last(problem.links.size(), kMaxTime);
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const std::optional<std::uint32_t>& number = problem.nodes[id].fetched_over;
    if (!number) continue;
    const FetchLink& over = problem.links[*number];
    const Int128 product = Int128{problem.nodes[id].size.count()} * 1'000'000'000;
    copies[*number] += over.latency_nanoseconds + (product + over.bytes_per_second - 1) / over.bytes_per_second;
    last[*number] = std::min(last[*number], after[id] == kMaxTime ? 0 : after[id]);
  }
  Int128 least = base;
  for (std::size_t at = 0; at < copies.size(); ++at) {
    if (copies[at] > 0) least = std::max<Int128>(least, copies[at] + last[at]);
  }
  return static_cast<std::int64_t>(std::min<Int128>(least, kMaxTime));
}

TimeBoundCheck check_time_bound(const BudgetProblem& problem, const TransferLink& link, const TimeProof& proof) {
  const auto malformed = [](const std::string& what) { return TimeBoundCheck{.proven = 0, .problem = what}; };
  if (proof.away < Bytes(0)) return malformed("the bytes outside are negative");
  const std::optional<std::int64_t> budget = checked_add(problem.budget.count(), proof.away.count());
  if (!budget || *budget >= kMaxTime) return malformed("the budget and the bytes outside exceed the limits");
  const verify_internal::LinkClock clock(problem, link);
  std::vector<std::int64_t> times;
  std::int64_t base = 0;
  BudgetProblem larger = problem;
  larger.budget = Bytes(*budget);
  for (BudgetNode& node : larger.nodes) {
    if (node.fetched_over) {  // it is copied beside the runs, any number of times, and takes no time of a run
      node.cost = 0;
      node.runs_once = false;
    }
    const std::optional<std::int64_t> time = clock.run_time(node);
    if (!time || base + *time > kMaxTime) return malformed("the times of the runs exceed the limits");
    base += *time;
    times.push_back(*time);
  }
  for (NodeId milestone : proof.proof.milestones) {
    if (problem.nodes.contains(milestone) && problem.nodes[milestone].fetched_over) {
      return malformed("a milestone is a value that begins outside, and never runs");
    }
  }
  const CostBoundCheck costs = check_cost_bound(larger, proof.proof);
  if (costs.problem) return malformed(*costs.problem);
  const std::optional<std::int64_t> proven = checked_multiply(costs.proven, link.nanoseconds_per_cost);
  if (!proven) return malformed("the proven time exceeds 64 bits");
  std::int64_t least = *proven;
  const verify_internal::AwayTime away(problem, link, times);
  const bool with_aside = away.may_keep_aside(proof.proof);
  for (NodeId milestone : proof.proof.milestones) {
    least = std::min(least, away.least(milestone, proof.away.count() + 1, with_aside));
  }
  return {.proven = std::max({base, least, least_link_time(problem, link)}), .problem = std::nullopt};
}

}  // namespace lowtide
