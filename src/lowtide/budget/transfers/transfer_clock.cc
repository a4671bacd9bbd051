// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/transfer_clock.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace lowtide::budget_internal {

// One copy out for each output, before its first absence, and one copy in for each absence.
void TransferClock::collect(const ScannedSwaps& swaps) {
  outs_.clear();
  ins_.clear();
  for (const Absence& absence : swaps.absences) {
    if (problem_.is_fetched(absence.entry)) {
      collect_fetch(absence);
    } else {
      collect_out(absence);
    }
  }
  const auto last = static_cast<std::uint32_t>(swaps.runs.size() - 1);
  // What nothing reads is fetched, too. The end does not need its bytes.
  for (Index entry : problem_.unread()) ins_.push_back({.entry = entry, .limit = 0, .complete = last});
  if (problem_.link_count() > 1) {
    std::stable_sort(ins_.begin(), ins_.end(),
                     [](const CopyIn& a, const CopyIn& b) { return a.complete < b.complete; });
  }
  sort_outs();
}

void TransferClock::collect_out(const Absence& absence) {
  std::uint32_t& number = latest_[absence.entry];
  const bool is_out =
      number < outs_.size() && outs_[number].entry == absence.entry && outs_[number].made == absence.made;
  if (!is_out) {
    number = static_cast<std::uint32_t>(outs_.size());
    outs_.push_back({.entry = absence.entry,
                     .made = absence.made,
                     .use = absence.before,
                     .limit = absence.after - 1,
                     .number = number});
  }
  ins_.push_back({.entry = absence.entry,
                  .made = absence.made,
                  .out = number,
                  .limit = absence.before + 2,
                  .complete = absence.after});
}

void TransferClock::collect_fetch(const Absence& absence) {
  const std::uint32_t limit = absence.before == Absence::kOutside ? 0 : absence.before + 1;
  ins_.push_back({.entry = absence.entry, .limit = limit, .complete = absence.after});
}

void TransferClock::sort_outs() {
  std::sort(outs_.begin(), outs_.end(), [](const CopyOut& a, const CopyOut& b) {
    return std::tie(a.use, a.made, a.entry) < std::tie(b.use, b.made, b.entry);
  });
  place_of_.resize(outs_.size());
  std::uint32_t issue = 0;
  for (std::uint32_t at = 0; at < outs_.size(); ++at) {
    issue = std::max(issue, outs_[at].made);
    outs_[at].issue = issue;
    place_of_[outs_[at].number] = at;
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
    for (; after < issued && outs_[after].use < at; ++after) waiting += problem_.size[outs_[after].entry];
    const bool must_end = first < after;
    std::size_t last_due = first;
    for (std::size_t copy = first; must_end && copy < after; ++copy) {
      if (outs_[copy].limit <= at) last_due = copy + 1;
    }
    while (first < after && (first < last_due || outs_[first].edge <= now || waiting > slack_[at])) {
      now = std::max(now, outs_[first].edge);
      outs_[first].complete = at;
      waiting -= problem_.size[outs_[first].entry];
      ++first;
    }
    slack_[at] -= waiting;
    begins_[at] = now;
    now = later(now, problem_.time[swaps.runs[at]]);
    ends_[at] = now;
    for (; issued < outs_.size() && outs_[issued].issue == at; ++issued) {
      link = later(std::max(link, now), problem_.transfer[outs_[issued].entry]);
      outs_[issued].edge = link;
    }
    work_ += static_cast<std::int64_t>(6 + after - first);
  }
}

// Copies up to the first one that must be issued after a run have to be issued there.
void TransferClock::find_due(Queue& queue, std::uint32_t at) const {
  queue.limit = 0;
  std::size_t count = 0;
  for (std::uint32_t copy = queue.last; copy != kNone; copy = ins_[copy].later) {
    ++count;
    if (ins_[copy].limit > at) {
      queue.due = count;
      queue.limit = 0;
    } else {
      queue.limit = std::max(queue.limit, ins_[copy].limit);
    }
  }
}

inline std::uint32_t TransferClock::next_link(std::uint32_t at) const {
  std::uint32_t next = kNone;
  for (std::uint32_t link : waiting_) {
    const std::int64_t edge = ins_[queues_[link].last].edge;
    if (queues_[link].due > 0 || edge >= ends_[at] - shift_) return link;
    if (waiting_bytes_ <= slack_[at]) continue;
    if (next == kNone || edge > ins_[queues_[next].last].edge) next = link;
  }
  return next;
}

void TransferClock::issue_last(std::uint32_t link, std::uint32_t live) {
  Queue& queue = queues_[link];
  CopyIn& copy = ins_[queue.last];
  copy.live = live;
  waiting_bytes_ -= problem_.size[copy.entry];
  --waiting_copies_;
  queue.last = copy.later;
  if (queue.due > 0) --queue.due;
  if (queue.last == kNone) waiting_.erase(std::find(waiting_.begin(), waiting_.end(), link));
}

