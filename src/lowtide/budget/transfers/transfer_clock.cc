// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/transfer_clock.h"

#include <algorithm>
#include <tuple>

namespace lowtide::budget_internal {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

}  // namespace

// One copy out for each output, before its first absence, and one copy in for each absence.
void TransferClock::collect(const ScannedSwaps& swaps) {
  outs_.clear();
  ins_.clear();
  out_of_.assign(swaps.runs.size(), kNone);
  for (const Absence& absence : swaps.absences) {
    ins_.push_back({.node = absence.node, .made = absence.made, .use = absence.after, .limit = absence.before + 1});
    if (out_of_[absence.made] != kNone) continue;
    out_of_[absence.made] = 0;
    outs_.push_back({.node = absence.node,
                     .made = absence.made,
                     .use = absence.before,
                     .limit = absence.after - 1,
                     .issue = absence.made});
  }
  std::sort(outs_.begin(), outs_.end(), [](const Copy& a, const Copy& b) {
    return std::tie(a.use, a.made, a.node) < std::tie(b.use, b.made, b.node);
  });
  std::uint32_t issue = 0;
  for (std::uint32_t at = 0; at < outs_.size(); ++at) {
    issue = std::max(issue, outs_[at].made);
    outs_[at].issue = issue;
    out_of_[outs_[at].made] = at;
  }
}

void TransferClock::place_outs(const ScannedSwaps& swaps) {
  std::int64_t now = 0;
  std::int64_t link = 0;
  std::size_t issued = 0;
  std::size_t first = 0;     // copies before it are complete
  std::size_t after = 0;     // copies before it belong to outputs without a use at this run or later, before they leave
  std::int64_t waiting = 0;  // bytes of the copies from `first` to `after`
  for (std::uint32_t at = 0; at < swaps.runs.size(); ++at) {
    for (; after < issued && outs_[after].use < at; ++after) waiting += problem_.size[outs_[after].node];
    const bool must_end = first < after;
    std::size_t last_due = first;
    for (std::size_t copy = first; must_end && copy < after; ++copy) {
      if (outs_[copy].limit <= at) last_due = copy + 1;
    }
    while (first < after && (first < last_due || outs_[first].edge <= now || waiting > slack_[at])) {
      now = std::max(now, outs_[first].edge);
      outs_[first].complete = at;
      waiting -= problem_.size[outs_[first].node];
      ++first;
    }
    slack_[at] -= waiting;
    begins_[at] = now;
    now = later(now, problem_.time[swaps.runs[at]]);
    ends_[at] = now;
    for (; issued < outs_.size() && outs_[issued].issue == at; ++issued) {
      link = later(std::max(link, now), problem_.transfer[outs_[issued].node]);
      outs_[issued].edge = link;
    }
    work_ += static_cast<std::int64_t>(6 + after - first);
  }
}

// Does what place_outs does, from the last run to the first one. Each wait moves all earlier runs to an earlier time.
void TransferClock::place_ins(const ScannedSwaps& swaps) {
  std::int64_t shift = 0;
  std::int64_t link = kForever;
  std::size_t issued = ins_.size();  // copies from it on have a begin
  std::size_t first = ins_.size();   // copies from it on have positions
  std::int64_t waiting = 0;          // bytes of the copies from `issued` to `first`
  for (auto at = static_cast<std::uint32_t>(swaps.runs.size()); at-- > 0;) {
    std::size_t first_due = first;
    for (std::size_t copy = first; copy-- > issued;) {
      if (ins_[copy].limit >= at) first_due = copy;
    }
    while (first > issued && (first > first_due || ins_[first - 1].edge >= ends_[at] - shift || waiting > slack_[at])) {
      --first;
      shift = std::max(shift, ends_[at] - ins_[first].edge);
      ins_[first].issue = at;
      waiting -= problem_.size[ins_[first].node];
    }
    slack_[at] -= waiting;
    for (; issued > 0 && ins_[issued - 1].use == at; --issued) {
      link = std::min(link, begins_[at] - shift) - problem_.transfer[ins_[issued - 1].node];
      link = std::max(link, -kForever);
      ins_[issued - 1].edge = link;
      ins_[issued - 1].complete = at;
      waiting += problem_.size[ins_[issued - 1].node];
    }
    shift = std::min(shift, kForever);
    work_ += static_cast<std::int64_t>(6 + first - issued);
  }
}

std::int64_t TransferClock::count_time(const ScannedSwaps& swaps) {
  wait_.assign(swaps.runs.size(), 0);
  out_wait_.assign(swaps.runs.size(), 0);
  std::int64_t now = 0;
  std::int64_t out_link = 0;
  std::int64_t in_link = 0;
  std::size_t out = 0;
  std::size_t in = 0;
  for (std::uint32_t at = 0; at < swaps.runs.size(); ++at) {
    now = later(std::max({now, wait_[at], out_wait_[at]}), problem_.time[swaps.runs[at]]);
    for (; out < outs_.size() && outs_[out].issue == at; ++out) {
      Copy& copy = outs_[out];
      copy.begin = std::max(out_link, now);
      copy.end = out_link = later(copy.begin, problem_.transfer[copy.node]);
      out_wait_[copy.complete] = std::max(out_wait_[copy.complete], copy.end);
    }
    for (; in < ins_.size() && ins_[in].issue == at; ++in) {
      Copy& copy = ins_[in];
      copy.begin = std::max({in_link, now, out_wait_[at + 1]});
      copy.end = in_link = later(copy.begin, problem_.transfer[copy.node]);
      wait_[copy.complete] = std::max(wait_[copy.complete], copy.end);
    }
  }
  return now;
}

std::int64_t TransferClock::time(const ScannedSwaps& swaps) {
  collect(swaps);
  slack_.resize(swaps.runs.size());
  begins_.resize(swaps.runs.size());
  ends_.resize(swaps.runs.size());
  for (std::size_t at = 0; at < swaps.runs.size(); ++at) {
    slack_[at] = std::max<std::int64_t>(problem_.budget - swaps.loads[at], 0);
  }
  place_outs(swaps);
  for (Copy& copy : ins_) copy.limit = std::max(copy.limit, outs_[out_of_[copy.made]].complete);
  place_ins(swaps);
  work_ += static_cast<std::int64_t>(4 * swaps.runs.size() + 8 * (outs_.size() + ins_.size()));
  return count_time(swaps);
}

std::int64_t TransferClock::peak(const ScannedSwaps& swaps) const {
  std::int64_t most = 0;
  for (std::size_t at = 0; at < swaps.runs.size(); ++at) {
    const std::int64_t free = std::max<std::int64_t>(problem_.budget - swaps.loads[at], 0);
    most = std::max(most, swaps.loads[at] + free - slack_[at]);
  }
  return most;
}

std::vector<Transfer> TransferClock::transfers() const {
  std::vector<Transfer> result;
  std::size_t out = 0;
  std::size_t in = 0;
  while (out < outs_.size() || in < ins_.size()) {
    const bool is_out = in == ins_.size() || (out < outs_.size() && outs_[out].issue <= ins_[in].issue);
    const Copy& copy = is_out ? outs_[out++] : ins_[in++];
    result.push_back({.run = copy.made,
                      .direction = is_out ? TransferDirection::out : TransferDirection::in,
                      .issue = copy.issue,
                      .complete = copy.complete,
                      .begin = copy.begin,
                      .end = copy.end});
  }
  return result;
}

}  // namespace lowtide::budget_internal
