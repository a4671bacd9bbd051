// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>

#include "lowtide/kernels/team.h"

namespace lowtide::testing {

// For each of these, a kernel gives the same bits: also for numbers that divide nothing evenly, and for more threads
// than a small result has parts.
inline constexpr std::array kThreadCounts{1, 2, 3, 4, 8};

// Runs the last share first, all of them on the calling thread. So a share that needs an earlier one gives other bits.
class ReversedTeam final : public Team {
 public:
  explicit ReversedTeam(int threads) : threads_(threads) {}
  [[nodiscard]] int threads() const override { return threads_; }
  void run(Share share, void* context) noexcept override {
    ++calls;
    for (int at = threads_; at-- > 0;) share(context, at);
  }
  int calls = 0;

 private:
  int threads_;
};

}  // namespace lowtide::testing
