// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "lowtide/base/limits.h"
#include "lowtide/plan/machine.h"

namespace lowtide::allocate_internal {

static_assert(limits::kMaxRegions < 32);

// A set of regions of a problem, in their order of preference.
class RegionSet {
 public:
  RegionSet() = default;
  [[nodiscard]] static RegionSet all(std::size_t regions) { return RegionSet((std::uint32_t{1} << regions) - 1); }

  void add(RegionId region) { bits_ |= bit(region); }
  void remove(RegionId region) { bits_ &= ~bit(region); }
  [[nodiscard]] bool has(RegionId region) const { return (bits_ & bit(region)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  [[nodiscard]] bool is_subset_of(RegionSet other) const { return (bits_ & ~other.bits_) == 0; }
  // The most preferred region. Requires: the set is not empty.
  [[nodiscard]] RegionId first() const { return RegionId(static_cast<std::uint32_t>(std::countr_zero(bits_))); }

  friend RegionSet operator&(RegionSet a, RegionSet b) { return RegionSet(a.bits_ & b.bits_); }
  friend auto operator<=>(RegionSet, RegionSet) = default;

 private:
  explicit RegionSet(std::uint32_t bits) : bits_(bits) {}
  static std::uint32_t bit(RegionId region) { return std::uint32_t{1} << region.value(); }

  std::uint32_t bits_ = 0;
};

}  // namespace lowtide::allocate_internal
