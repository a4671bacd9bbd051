// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/proto/text_scanner.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "lowtide/base/utf8.h"

namespace lowtide::proto_internal {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<unsigned> digit_of(char c, unsigned base) {
  unsigned digit = 99;
  if (is_digit(c)) digit = static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A' + 10);
  return digit < base ? std::optional(digit) : std::nullopt;
}

// Up to `most` digits from `at` on, as one byte. Moves `at` behind them. nullopt if there is none, or if the number is
// above 255.
std::optional<char> read_code(std::string_view source, std::size_t& at, unsigned base, std::size_t most) {
  unsigned value = 0;
  const std::size_t begin = at;
  for (; at < source.size() && at - begin < most; ++at) {
    const std::optional<unsigned> digit = digit_of(source[at], base);
    if (!digit) break;
    value = value * base + *digit;
  }
  if (at == begin || value > 255) return std::nullopt;
  return static_cast<char>(value);
}

std::size_t length_of_text(std::string_view rest) {
  const char quote = rest.front();
  for (std::size_t at = 1; at < rest.size() && rest[at] != '\n'; ++at) {
    if (rest[at] == '\\') {
      ++at;
    } else if (rest[at] == quote) {
      return at + 1;
    }
  }
  return 0;
}

constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\'\"?";
constexpr std::string_view kLetters = "abfnrtv\\'\"?";

}  // namespace

ProtoScanner::ProtoScanner(std::string_view text) : rest_(text) {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  scan();
}

ProtoToken ProtoScanner::take() {
  const ProtoToken token = token_;
  scan();
  return token;
}

void ProtoScanner::advance(std::size_t bytes) {
  for (char c : rest_.substr(0, bytes)) {
    column_ = c == '\n' ? 1 : column_ + 1;
    line_ += c == '\n' ? 1 : 0;
  }
  rest_.remove_prefix(bytes);
}

void ProtoScanner::skip_blanks() {
  while (true) {
    advance(std::min(rest_.find_first_not_of(" \t\r\n\v\f"), rest_.size()));
    if (!rest_.starts_with('#')) return;
    advance(std::min(rest_.find('\n'), rest_.size()));
  }
}

void ProtoScanner::scan() {
  skip_blanks();
  token_ = {.kind = ProtoTokenKind::end, .source = {}, .line = line_, .column = column_};
  if (rest_.empty()) return;
  const char first = rest_.front();
  const auto length_of = [&](const auto& belongs) {
    return static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), belongs) - rest_.begin());
  };
  std::size_t length = 1;
  if (is_letter(first)) {
    token_.kind = ProtoTokenKind::name;
    length = length_of([](char c) { return is_letter(c) || is_digit(c); });
  } else if (is_digit(first) || first == '.') {
    token_.kind = ProtoTokenKind::number;
    char before = 0;
    length = length_of([&](char c) {
      const bool is_exponent_sign =
          (c == '-' || c == '+') && (before == 'e' || before == 'E') && !rest_.starts_with("0x");
      before = c;
      return is_letter(c) || is_digit(c) || c == '.' || is_exponent_sign;
    });
  } else if (first == '"' || first == '\'') {
    length = length_of_text(rest_);
    token_.kind = length == 0 ? ProtoTokenKind::bad : ProtoTokenKind::text;
    token_.source = length == 0 ? "a text without its closing quote" : rest_.substr(1, length - 2);
    return advance(length == 0 ? rest_.size() : length);
  } else {
    const bool is_known = std::string_view("{}<>[]:,;-/").find(first) != std::string_view::npos;
    token_.kind = is_known ? ProtoTokenKind::symbol : ProtoTokenKind::bad;
  }
  token_.source = rest_.substr(0, length);
  advance(length);
}

namespace {

// "u0041" or "U0001F600", at the letter. Two escapes of surrogates are one character.
bool append_code_point(std::string_view source, std::size_t& at, std::string& out) {
  const auto read = [&](std::uint32_t& code) {
    const std::size_t digits = source[at] == 'u' ? 4 : 8;
    const std::string_view text = source.substr(at + 1, digits);
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    at += 1 + digits;
    return text.size() == digits && fault == std::errc() && end == text.data() + digits;
  };
  std::uint32_t code = 0;
  if (!read(code)) return false;
  const bool is_high = code >= 0xD800 && code < 0xDC00;
  if (is_high && source.substr(at, 2) == "\\u") {
    ++at;
    std::uint32_t low = 0;
    if (!read(low) || low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  append_utf8(out, code);
  return true;
}

}  // namespace

bool unescape_proto(std::string_view source, std::string& out) {
  out.clear();
  for (std::size_t at = 0; at < source.size();) {
    const char c = source[at++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (at == source.size()) return false;
    const std::size_t known = kLetters.find(source[at]);
    if (known != std::string_view::npos) {
      out += kEscaped[known];
      ++at;
      continue;
    }
    if (source[at] == 'u' || source[at] == 'U') {
      if (!append_code_point(source, at, out)) return false;
      continue;
    }
    const bool is_hex = source[at] == 'x' || source[at] == 'X';
    at += is_hex ? 1 : 0;
    const std::optional<char> code = read_code(source, at, is_hex ? 16 : 8, is_hex ? 2 : 3);
    if (!code) return false;
    out += *code;
  }
  return true;
}

std::string escape_proto(std::string_view text) {
  constexpr std::string_view kWithLetters = "\n\r\t\"'\\";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kWithLetters.find(c) != std::string_view::npos) {
      out += '\\';
      out += kLetters[kEscaped.find(c)];
    } else if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += '\\';
      for (unsigned shift : {6U, 3U, 0U}) out += static_cast<char>('0' + ((byte >> shift) & 7U));
    }
  }
  return out;
}

}  // namespace lowtide::proto_internal
