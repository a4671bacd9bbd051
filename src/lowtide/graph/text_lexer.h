// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lowtide::detail {

// Lines and columns count from 1; columns count bytes.
struct TextPosition {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

enum class TokenKind : std::uint8_t {
  name,    // x, conv1.weight, /layer/Conv_output_0
  text,    // in double quotes; Token::text is the part between them, escapes unread
  number,  // 12, -0.5, 1e-5f, 0x7ff8; not yet checked
  symbol,  // one of { } ( ) [ ] , = : :: <= ;
  bad,     // no token of this form; Token::text says what it is
  end,     // end of the text
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  TextPosition at;
  bool starts_line = false;  // the first token of its line: it begins a statement, it never continues one

  [[nodiscard]] bool is_symbol(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  [[nodiscard]] bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

// One token of lookahead over a text; keeps views into it. Comments run from # to the end of the line.
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

// Whether a name can stand in a text without quotes: a letter, _ or /, then these, digits, . and -; no reserved word.
[[nodiscard]] bool is_plain_name(std::string_view name);

// The words that may not stand for a tensor or an operator without quotes.
[[nodiscard]] bool is_reserved(std::string_view word);

// -?[0-9]+ within 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

// A decimal number that a double holds ("0.5", "1e-5", "-inf"), or, with the suffix f, the float nearest to it
// ("0.1f"). Nothing if the text is something else, or the number is too large or too small for its type.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

// The shortest text that `parse_real` reads as the same bits; never one that `parse_integer` takes. A NaN other than
// the usual one shows its bits: nan(0x7ff8000000000001).
[[nodiscard]] std::string print_real(double number);

// The bits of "0x7ff8000000000001"; nothing unless they are those of a NaN.
[[nodiscard]] std::optional<double> parse_nan_bits(std::string_view text);

}  // namespace lowtide::detail
