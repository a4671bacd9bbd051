// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/parse_number.h"

namespace lowtide {

// Reads a time such as "0.01 ms", "20us" or "1 s" in nanoseconds. Returns nullopt if the text is not one, has no unit,
// is negative, is not a whole number of nanoseconds, or exceeds 2^63 - 1. O(digits).
[[nodiscard]] inline std::optional<std::int64_t> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kTimeUnits = {
      {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
  for (const auto& [name, unit] : kTimeUnits) {
    if (!text.ends_with(name)) continue;
    std::string_view number = text.substr(0, text.size() - name.size());
    if (number.ends_with(' ')) number.remove_suffix(1);
    const std::size_t point = number.find('.');
    const std::optional<std::int64_t> whole = parse_number(number.substr(0, point));
    if (!whole) return std::nullopt;
    std::optional<std::int64_t> sum = checked_multiply(*whole, unit);
    if (point == std::string_view::npos) return sum;
    const std::string_view digits = number.substr(point + 1);
    if (digits.empty()) return std::nullopt;
    std::int64_t place = unit;
    for (char digit : digits) {
      if (digit < '0' || digit > '9' || (place % 10 != 0 && digit != '0')) return std::nullopt;
      place /= 10;
      if (sum) sum = checked_add(*sum, place * (digit - '0'));
    }
    return sum;
  }
  return std::nullopt;
}

}  // namespace lowtide