// A copy that must end at a time begins before the copies that its link makes later.
void TransferClock::enqueue(std::uint32_t number, std::int64_t end) {
  CopyIn& copy = ins_[number];
  const std::uint32_t link = problem_.link_of[copy.entry];
  Queue& queue = queues_[link];
  queue.free = std::max(std::min(queue.free, end) - problem_.transfer[copy.entry], -kForever);
  copy.edge = queue.free;
  copy.later = kNone;
  if (queue.last == kNone) {
    queue.last = number;
    queue.limit = 0;
    waiting_.push_back(link);
  } else {
    ins_[queue.first].later = number;
  }
  queue.first = number;
  queue.limit = std::max(queue.limit, copy.limit);
  waiting_bytes_ += problem_.size[copy.entry];
  ++waiting_copies_;
}

// Does what place_outs does, from the last run to the first one. Each wait moves all earlier runs to an earlier time.
void TransferClock::place_ins(const ScannedSwaps& swaps) {
  shift_ = 0;
  waiting_bytes_ = 0;
  for (Queue& queue : queues_) queue = {.free = kForever};
  std::size_t unissued = ins_.size();  // copies from it on have been in a queue
  for (auto at = static_cast<std::uint32_t>(swaps.runs.size()); at-- > 0;) {
    for (std::uint32_t link : waiting_) {
      if (queues_[link].limit > at) find_due(queues_[link], at);
    }
    while (!waiting_.empty()) {
      const std::uint32_t link = next_link(at);
      if (link == kNone) break;
      shift_ = std::max(shift_, ends_[at] - ins_[queues_[link].last].edge);
      issue_last(link, at + 1);
      if (waiting_.size() > 1) work_ += static_cast<std::int64_t>(waiting_.size());
    }
    slack_[at] -= waiting_bytes_;
    for (; unissued > 0 && ins_[unissued - 1].complete == at; --unissued) {
      enqueue(static_cast<std::uint32_t>(unissued - 1), begins_[at] - shift_);
    }
    shift_ = std::min(shift_, kForever);
    work_ += static_cast<std::int64_t>(6 + waiting_copies_);
  }
  // Fetched entries may come in before all runs.
  while (!waiting_.empty()) issue_last(waiting_.back(), 0);
  if (problem_.link_count() > 1) {
    std::stable_sort(ins_.begin(), ins_.end(), [](const CopyIn& a, const CopyIn& b) { return a.live < b.live; });
  }
}

std::int64_t TransferClock::count_time(const ScannedSwaps& swaps) {
  wait_.assign(swaps.runs.size(), 0);
  out_wait_.assign(swaps.runs.size(), 0);
  std::int64_t now = 0;
  std::int64_t out_link = 0;
  std::size_t out = 0;
  std::size_t in = 0;
  for (Queue& queue : queues_) queue.free = 0;
  for (std::uint32_t at = 0; at < swaps.runs.size(); ++at) {
    for (; in < ins_.size() && ins_[in].live == at; ++in) {
      CopyIn& copy = ins_[in];
      std::int64_t& link = queues_[problem_.link_of[copy.entry]].free;
      copy.begin = std::max({link, now, out_wait_[at]});
      copy.end = link = later(copy.begin, problem_.transfer[copy.entry]);
      wait_[copy.complete] = std::max(wait_[copy.complete], copy.end);
    }
    now = later(std::max({now, wait_[at], out_wait_[at]}), problem_.time[swaps.runs[at]]);
    for (; out < outs_.size() && outs_[out].issue == at; ++out) {
      CopyOut& copy = outs_[out];
      copy.begin = std::max(out_link, now);
      copy.end = out_link = later(copy.begin, problem_.transfer[copy.entry]);
      out_wait_[copy.complete] = std::max(out_wait_[copy.complete], copy.end);
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
  for (CopyIn& copy : ins_) {
    if (problem_.is_fetched(copy.entry)) continue;
    copy.limit = std::max(copy.limit, outs_[place_of_[copy.out]].complete + 1);
  }
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

std::vector<Transfer> TransferClock::transfers(const ScannedSwaps& swaps) const {
  const auto transfer_of = [&](const auto& copy, TransferDirection direction, std::uint32_t issue) {
    const bool is_part = swaps.runs[copy.made] != copy.entry;
    return Transfer{.run = copy.made,
                    .direction = direction,
                    .issue = issue,
                    .complete = copy.complete,
                    .begin = copy.begin,
                    .end = copy.end,
                    .part = is_part ? std::optional(NodeId(copy.entry)) : std::nullopt};
  };
  std::vector<Transfer> result;
  std::size_t out = 0;
  for (const CopyIn& copy : ins_) {
    if (problem_.is_fetched(copy.entry)) continue;
    for (; out < outs_.size() && outs_[out].issue < copy.live; ++out) {
      result.push_back(transfer_of(outs_[out], TransferDirection::out, outs_[out].issue));
    }
    result.push_back(transfer_of(copy, TransferDirection::in, copy.live - 1));
  }
  return result;
}

std::vector<Fetch> TransferClock::fetches() const {
  std::vector<Fetch> result;
  for (const CopyIn& copy : ins_) {
    if (!problem_.is_fetched(copy.entry)) continue;
    result.push_back({.entry = NodeId(copy.entry),
                      .issue = copy.live,
                      .complete = copy.complete,
                      .begin = copy.begin,
                      .end = copy.end});
  }
  return result;
}

}  // namespace lowtide::budget_internal
