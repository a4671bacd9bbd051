// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>

namespace lowtide {

// A half-open interval [begin, end), as all intervals of this project are. Empty if begin == end.
template <typename T>
struct Interval {
  T begin{};
  T end{};  // >= begin

  [[nodiscard]] constexpr bool empty() const { return !(begin < end); }
  [[nodiscard]] constexpr bool contains(const T& at) const { return begin <= at && at < end; }
  [[nodiscard]] constexpr bool contains(const Interval& other) const {
    return begin <= other.begin && other.end <= end;
  }
  // Whether the two intervals share a point. An empty interval overlaps nothing.
  [[nodiscard]] constexpr bool overlaps(const Interval& other) const {
    return !empty() && !other.empty() && begin < other.end && other.begin < end;
  }

  friend constexpr auto operator<=>(const Interval&, const Interval&) = default;
};

}  // namespace lowtide
