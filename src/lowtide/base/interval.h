// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>

namespace lowtide {

// Half-open, everywhere: [begin, end). Empty when begin == end.
template <typename T>
struct Interval {
  T begin{};
  T end{};  // >= begin

  [[nodiscard]] constexpr bool empty() const { return !(begin < end); }
  [[nodiscard]] constexpr bool contains(const T& at) const { return begin <= at && at < end; }
  [[nodiscard]] constexpr bool contains(const Interval& other) const {
    return begin <= other.begin && other.end <= end;
  }
  // True if the two share a point. An empty interval overlaps nothing.
  [[nodiscard]] constexpr bool overlaps(const Interval& other) const {
    return !empty() && !other.empty() && begin < other.end && other.begin < end;
  }

  friend constexpr auto operator<=>(const Interval&, const Interval&) = default;
};

}  // namespace lowtide
