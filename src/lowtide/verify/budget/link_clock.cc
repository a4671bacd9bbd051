// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/budget/link_clock.h"

#include <algorithm>

#include "lowtide/base/checked.h"

namespace lowtide::verify_internal {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kSecond = 1'000'000'000;

std::optional<std::int64_t> within_limit(Wide time) {
  if (time > kMaxTime) return std::nullopt;
  return static_cast<std::int64_t>(time);
}

}  // namespace

std::optional<std::int64_t> LinkClock::run_time(const BudgetNode& node) const {
  return within_limit(Wide{node.cost} * link_.nanoseconds_per_cost);
}

std::optional<std::int64_t> LinkClock::transfer_time(Bytes bytes) const {
  const Wide product = Wide{bytes.count()} * kSecond;
  const Wide whole = product / link_.bytes_per_second + (product % link_.bytes_per_second == 0 ? 0 : 1);
  return within_limit(whole + link_.latency_nanoseconds);
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
// because every transfer is issued before the position at which it is complete.
bool LinkClock::replay(const std::vector<NodeId>& runs, const std::vector<Transfer>& transfers) {
  if (!count_base()) return false;
  begins_.assign(transfers.size(), 0);
  ends_.assign(transfers.size(), 0);
  for (auto& ends : due_) ends.assign(runs.size() + 1, 0);
  free_ = {};
  std::int64_t now = 0;
  std::int64_t busy = 0;
  std::size_t next = 0;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const std::int64_t taken = *run_time(problem_.nodes[runs[at]]);
    const std::optional<std::int64_t> ended = checked_add(std::max({now, due_[0][at], due_[1][at]}), taken);
    if (!ended) return false;
    now = *ended;
    busy += taken;
    std::size_t end = next;
    while (end < transfers.size() && transfers[end].issue == at) ++end;
    // Copies in wait for the copies out that are complete at the same position, wherever these are in the list.
    for (const TransferDirection direction : {TransferDirection::out, TransferDirection::in}) {
      for (std::size_t copy = next; copy < end; ++copy) {
        if (transfers[copy].direction != direction) continue;
        const std::optional<std::int64_t> copied = transfer_time(problem_.nodes[runs[transfers[copy].run]].size);
        if (!copied || !run_copy(transfers[copy], copy, now, *copied)) return false;
      }
    }
    next = end;
  }
  time_ = std::max({now, due_[0].back(), due_[1].back()});
  stall_time_ = time_ - busy;
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

}  // namespace lowtide::verify_internal
