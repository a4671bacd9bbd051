// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "lowtide/base/id.h"
#include "lowtide/base/limits.h"

namespace lowtide::allocate_internal {

// A level of the cost: level k counts the weighted bytes outside of the first k + 1 regions. A lower level is more
// important.
using LevelId = Id<struct CostLevelTag>;

// RegionCost in an array, without heap memory. Levels that the problem does not have are 0.
struct LevelCost {
  static constexpr std::size_t kMostLevels = limits::kMaxRegions - 1;
  std::array<std::int64_t, kMostLevels> level = {};

  [[nodiscard]] std::int64_t operator[](LevelId id) const { return level[id.index()]; }
  [[nodiscard]] std::int64_t& operator[](LevelId id) { return level[id.index()]; }
  LevelCost& operator+=(const LevelCost& other) {
    for (std::size_t at = 0; at < kMostLevels; ++at) level[at] += other.level[at];
    return *this;
  }
  LevelCost& operator-=(const LevelCost& other) {
    for (std::size_t at = 0; at < kMostLevels; ++at) level[at] -= other.level[at];
    return *this;
  }
  friend auto operator<=>(const LevelCost&, const LevelCost&) = default;
};

}  // namespace lowtide::allocate_internal
