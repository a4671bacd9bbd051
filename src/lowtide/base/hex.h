// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lowtide {

// Appends the two lower-case hexadecimal digits of a byte.
inline void append_hex(std::string& out, unsigned char byte) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 0xFU];
}

// The value of a hexadecimal digit of either case; nullopt for any other character.
[[nodiscard]] constexpr std::optional<unsigned> hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// The byte whose two hexadecimal digits `text` begins with; nullopt if it begins with anything else.
[[nodiscard]] constexpr std::optional<char> hex_byte(std::string_view text) {
  const std::optional<unsigned> high = text.size() < 2 ? std::nullopt : hex_value(text[0]);
  const std::optional<unsigned> low = high ? hex_value(text[1]) : std::nullopt;
  if (!low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

}  // namespace lowtide
