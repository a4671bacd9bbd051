// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "lowtide/base/check.h"
#include "lowtide/base/hex.h"
#include "lowtide/base/utf8.h"

namespace lowtide {
namespace {

// Values of JsonWriter::levels_: a container on one line or on several, without or with elements.
constexpr char kEmptyLine = '-';
constexpr char kLine = '+';
constexpr char kEmptyLines = '=';
constexpr char kLines = '#';

// Requires: the code point is below U+10000.
void append_json_escape(std::string& out, std::uint32_t code_point) {
  out += "\\u";
  append_hex(out, static_cast<unsigned char>(code_point >> 8U));
  append_hex(out, static_cast<unsigned char>(code_point & 0xFFU));
}

// The number of characters at the start of `text` that need no escape in any JSON string.
std::size_t plain_length(std::string_view text) {
  const auto is_plain = [](char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  };
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
}

bool is_control(std::uint32_t code_point) { return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0); }

}  // namespace

void append_json_name(std::string& out, std::string_view text) {
  out += '"';
  for (;;) {
    const std::size_t plain = plain_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += "\\\\x";
      append_hex(out, static_cast<unsigned char>(sequence[0]));
    } else if (sequence == "\"") {
      out += "\\\"";
    } else if (sequence == "\\") {
      out += "\\\\\\\\";
    } else if (const std::uint32_t point = code_point_of(sequence); is_control(point)) {
      append_json_escape(out, point);
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  out += '"';
}

bool decode_json_name(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const std::string_view escape = text.substr(at + 1);
    if (escape.starts_with('\\')) {
      out += '\\';
      at += 1;
    } else {
      const std::optional<char> byte = escape.starts_with('x') ? hex_byte(escape.substr(1)) : std::nullopt;
      if (!byte) return false;
      out += *byte;
      at += 3;
    }
  }
  return true;
}

void append_script_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (;;) {
    const std::size_t plain = plain_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    LOWTIDE_CHECK(length > 0, "the text of a script is UTF-8");
    const std::string_view sequence = text.substr(0, length);
    const std::uint32_t point = code_point_of(sequence);
    if (sequence == "\"" || sequence == "\\") {
      out += '\\';
      out += sequence;
    } else if (is_control(point) || point == '<' || point == '>' || point == '&' || point == 0x2028 ||
               point == 0x2029) {
      append_json_escape(out, point);
    } else {
      out += sequence;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void JsonWriter::start_element() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  char& level = levels_.back();
  const bool in_lines = level == kEmptyLines || level == kLines;
  if (level == kLine || level == kLines) out_ += in_lines || style_ == Style::script ? "," : ", ";
  if (in_lines) out_ += '\n';
  level = in_lines ? kLines : kLine;
}

void JsonWriter::open(char bracket, Layout layout) {
  start_element();
  out_ += bracket;
  levels_ += layout == Layout::lines ? kEmptyLines : kEmptyLine;
}

void JsonWriter::close(char bracket) {
  LOWTIDE_CHECK(!levels_.empty() && !after_key_, "only an open container is closed, and every key has a value");
  if (levels_.back() == kLines) out_ += '\n';
  levels_.pop_back();
  out_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  start_element();
  append_string(name);
  out_ += style_ == Style::script ? ":" : ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  start_element();
  append_string(text);
}

void JsonWriter::append_string(std::string_view text) {
  style_ == Style::script ? append_script_json_string(out_, text) : append_json_name(out_, text);
}

void JsonWriter::value(std::int64_t number) {
  std::array<char, 24> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  literal({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void JsonWriter::literal(std::string_view text) {
  start_element();
  out_ += text;
}

}  // namespace lowtide
