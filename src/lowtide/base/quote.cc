// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/quote.h"

#include <cstdint>

namespace lowtide {
namespace {

// Length of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto continues = [&](std::size_t at) { return at < text.size() && (byte(at) & 0xC0U) == 0x80U; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // beyond U+10FFFF
    return 4;
  }
  return 0;
}

// Require: one well-formed sequence.
std::uint32_t code_point(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return first;
  std::uint32_t point = first & (0x7FU >> sequence.size());
  for (char next : sequence.substr(1)) point = (point << 6U) | (static_cast<unsigned char>(next) & 0x3FU);
  return point;
}

void append_hex(std::string& out, char c) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 0xFU];
}

void append_escaped(std::string& out, std::string_view text, char quote) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || acts_instead_of_being_seen(code_point(sequence))) {
      for (char c : sequence) append_hex(out, c);
    } else if (sequence[0] == quote || sequence[0] == '\\') {
      out += '\\';
      out += sequence[0];
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string quoted(std::string_view name, std::size_t most) {
  std::string out = "'";
  if (name.size() <= most) {
    append_escaped(out, name, '\'');
    return out + "'";
  }
  append_escaped(out, name.substr(0, most / 2), '\'');
  out += "...";
  append_escaped(out, name.substr(name.size() - most / 2), '\'');
  return out + "' (" + std::to_string(name.size()) + " bytes)";
}

std::string escaped(std::string_view text) {
  std::string out = "\"";
  append_escaped(out, text, '"');
  return out + "\"";
}

bool unescaped(std::string_view between_quotes, std::string& out) {
  out.clear();
  for (std::size_t at = 0; at < between_quotes.size(); ++at) {
    if (between_quotes[at] != '\\') {
      out += between_quotes[at];
      continue;
    }
    if (++at == between_quotes.size()) return false;
    if (between_quotes[at] != 'x') {
      if (between_quotes[at] != '\\' && between_quotes[at] != '"' && between_quotes[at] != '\'') return false;
      out += between_quotes[at];
      continue;
    }
    if (at + 2 >= between_quotes.size()) return false;
    const int high = hex_value(between_quotes[at + 1]);
    const int low = hex_value(between_quotes[at + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return true;
}

bool acts_instead_of_being_seen(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0xAD || point == 0x61C || point == 0x180E ||
         (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF || (point >= 0xFFF0 && point <= 0xFFFB) ||
         (point & 0xFFFEU) == 0xFFFE || (point >= 0xE0000 && point <= 0xE0FFF);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace lowtide
