// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/budget/link_clock.h"

#include <algorithm>

#include "lowtide/base/checked.h"
#include "lowtide/base/int128.h"

namespace lowtide::verify_internal {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::optional<std::int64_t> within_limit(Int128 time) {
  if (time > kMaxTime) return std::nullopt;
  return static_cast<std::int64_t>(time);
}

// The time to copy bytes, rounded up, and the latency.
std::optional<std::int64_t> copy_time(Bytes bytes, std::int64_t bytes_per_second, std::int64_t latency) {
  const Int128 product = Int128{bytes.count()} * kSecond;
  const Int128 whole = product / bytes_per_second + (product % bytes_per_second == 0 ? 0 : 1);
  return within_limit(whole + latency);
}

}  // namespace

std::optional<std::int64_t> LinkClock::run_time(const BudgetNode& node) const {
  return node.fetched_over ? 0 : within_limit(Int128{node.cost} * link_.nanoseconds_per_cost);
}

bool LinkClock::count_base() {
  base_time_ = 0;
  for (const BudgetNode& node : problem_.nodes) {
    const std::optional<std::int64_t> time = run_time(node);
    if (!time) return false;
    base_time_ += *time;
    if (base_time_ > kMaxTime) return false;
  }
  return true;
}

// Goes through the positions between runs. What must be complete before a run is known when the run before it ends,
// because every copy is issued before the position at which it is complete, or at that position.
bool LinkClock::replay(const SwapAnswer& answer) {
  if (!count_base()) return false;
  const std::size_t count = answer.runs.size();
  begins_.assign(answer.transfers.size(), 0);
  ends_.assign(answer.transfers.size(), 0);
  fetch_begins_.assign(answer.fetches.size(), 0);
  fetch_ends_.assign(answer.fetches.size(), 0);
  for (auto& ends : due_) ends.assign(count + 1, 0);
  fetch_due_.assign(count + 1, 0);
  link_free_.assign(problem_.links.size(), 0);
  free_ = {};
  next_copy_ = 0;
  next_fetch_ = 0;
  std::int64_t now = 0;
  std::int64_t busy = 0;
  for (std::size_t at = 0; at < count; ++at) {
    if (!run_fetches(answer, at, now)) return false;
    const std::int64_t taken = *run_time(problem_.nodes[answer.runs[at]]);
    const std::optional<std::int64_t> ended =
        checked_add(std::max({now, due_[0][at], due_[1][at], fetch_due_[at]}), taken);
    if (!ended) return false;
    now = *ended;
    busy += taken;
    if (!run_copies(answer, at, now)) return false;
  }
  if (!run_fetches(answer, count, now)) return false;
  time_ = std::max({now, due_[0].back(), due_[1].back(), fetch_due_.back()});
  stall_time_ = time_ - busy;
  return true;
}

// The copies that are issued after a run. Copies in wait for the copies out that are complete at the same position,
// wherever these are in the list.
bool LinkClock::run_copies(const SwapAnswer& answer, std::size_t at, std::int64_t now) {
  const std::vector<Transfer>& transfers = answer.transfers;
  std::size_t end = next_copy_;
  while (end < transfers.size() && transfers[end].issue == at) ++end;
  for (const TransferDirection direction : {TransferDirection::out, TransferDirection::in}) {
    for (std::size_t copy = next_copy_; copy < end; ++copy) {
      if (transfers[copy].direction != direction) continue;
      const NodeId entry = transfers[copy].part.value_or(answer.runs[transfers[copy].run]);
      const std::optional<std::int64_t> taken =
          copy_time(problem_.nodes[entry].size, link_.bytes_per_second, link_.latency_nanoseconds);
      if (!taken || !run_copy(transfers[copy], copy, now, *taken)) return false;
    }
  }
  next_copy_ = end;
  return true;
}

bool LinkClock::run_copy(const Transfer& transfer, std::size_t number, std::int64_t now, std::int64_t taken) {
  const auto side = static_cast<std::size_t>(transfer.direction);
  begins_[number] = std::max(free_[side], now);
  if (transfer.direction == TransferDirection::in) {
    begins_[number] = std::max(begins_[number], due_[0][transfer.issue + std::size_t{1}]);
  }
  const std::optional<std::int64_t> ended = checked_add(begins_[number], taken);
  if (!ended) return false;
  ends_[number] = *ended;
  free_[side] = *ended;
  due_[side][transfer.complete] = std::max(due_[side][transfer.complete], *ended);
  return true;
}

// The fetches that are issued when the run before position `at` has ended.
bool LinkClock::run_fetches(const SwapAnswer& answer, std::size_t at, std::int64_t now) {
  for (; next_fetch_ < answer.fetches.size() && answer.fetches[next_fetch_].issue == at; ++next_fetch_) {
    const Fetch& fetch = answer.fetches[next_fetch_];
    const BudgetNode& node = problem_.nodes[fetch.entry];
    const FetchLink& link = problem_.links[*node.fetched_over];
    const std::optional<std::int64_t> taken = copy_time(node.size, link.bytes_per_second, link.latency_nanoseconds);
    if (!taken) return false;
    std::int64_t& free = link_free_[*node.fetched_over];
    fetch_begins_[next_fetch_] = std::max({free, now, due_[0][at]});
    const std::optional<std::int64_t> ended = checked_add(fetch_begins_[next_fetch_], *taken);
    if (!ended) return false;
    fetch_ends_[next_fetch_] = *ended;
    free = *ended;
    fetch_due_[fetch.complete] = std::max(fetch_due_[fetch.complete], *ended);
  }
  return true;
}

}  // namespace lowtide::verify_internal
