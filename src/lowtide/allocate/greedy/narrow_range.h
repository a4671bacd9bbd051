// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/allocate/problem/placements.h"

namespace lowtide::allocate_internal {

// An AddressRange below 2^48, in 12 bytes instead of 16. Only problems of 256 TiB have higher addresses.
class NarrowRange {
 public:
  static constexpr std::int64_t kEnd = std::int64_t{1} << 48U;

  // Requires: 0 <= range.begin and range.end < kEnd.
  explicit NarrowRange(AddressRange range)
      : begin_low_(static_cast<std::uint32_t>(range.begin)),
        end_low_(static_cast<std::uint32_t>(range.end)),
        begin_high_(static_cast<std::uint16_t>(range.begin >> 32U)),
        end_high_(static_cast<std::uint16_t>(range.end >> 32U)) {}
  explicit operator AddressRange() const {
    return {(std::int64_t{begin_high_} << 32U) | begin_low_, (std::int64_t{end_high_} << 32U) | end_low_};
  }

 private:
  std::uint32_t begin_low_;
  std::uint32_t end_low_;
  std::uint16_t begin_high_;
  std::uint16_t end_high_;
};

}  // namespace lowtide::allocate_internal
