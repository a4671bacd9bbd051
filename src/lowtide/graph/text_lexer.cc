// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/text_lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace lowtide::graph_internal {
namespace {

constexpr std::uint64_t kUsualNan = 0x7FF8000000000000ULL;

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_name(char c) { return is_letter(c) || c == '_' || c == '/'; }
constexpr bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.' || c == '-'; }
constexpr bool continues_number(char c) { return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '+'; }

// The answers of a predicate for each character. A table, because most of the time of the lexer is spent in names.
template <bool (*kPredicate)(char)>
constexpr std::array<bool, 256> kAnswers = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c) table[static_cast<std::size_t>(c)] = kPredicate(static_cast<char>(c));
  return table;
}();

// How many characters at the start of the text the predicate accepts.
template <bool (*kPredicate)(char)>
std::size_t length_while(std::string_view text) {
  const auto is_accepted = [](char c) { return kAnswers<kPredicate>[static_cast<unsigned char>(c)]; };
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_accepted) - text.begin());
}

template <typename Real>
std::optional<double> parse_as(std::string_view text) {
  Real number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || std::isnan(number)) return std::nullopt;
  return static_cast<double>(number);
}

template <typename Real>
std::string shortest(Real number) {
  std::array<char, 64> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return std::string(digits.data(), end);
}

}  // namespace

TextLexer::TextLexer(std::string_view text) : rest_(text) { take(); }

void TextLexer::advance(std::size_t count) {
  at_.column += static_cast<std::uint32_t>(count);
  rest_.remove_prefix(count);
}

void TextLexer::skip_blanks() {
  while (!rest_.empty()) {
    if (rest_[0] == '\n') {
      ++at_.line;
      at_.column = 1;
      starts_line_ = true;
      rest_.remove_prefix(1);
    } else if (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r') {
      advance(1);
    } else if (rest_[0] == '#') {
      advance(std::min(rest_.find('\n'), rest_.size()));
    } else {
      return;
    }
  }
}

// The length of the quoted text at the start, including its quotes. Returns 0 if the line ends first.
std::size_t TextLexer::length_of_text() const {
  for (std::size_t at = 1; at < rest_.size() && rest_[at] != '\n'; ++at) {
    if (rest_[at] == '"') return at + 1;
    if (rest_[at] == '\\') ++at;
  }
  return 0;
}

Token TextLexer::take() {
  const Token taken = current_;
  skip_blanks();
  current_ = Token{TokenKind::end, {}, at_, starts_line_};
  starts_line_ = false;
  if (rest_.empty()) return taken;
  std::size_t length = 1;
  const char first = rest_[0];
  if (first == '"') {
    length = length_of_text();
    if (length == 0) {
      current_.kind = TokenKind::bad;
      current_.text = "a text whose closing quote is missing";
      rest_ = {};
      return taken;
    }
    current_.kind = TokenKind::text;
    current_.text = rest_.substr(1, length - 2);
  } else {
    if (starts_name(first)) {
      current_.kind = TokenKind::name;
      length = length_while<continues_name>(rest_);
    } else if (is_digit(first) || first == '-') {
      current_.kind = TokenKind::number;
      length = length_while<continues_number>(rest_);
    } else {
      const bool is_known = std::string_view("{}()[],=:;").find(first) != std::string_view::npos;
      if (rest_.starts_with("::") || rest_.starts_with("<=")) length = 2;
      current_.kind = is_known || length == 2 ? TokenKind::symbol : TokenKind::bad;
    }
    current_.text = rest_.substr(0, length);
  }
  advance(length);
  return taken;
}

bool is_reserved(std::string_view word) {
  static constexpr std::array<std::string_view, 9> kReserved = {"_",      "captured", "constant", "input", "node",
                                                                "output", "state",    "tensor",   "update"};
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && starts_name(name[0]) && length_while<continues_name>(name) == name.size() &&
         !is_reserved(name);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_real(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  // from_chars would also accept "infinity" and "nan", which are not part of this form.
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.size() == sign || !is_digit(text[sign])) return std::nullopt;
  if (text.ends_with('f')) return parse_as<float>(text.substr(0, text.size() - 1));
  return parse_as<double>(text);
}

std::optional<double> parse_nan_bits(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t bits = 0;
  const auto [end, code] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const auto number = std::bit_cast<double>(bits);
  if (!std::isnan(number)) return std::nullopt;
  return number;
}

std::string print_real(double number) {
  if (std::isnan(number)) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    if (bits == kUsualNan) return "nan";
    std::array<char, 16> digits{};
    const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    return "nan(0x" + std::string(digits.data(), end) + ")";
  }
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string text = shortest(number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  // Attributes of ONNX are floats. 0.1f is easier to read than 0.10000000149011612 and has the same value.
  if (std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()) &&
      static_cast<double>(static_cast<float>(number)) == number) {
    std::string as_float = shortest(static_cast<float>(number)) + "f";
    if (as_float.size() + 2 < text.size()) return as_float;
  }
  return text;
}

}  // namespace lowtide::graph_internal
