// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/page_text.h"

#include <array>
#include <charconv>

#include "lowtide/base/hex.h"
#include "lowtide/base/utf8.h"

namespace lowtide::report_internal {
namespace {

void append_byte_escape(std::string& out, unsigned char byte) {
  out += "\\x";
  append_hex(out, byte);
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
    const std::size_t length = utf8_length(name);
    if (length == 0) {
      append_byte_escape(out, static_cast<unsigned char>(name.front()));
      name.remove_prefix(1);
      continue;
    }
    const std::uint32_t point = code_point_of(name.substr(0, length));
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

}  // namespace

std::string name_in_page(std::string_view name) {
  constexpr std::size_t kMost = 4096;
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

std::string html_escaped(std::string_view text) {
  std::string out;
  for (char letter : text) {
    switch (letter) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += letter;
    }
  }
  return out;
}

}  // namespace lowtide::report_internal
