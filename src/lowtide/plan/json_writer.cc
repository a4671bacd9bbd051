// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/json_writer.h"

#include <array>
#include <charconv>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

// Levels of JsonWriter.
constexpr char kEmptyLine = '-';
constexpr char kLine = '+';
constexpr char kEmptyLines = '=';
constexpr char kLines = '#';

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_hex(std::string& out, unsigned char byte) {
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 0xFU];
}

// Length of the sequence that a lead byte announces.
std::size_t announced_length(unsigned char lead) {
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void append_json_name(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      if (byte == '"') {
        out += "\\\"";
      } else if (byte == '\\') {
        out += "\\\\\\\\";
      } else if (byte < 0x20 || byte == 0x7F) {
        out += "\\u00";
        append_hex(out, byte);
      } else {
        out += text[at];
      }
      ++at;
      continue;
    }
    const std::string_view sequence = text.substr(at, announced_length(byte));
    if (!is_utf8(sequence)) {
      out += "\\\\x";
      append_hex(out, byte);
      ++at;
    } else if (sequence.size() == 2 && byte == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0) {
      out += "\\u00";  // a control character of C1
      append_hex(out, static_cast<unsigned char>(sequence[1]));
      at += 2;
    } else {
      out += sequence;
      at += sequence.size();
    }
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
    if (++at == text.size()) return false;
    if (text[at] == '\\') {
      out += '\\';
      continue;
    }
    if (text[at] != 'x' || at + 2 >= text.size()) return false;
    const int high = hex_value(text[at + 1]);
    const int low = hex_value(text[at + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return true;
}

void JsonWriter::start_element() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  char& level = levels_.back();
  const bool in_lines = level == kEmptyLines || level == kLines;
  if (level == kLine || level == kLines) out_ += in_lines ? "," : ", ";
  if (in_lines) out_ += '\n';
  level = in_lines ? kLines : kLine;
}

void JsonWriter::open(char bracket, Layout layout) {
  start_element();
  out_ += bracket;
  levels_ += layout == Layout::lines ? kEmptyLines : kEmptyLine;
}

void JsonWriter::close(char bracket) {
  LOWTIDE_CHECK(!levels_.empty() && !after_key_, "what is closed was opened, and every key has a value");
  if (levels_.back() == kLines) out_ += '\n';
  levels_.pop_back();
  out_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  start_element();
  append_json_name(out_, name);
  out_ += ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view name) {
  start_element();
  append_json_name(out_, name);
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
