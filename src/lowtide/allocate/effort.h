// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide {

// Work, counted in pairs of buffers looked at, so that a limit gives the same answer on every machine.
struct Effort {
  std::int64_t limit = 0;
  std::int64_t spent = 0;

  void spend(std::int64_t pairs) { spent += pairs; }
  [[nodiscard]] bool exhausted() const { return spent >= limit; }
  [[nodiscard]] std::int64_t left() const { return spent < limit ? limit - spent : 0; }
};

}  // namespace lowtide
