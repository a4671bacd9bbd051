// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/page_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lowtide/base/limits.h"
#include "lowtide/base/utf8.h"

namespace lowtide::report_internal {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_byte_escape(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 15U];
}

// Bytes of the UTF-8 sequence that begins at the start of `text`; 0 if none does.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size() || !is_utf8(text.substr(0, length))) return 0;
  return length;
}

// Require: one well-formed sequence.
std::uint32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead;
  std::uint32_t point = lead & (0x7FU >> sequence.size());
  for (char next : sequence.substr(1)) point = (point << 6U) | (static_cast<unsigned char>(next) & 0x3FU);
  return point;
}

void append_point_escape(std::string& out, std::uint32_t point) {
  std::array<char, 8> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), point, 16);
  out += "\\u{";
  out.append(digits.data(), end);
  out += '}';
}

void append_shown(std::string& out, std::string_view name) {
  while (!name.empty()) {
    const std::size_t length = sequence_length(name);
    if (length == 0) {
      append_byte_escape(out, static_cast<unsigned char>(name.front()));
      name.remove_prefix(1);
      continue;
    }
    const std::uint32_t point = code_point(name.substr(0, length));
    if (point < 0x20 || point == 0x7F) {
      append_byte_escape(out, static_cast<unsigned char>(point));
    } else if (is_invisible_or_format_character(point)) {
      append_point_escape(out, point);
    } else {
      out += name.substr(0, length);
    }
    name.remove_prefix(length);
  }
}

void append_unicode_escape(std::string& out, unsigned char byte) {
  out += "\\u00";
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 15U];
}

}  // namespace

std::string name_in_page(std::string_view name) {
  constexpr auto kMost = static_cast<std::size_t>(limits::kMaxNameBytes);
  std::string out;
  if (name.size() <= kMost) {
    append_shown(out, name);
    return out;
  }
  append_shown(out, name.substr(0, kMost / 2));
  out += "...";
  append_shown(out, name.substr(name.size() - kMost / 2));
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (byte < 0x20 || byte == 0x7F || letter == '<' || letter == '>' || letter == '&') {
      append_unicode_escape(out, byte);
    } else if (text.substr(at, 3) == "\xE2\x80\xA8" || text.substr(at, 3) == "\xE2\x80\xA9") {
      out += text[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      out += letter;
    }
  }
  out += '"';
}

void append_json_integer(std::string& out, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

void append_json_integers(std::string& out, std::span<const std::int64_t> numbers) {
  out += '[';
  for (std::int64_t number : numbers) {
    if (out.back() != '[') out += ',';
    append_json_integer(out, number);
  }
  out += ']';
}

void append_json_strings(std::string& out, std::span<const std::string> texts) {
  out += '[';
  bool is_first = true;
  for (const std::string& text : texts) {
    if (!is_first) out += ',';
    is_first = false;
    append_json_string(out, text);
  }
  out += ']';
}

void append_json_key(std::string& out, std::string_view key) {
  if (out.back() != '{' && out.back() != '[') out += ',';
  out += '"';
  out += key;
  out += "\":";
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (char letter : text) {
    switch (letter) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

}  // namespace lowtide::report_internal
