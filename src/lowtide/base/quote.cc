// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/quote.h"

#include <algorithm>
#include <optional>

#include "lowtide/base/hex.h"
#include "lowtide/base/utf8.h"

namespace lowtide {
namespace {

// The length of what `text` begins with and needs no escape: characters of ASCII that can be seen, without quotes.
std::size_t length_of_plain(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '"' && c != '\\'; };
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

void append_escaped(std::string& out, std::string_view text, char quote) {
  for (;;) {
    const std::size_t plain = length_of_plain(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    const std::size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || is_invisible_or_format_character(code_point_of(sequence))) {
      for (char c : sequence) {
        out += "\\x";
        append_hex(out, static_cast<unsigned char>(c));
      }
    } else {
      if (sequence[0] == quote || sequence[0] == '\\') out += '\\';
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
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

std::string shown_path(const std::string& path) {
  const std::string shown = quoted(path);
  const bool is_plain = !path.empty() && shown.size() == path.size() + 2 && shown.compare(1, path.size(), path) == 0;
  return is_plain ? path : shown;
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
    const std::string_view escape = between_quotes.substr(at + 1);
    if (escape.starts_with('x')) {
      const std::optional<char> byte = hex_byte(escape.substr(1));
      if (!byte) return false;
      out += *byte;
      at += 3;
    } else {
      if (escape.empty() || std::string_view("\\\"'").find(escape[0]) == std::string_view::npos) return false;
      out += escape[0];
      at += 1;
    }
  }
  return true;
}

}  // namespace lowtide
