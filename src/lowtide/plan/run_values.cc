// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/run_values.h"

#include <algorithm>
#include <map>
#include <optional>

namespace lowtide {
namespace {

class ValueScan {
 public:
  ValueScan(const BudgetProblem& problem, const std::vector<NodeId>& runs, Overwriting overwriting,
            const CopiesOfRuns& copies)
      : problem_(problem),
        runs_(runs),
        overwriting_(overwriting),
        copies_(copies),
        facts_(problem),
        parts_(problem.nodes.size()),
        latest_(problem.nodes.size()),
        times_(problem.nodes.size()),
        seeds_(problem.nodes.size()) {
    for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
      if (problem.nodes[id].part_of) parts_[*problem.nodes[id].part_of].push_back(id);
    }
    for (std::size_t at = 0; at < copies.transfers.size(); ++at) {
      const Transfer& one = copies.transfers[at];
      if (one.direction == TransferDirection::out) leaving_.emplace(one.run, at);
      if (one.direction == TransferDirection::in)
        arriving_.emplace(one.issue + 1, Arrival{.entry = entry_of(one), .complete = one.complete});
    }
    for (const Fetch& fetch : copies.fetches)
      arriving_.emplace(fetch.issue, Arrival{.entry = fetch.entry, .complete = fetch.complete});
  }

  std::vector<RunValue> scan() && {
    for (at_ = 0; at_ < runs_.size(); ++at_) {
      arrive();
      for (NodeId read : problem_.nodes[runs_[at_]].reads) use(read);
      run(runs_[at_]);
      leave();
    }
    arrive();
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
      if (problem_.nodes[id].is_output) use(id);
    }
    std::erase_if(values_, [](const RunValue& value) { return value.size <= Bytes(0) || value.live.empty(); });
    return std::move(values_);
  }

 private:
  // A copy that comes in.
  struct Arrival {
    NodeId entry;
    std::size_t complete = 0;
  };

  [[nodiscard]] NodeId entry_of(const Transfer& transfer) const { return transfer.part.value_or(runs_[transfer.run]); }

  // What the run at the current position made is live until its copy is complete.
  void leave() {
    const auto [begin, end] = leaving_.equal_range(at_);
    for (auto it = begin; it != end; ++it) {
      const Transfer& one = copies_.transfers[it->second];
      const std::optional<std::size_t>& value = latest_[entry_of(one)];
      if (value) values_[*value].live.end = std::max<std::size_t>(values_[*value].live.end, one.complete);
    }
  }

  // The copies that begin before the run at the current position.
  void arrive() {
    const auto [begin, end] = arriving_.equal_range(at_);
    for (auto it = begin; it != end; ++it) {
      const auto [entry, complete] = it->second;
      const std::size_t times = times_[problem_.nodes[entry].part_of.value_or(entry)];
      make(entry, times > 0 ? times - 1 : 0);
      values_.back().live.end = std::max(at_, complete);
    }
  }

  // The bytes of the entry are live up to the current position.
  void use(NodeId entry) {
    const std::optional<std::size_t>& value = latest_[facts_.bytes[entry]];
    if (value) values_[*value].live.end = std::max(values_[*value].live.end, at_ + 1);
  }

  void run(NodeId id) {
    const BudgetNode& node = problem_.nodes[id];
    Bytes scratch = node.extra;
    scratch += end_overwritten(id);
    for (NodeId part : parts_[id]) scratch += end_overwritten(part);
    make(id, times_[id]);
    for (NodeId part : parts_[id]) make(part, times_[id]);
    add({.entry = id, .kind = RunValueKind::scratch, .size = scratch, .made = times_[id]});
    if (!seeds_[id]) seeds_[id] = add({.entry = id, .kind = RunValueKind::seed, .size = node.seed});
    values_[*seeds_[id]].live.end = times_[id] > 0 ? at_ + 1 : at_;  // one run needs no seed
    ++times_[id];
  }

  // Ends the value that the output overwrites, and returns how much of `extra` that accounts for.
  Bytes end_overwritten(NodeId output) {
    const std::optional<NodeId>& over = problem_.nodes[output].overwrites;
    if (!over || facts_.state[output]) return Bytes(0);
    const NodeId bytes = facts_.bytes[*over];
    if (overwriting_ == Overwriting::beside) return std::min(problem_.nodes[output].size, problem_.nodes[bytes].size);
    const std::optional<std::size_t>& old = latest_[bytes];
    if (!old) return Bytes(0);
    values_[*old].live.end = at_;
    return values_[*old].size;
  }

  void make(NodeId entry, std::size_t times) {
    const Bytes size = facts_.state[entry] ? Bytes(0) : problem_.nodes[entry].size;
    latest_[entry] = add({.entry = entry, .kind = RunValueKind::output, .size = size, .made = times});
  }

  std::size_t add(RunValue value) {
    value.live = {at_, at_ + 1};
    values_.push_back(value);
    return values_.size() - 1;
  }

  const BudgetProblem& problem_;
  const std::vector<NodeId>& runs_;
  const Overwriting overwriting_;
  const CopiesOfRuns& copies_;
  const EntryBytes facts_;
  IdVector<NodeId, std::vector<NodeId>> parts_;          // by run
  IdVector<NodeId, std::optional<std::size_t>> latest_;  // by entry: its latest value
  IdVector<NodeId, std::size_t> times_;                  // by run: how often it has run
  IdVector<NodeId, std::optional<std::size_t>> seeds_;   // by run: its seed among the values
  std::multimap<std::size_t, std::size_t> leaving_;      // by the run that made it: a copy out among the transfers
  std::multimap<std::size_t, Arrival> arriving_;         // by the position from which it is live
  std::vector<RunValue> values_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<RunValue> values_of_runs(const BudgetProblem& problem, const std::vector<NodeId>& runs,
                                     Overwriting overwriting, const CopiesOfRuns& copies) {
  return ValueScan(problem, runs, overwriting, copies).scan();
}

RunPeak peak_of_values(const std::vector<RunValue>& values, std::size_t runs) {
  std::vector<Bytes> change(runs + 2);
  for (const RunValue& value : values) {
    change[value.live.begin] += value.size;
    change[value.live.end] -= value.size;
  }
  RunPeak peak;
  Bytes live;
  for (std::size_t at = 0; at <= runs; ++at) {
    live += change[at];
    if (live > peak.bytes) {
      peak.bytes = live;
      peak.position = at;
    }
  }
  for (const RunValue& value : values) {
    if (value.live.contains(peak.position)) peak.values.push_back(value);
  }
  std::stable_sort(peak.values.begin(), peak.values.end(),
                   [](const RunValue& a, const RunValue& b) { return a.size > b.size; });
  return peak;
}

}  // namespace lowtide
