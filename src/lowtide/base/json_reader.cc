// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/json_reader.h"

#include <algorithm>
#include <charconv>

#include "lowtide/base/article.h"
#include "lowtide/base/hex.h"
#include "lowtide/base/json_writer.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/utf8.h"

namespace lowtide {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string JsonReader::path() const {
  std::string out = "$";
  for (const PathStep& step : path_) {
    out += step.key.empty() ? "[" + std::to_string(step.index) + "]" : "." + std::string(step.key);
  }
  return out;
}

bool JsonReader::fail(ErrorCode code, std::string message) {
  if (error_) return false;
  const std::string_view before = text_.substr(0, std::min(value_at_, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  error_ = Error{code, std::move(message),
                 source_name_ + ":" + std::to_string(line) + ":" + std::to_string(before.size() - line_begin + 1) +
                     (path_.empty() ? "" : ": " + path())};
  return false;
}

std::string JsonReader::found() {
  if (peek() == '\0' && at_ >= text_.size()) return "the end of the text";
  // Shows a whole word or number, or one character.
  std::size_t length = 1;
  const auto in_word = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '+' ||
           (static_cast<unsigned char>(c) & 0x80U) != 0;
  };
  while (length < 40 && at_ + length < text_.size() && in_word(text_[at_]) && in_word(text_[at_ + length])) ++length;
  return quoted(text_.substr(at_, length));
}

bool JsonReader::fail_expected(std::string_view what) {
  const std::string what_is_there = found();
  value_at_ = at_;
  // Inside a value of known form, another type is invalid rather than malformed.
  return fail(path_.empty() ? ErrorCode::malformed : ErrorCode::invalid,
              "expected " + std::string(what) + ", found " + what_is_there);
}

void JsonReader::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

char JsonReader::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonReader::expect(char c, std::string_view where) {
  if (peek() != c || at_ >= text_.size()) return fail_expected("'" + std::string(1, c) + "' " + std::string(where));
  ++at_;
  return true;
}

bool JsonReader::begin(char bracket, std::string_view what) {
  if (error_) return false;
  if (peek() != bracket) return fail_expected(what);
  value_at_ = at_;
  ++at_;
  return true;
}

// Called at the start of a container and after each element. Returns false at the end of the container and after an
// error.
bool JsonReader::has_element(char closing, bool is_first) {
  if (error_) return false;
  if (peek() == closing) {
    ++at_;
    return false;
  }
  if (is_first) return true;
  // Not expect(), which would get the text of its message for each element.
  if (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    return true;
  }
  return fail_expected("',' or '" + std::string(1, closing) + "'");
}

bool JsonReader::read_key(std::span<const std::string_view> keys, std::uint64_t& seen, std::size_t& index) {
  skip_blanks();
  value_at_ = at_;
  if (!read_string(&scratch_)) return false;
  const auto key = std::find(keys.begin(), keys.end(), scratch_);
  if (key == keys.end()) {
    return fail(ErrorCode::invalid, "unknown key " + quoted(scratch_) + "; the keys here are " + listed(keys));
  }
  index = static_cast<std::size_t>(key - keys.begin());
  const std::uint64_t bit = std::uint64_t{1} << index;
  if ((seen & bit) != 0) return fail(ErrorCode::invalid, "the key " + quoted(scratch_) + " is repeated");
  seen |= bit;
  if (!expect(':', "after a key")) return false;
  skip_blanks();
  value_at_ = at_;
  return true;
}

bool JsonReader::check_complete(std::span<const std::string_view> keys, std::uint64_t seen) {
  for (std::size_t index = 0; index < keys.size(); ++index) {
    if ((seen >> index & 1U) == 0) {
      return fail(ErrorCode::invalid, "the key " + quoted(keys[index]) + " is missing");
    }
  }
  return true;
}

bool JsonReader::has_column(std::size_t column, std::span<const std::string_view> columns) {
  if (peek() == ']') {
    return fail(ErrorCode::invalid, "the row has " + with_count(static_cast<std::int64_t>(column), "column") +
                                        " instead of " + std::to_string(columns.size()) + ": " + listed(columns));
  }
  return column == 0 || expect(',', "before the next column");
}

bool JsonReader::ends_row(std::span<const std::string_view> columns) {
  if (peek() == ',') {
    return fail(ErrorCode::invalid,
                "the row has more than " + std::to_string(columns.size()) + " columns: " + listed(columns));
  }
  return expect(']', "at the end of a row");
}

bool JsonReader::read_text(std::string& out) {
  if (peek() != '"') return fail_expected("a string");
  value_at_ = at_;
  return read_string(&out);
}

bool JsonReader::read_name(std::string& out) {
  if (!read_text(out)) return false;
  if (out.find('\\') == std::string::npos) return true;
  scratch_.swap(out);
  if (decode_json_name(scratch_, out)) return true;
  return fail(ErrorCode::invalid,
              "a backslash in a name must be followed by another one, or by x and two hexadecimal digits; found " +
                  quoted(scratch_));
}

bool JsonReader::read_hex(std::uint32_t& out) {
  out = 0;
  for (int digit = 0; digit < 4; ++digit, ++at_) {
    const std::optional<unsigned> value = hex_value(at_ < text_.size() ? text_[at_] : '\0');
    if (!value) return fail(ErrorCode::malformed, "\\u in a string needs four hexadecimal digits");
    out = out * 16 + *value;
  }
  return true;
}

// Reads the rest of an escape, after the backslash.
bool JsonReader::read_escape(std::string* out) {
  static constexpr std::string_view kEscapes = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  ++at_;
  if (const std::size_t escape = kEscapes.find(c); escape != std::string_view::npos) {
    if (out != nullptr) *out += kMeanings[escape];
    return true;
  }
  if (c != 'u')
    return fail(ErrorCode::malformed, "a string has an escape that JSON does not know: \\" + quoted({&c, 1}));
  std::uint32_t code = 0;
  if (!read_hex(code)) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    std::uint32_t low = 0;
    const bool has_low = text_.substr(std::min(at_, text_.size())).starts_with("\\u");
    at_ += has_low ? 2 : 0;
    if (has_low && !read_hex(low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return fail(ErrorCode::malformed, "a string has half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    return fail(ErrorCode::malformed, "a string has half of a surrogate pair");
  }
  if (out != nullptr) append_utf8(*out, code);
  return true;
}

bool JsonReader::read_string(std::string* out) {
  if (out != nullptr) out->clear();
  if (!expect('"', "at the start of a string")) return false;
  for (;;) {
    const std::size_t begin = at_;
    bool is_ascii = true;
    for (; at_ < text_.size(); ++at_) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '"' || byte == '\\' || byte < 0x20) break;
      is_ascii = is_ascii && byte < 0x80;
    }
    const std::string_view piece = text_.substr(begin, at_ - begin);
    if (!is_ascii && !is_utf8(piece)) return fail(ErrorCode::malformed, "a string is not UTF-8");
    if (out != nullptr) *out += piece;
    if (at_ >= text_.size()) return fail(ErrorCode::malformed, "the text ends inside a string");
    const char c = text_[at_];
    ++at_;
    if (c == '"') return true;
    if (c != '\\') return fail(ErrorCode::malformed, "a string has an unescaped control character: " + quoted({&c, 1}));
    if (!read_escape(out)) return false;
  }
}

// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool JsonReader::read_number(std::string_view& out, bool& is_integer) {
  const std::size_t begin = at_;
  const auto next_is = [&](auto... any) { return at_ < text_.size() && ((text_[at_] == any) || ...); };
  const auto skip_digits = [&] {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ - first;
  };
  is_integer = true;
  if (next_is('-')) ++at_;
  const bool leading_zero = next_is('0');
  const std::size_t digits = skip_digits();
  bool ok = digits > 0 && !(leading_zero && digits > 1);
  if (ok && next_is('.')) {
    ++at_;
    is_integer = false;
    ok = skip_digits() > 0;
  }
  if (ok && next_is('e', 'E')) {
    ++at_;
    is_integer = false;
    if (next_is('+', '-')) ++at_;
    ok = skip_digits() > 0;
  }
  out = text_.substr(begin, at_ - begin);
  at_ = ok ? at_ : begin;
  return ok;
}

bool JsonReader::read_integer(std::string_view what, std::int64_t least, std::int64_t most, std::int64_t& out) {
  skip_blanks();
  value_at_ = at_;
  std::string_view number;
  bool is_integer = false;
  if (!read_number(number, is_integer)) return fail_expected(what);
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), out);
  if (!is_integer || code != std::errc() || end != number.data() + number.size() || out < least || out > most) {
    return fail(ErrorCode::invalid, "expected " + std::string(what) + " (an integer in [" + std::to_string(least) +
                                        ", " + std::to_string(most) + "]), found " + quoted(number, 40));
  }
  return true;
}

