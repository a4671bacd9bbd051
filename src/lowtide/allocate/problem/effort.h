// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace lowtide::allocate_internal {

// Work, counted in pairs of buffers looked at, so that a limit gives the same answer on every machine.
//
// A strategy plans its work with `limit`, and is cut off at `cut`, where the effort of its caller ends. So the effort
// that the caller has left decides only when the strategy stops: more effort continues where less effort would have
// stopped.
struct Effort {
  std::int64_t limit = 0;
  std::int64_t spent = 0;
  std::int64_t cut = std::numeric_limits<std::int64_t>::max();
  const std::atomic<bool>* stop = nullptr;  // exhausted at once when true

  void spend(std::int64_t pairs) { spent += pairs; }
  [[nodiscard]] bool is_stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
  [[nodiscard]] bool exhausted() const { return spent >= std::min(limit, cut) || is_stopped(); }
  [[nodiscard]] std::int64_t left() const { return std::max<std::int64_t>(std::min(limit, cut) - spent, 0); }
  // An effort for one strategy, with a limit of its own. The caller also spends here what the strategy has spent.
  [[nodiscard]] Effort share(std::int64_t strategy_limit) const {
    return {.limit = strategy_limit, .spent = 0, .cut = left(), .stop = stop};
  }
};

}  // namespace lowtide::allocate_internal
