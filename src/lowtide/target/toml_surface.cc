// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/target/toml_table.h"

namespace lowtide::target_internal {
namespace {

// A limit, because toml++ makes a table of 200 bytes for each dot in a key. A file of kMaxTargetFileBytes with dots
// only in numbers stays below it.
constexpr int kMostDots = 65'536;

// The length of the quoted text at the start of a line, including its quotes. It is the whole line if the closing quote
// is missing.
std::size_t length_of_text(std::string_view line) {
  const char quote = line[0];
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == quote) return at + 1;
    if (line[at] == '\\' && quote == '"') ++at;
  }
  return line.size();
}

// The position of a character that toml++ may take for the end of a line: a control character except a tab, which TOML
// forbids, or a separator U+0085, U+2028 or U+2029. Returns npos if there is none.
std::size_t find_separator(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::string_view rest = line.substr(at);
    const bool is_control = static_cast<unsigned char>(line[at]) < 0x20 && line[at] != '\t';
    if (is_control || line[at] == 0x7F || rest.starts_with("\xC2\x85") || rest.starts_with("\xE2\x80\xA8") ||
        rest.starts_with("\xE2\x80\xA9")) {
      return at;
    }
  }
  return std::string_view::npos;
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// The position of the text in a line `key = "text"`. Returns npos if the line has another form.
std::size_t find_value_text(std::string_view line) {
  const auto skip = [&](std::size_t at, auto is_skipped) {
    while (at < line.size() && is_skipped(line[at])) ++at;
    return at;
  };
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const std::size_t key = skip(0, is_blank);
  const std::size_t key_end = skip(key, is_key_character);
  const std::size_t equals = skip(key_end, is_blank);
  if (key == key_end || equals >= line.size() || line[equals] != '=') return std::string_view::npos;
  const std::size_t text = skip(equals + 1, is_blank);
  return text < line.size() && (line[text] == '"' || line[text] == '\'') ? text : std::string_view::npos;
}

// A fault in a line, and its position.
struct Offence {
  std::string message;
  std::size_t column = 0;
  ErrorCode code = ErrorCode::invalid;
};

// A text in quotes ends in its line, so each line is checked on its own. toml++ finds the same texts until its first
// error.
// `dots_of_file` is the number of dots outside of quotes up to and including this line.
std::optional<Offence> offence_in(std::string_view line, int& dots_of_file) {
  if (const std::size_t at = find_separator(line); at != std::string_view::npos) {
    return Offence{
        "a control character or line separator: " + quoted(line.substr(at, 3)) + "; end lines with a newline", at,
        ErrorCode::malformed};
  }
  const std::size_t value_text = find_value_text(line);
  int dots = 0;
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    if (rest[0] == '#') return std::nullopt;
    if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
      return Offence{"a text in three quotes; use one quote", at};
    }
    if (rest[0] == '"' || rest[0] == '\'') {
      const std::size_t length = length_of_text(rest);
      const bool is_ascii = std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length),
                                        [](char c) { return static_cast<unsigned char>(c) < 0x80; });
      if (!is_ascii && at != value_text) {
        return Offence{"characters outside ASCII are allowed only in comments and in lines key = \"text\"; found " +
                           quoted(rest.substr(0, length), 40),
                       at};
      }
      at += length;
      continue;
    }
    if (static_cast<unsigned char>(rest[0]) >= 0x80) {
      return Offence{"a character outside ASCII is outside of quotes: " + quoted(rest.substr(0, 12)), at,
                     ErrorCode::malformed};
    }
    dots += rest[0] == '.' ? 1 : 0;
    dots_of_file += rest[0] == '.' ? 1 : 0;
    if (dots > limits::kMaxTextDepth) {
      return Offence{"more than " + std::to_string(limits::kMaxTextDepth) +
                         " dots on a line, the limit of nesting (kMaxTextDepth); use no dotted keys",
                     at, ErrorCode::over_limit};
    }
    if (dots_of_file > kMostDots) {
      return Offence{"more than " + std::to_string(kMostDots) + " dots in the file (kMostDots)", at,
                     ErrorCode::over_limit};
    }
    ++at;
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_toml_surface(std::string_view toml, const std::string& source_name) {
  int dots = 0;
  for (std::size_t line_number = 1; !toml.empty(); ++line_number) {
    const std::string_view line = toml.substr(0, toml.find('\n'));
    toml.remove_prefix(std::min(line.size() + 1, toml.size()));
    if (const std::optional<Offence> offence = offence_in(line, dots)) {
      return Error{offence->code, offence->message,
                   source_name + ":" + std::to_string(line_number) + ":" + std::to_string(offence->column + 1)};
    }
  }
  return {};
}

}  // namespace lowtide::target_internal