bool JsonReader::read_literal(std::string_view literal) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(literal)) return false;
  value_at_ = at_;
  at_ += literal.size();
  return true;
}

bool JsonReader::read_bool(bool& out) {
  out = read_literal("true");
  return out || read_literal("false") || fail_expected("true or false");
}

bool JsonReader::accept_null() { return read_literal("null"); }

bool JsonReader::skip_scalar() {
  const char c = peek();
  value_at_ = at_;
  if (c == '"') return read_string(nullptr);
  std::string_view number;
  bool is_integer = false;
  if ((c == '-' || is_digit(c)) && read_number(number, is_integer)) return true;
  return read_literal("true") || read_literal("false") || read_literal("null") || fail_expected("a value");
}

bool JsonReader::skip_value(int depth) {
  std::string open;  // the brackets that are open inside this value
  for (;;) {
    const char c = peek();
    value_at_ = at_;
    const bool opens = c == '{' || c == '[';
    if (opens) {
      ++at_;
      open += c == '{' ? '}' : ']';
      if (depth + static_cast<int>(open.size()) > limits::kMaxTextDepth) {
        return fail(ErrorCode::over_limit,
                    "nested deeper than the limit of " + std::to_string(limits::kMaxTextDepth) + " (kMaxTextDepth)");
      }
    } else if (!skip_scalar()) {
      return false;
    }
    bool is_first = opens;
    while (!open.empty() && !has_element(open.back(), is_first)) {
      if (error_) return false;
      open.pop_back();
      is_first = false;
    }
    if (open.empty()) return true;
    if (open.back() == '}' && (!read_string(nullptr) || !expect(':', "after a key"))) return false;
  }
}

bool JsonReader::read_end() {
  (void)peek();
  return at_ >= text_.size() || fail_expected("the end of the text");
}

}  // namespace lowtide
