// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace lowtide {

// Reads a whole number from 0 to 2^63 - 1 that is written in decimal digits. Returns nullopt for any other text: a
// sign, a space, a prefix such as "0x", an empty text, or a larger number. Leading zeros are accepted. O(digits).
[[nodiscard]] inline std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace lowtide
