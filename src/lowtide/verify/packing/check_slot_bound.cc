// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>

#include "lowtide/base/checked.h"

namespace lowtide {
namespace {

struct Event {
  std::int64_t time;
  bool is_begin;  // ends come first, because spans are half-open
  std::int64_t size;
};

std::vector<Event> events_of(const PackingProblem& problem) {
  std::vector<Event> events;
  const auto add = [&](std::int64_t begin, std::int64_t end, std::int64_t size) {
    if (begin >= end) return;
    events.push_back({begin, true, size});
    events.push_back({end, false, size});
  };
  for (const PackingBuffer& buffer : problem.buffers) {
    if (problem.conflicts || buffer.size <= Bytes(0)) continue;
    std::int64_t from = buffer.lifespan.begin;
    for (const TimeSpan& gap : buffer.gaps) {
      add(from, gap.begin, buffer.size.count());
      from = gap.end;
    }
    add(from, buffer.lifespan.end, buffer.size.count());
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.time, a.is_begin, a.size) < std::tuple(b.time, b.is_begin, b.size);
  });
  return events;
}

}  // namespace

SlotBoundCheck check_slot_bound(const PackingProblem& problem, Bytes claimed) {
  std::vector<std::int64_t> least;
  std::vector<std::int64_t> live;  // sizes, the largest first
  for (const Event& event : events_of(problem)) {
    const auto at = std::lower_bound(live.begin(), live.end(), event.size, std::greater<>());
    if (!event.is_begin) {
      live.erase(at);
      continue;
    }
    // The ranks of larger sizes do not change.
    for (auto moved = live.insert(at, event.size); moved != live.end(); ++moved) {
      const auto rank = static_cast<std::size_t>(moved - live.begin());
      if (rank == least.size()) least.push_back(0);
      least[rank] = std::max(least[rank], *moved);
    }
  }
  for (const PackingBuffer& buffer : problem.buffers) {
    if (least.empty() && buffer.size > Bytes(0)) least.push_back(0);
    if (!least.empty()) least[0] = std::max(least[0], buffer.size.count());
  }
  SlotBoundCheck check;
  std::int64_t sum = 0;
  for (std::int64_t size : least) {
    const std::optional<std::int64_t> more = checked_add(sum, size);
    if (!more) break;
    sum = *more;
    check.least.push_back(Bytes(size));
  }
  check.proven = Bytes(sum);
  check.is_confirmed = claimed <= check.proven;
  return check;
}

}  // namespace lowtide
