// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lowtide::graph_internal {

// Lines and columns start at 1. A column is a byte of its line.
struct TextPosition {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

enum class TokenKind : std::uint8_t {
  name,    // x, conv1.weight, /layer/Conv_output_0
  text,    // in double quotes; Token::text is the part between them, with its escapes
  number,  // 12, -0.5, 1e-5f, 0x7ff8; may be malformed
  symbol,  // one of { } ( ) [ ] , = : :: <= ;
  bad,     // no token; Token::text describes it
  end,     // end of the text
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  TextPosition at;
  bool starts_line = false;  // the first token of its line, which begins a statement and never continues one

  [[nodiscard]] bool is_symbol(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  [[nodiscard]] bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

// Reads tokens with a lookahead of one. Tokens are views into the text, which must outlive them. A comment begins with
// # and ends with its line.
class TextLexer {
 public:
  explicit TextLexer(std::string_view text);

  [[nodiscard]] const Token& peek() const { return current_; }
  Token take();

 private:
  void skip_blanks();
  void advance(std::size_t count);
  [[nodiscard]] std::size_t length_of_text() const;

  std::string_view rest_;
  TextPosition at_;
  bool starts_line_ = true;
  Token current_;
};

// Whether a name needs no quotes: it begins with a letter, _ or /, continues with these, digits, . and -, and is not
// a reserved word.
[[nodiscard]] bool is_plain_name(std::string_view name);

// Whether the word must be in quotes if it is the name of a tensor or operator.
[[nodiscard]] bool is_reserved(std::string_view word);

// -?[0-9]+ within 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

// Reads a decimal number as the nearest double ("0.5", "1e-5", "-inf"), or, with the suffix f, as the nearest float
// ("0.1f"). Returns nullopt if the text is not such a number, or if the number is too large or too small for its type.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

// The shortest text that `parse_real` reads as the same bits and that `parse_integer` refuses. The usual NaN is "nan";
// any other one shows its bits: nan(0x7ff8000000000001).
[[nodiscard]] std::string print_real(double number);

// The NaN with the bits of a text such as "0x7ff8000000000001". Returns nullopt if they are not the bits of a NaN.
[[nodiscard]] std::optional<double> parse_nan_bits(std::string_view text);

}  // namespace lowtide::graph_internal
