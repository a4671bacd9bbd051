// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// The lowest placements so far, and the strategy that found them.
class Incumbent {
 public:
  using Listener = std::function<void(const Placements&, std::string_view strategy)>;

  // `listener` may be empty. It is called with the first placements, and with all lower ones that follow.
  Incumbent(Placements first, std::string_view strategy, Listener listener = {})
      : placements_(std::move(first)), strategy_(strategy), listener_(std::move(listener)) {
    if (listener_) listener_(placements_, strategy_);
  }

  [[nodiscard]] const Placements& placements() const { return placements_; }
  [[nodiscard]] std::int64_t height() const { return placements_.height; }
  [[nodiscard]] std::string_view strategy() const { return strategy_; }

  // Keeps `found` and returns true if it is lower. The characters of `strategy` must outlive the incumbent.
  bool offer(Placements found, std::string_view strategy) {
    if (found.height >= placements_.height) return false;
    placements_ = std::move(found);
    strategy_ = strategy;
    if (listener_) listener_(placements_, strategy_);
    return true;
  }

 private:
  Placements placements_;
  std::string_view strategy_;
  Listener listener_;
};

}  // namespace lowtide::allocate_internal
