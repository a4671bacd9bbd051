// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/target/toml_table.h"

namespace lowtide::detail {
namespace {

// Of the text in quotes at the front of a line, quotes included; the whole line if it is not closed.
std::size_t length_of_text(std::string_view line) {
  const char quote = line[0];
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == quote) return at + 1;
    if (line[at] == '\\' && quote == '"') ++at;
  }
  return line.size();
}

// What is wrong in a line, and where it is.
struct Offence {
  std::string message;
  std::size_t column = 0;
  ErrorCode code = ErrorCode::invalid;
};

// Texts in quotes end in their line, so each line is read by itself. toml++ reads up to its first error in the same way.
std::optional<Offence> offence_in(std::string_view line) {
  int dots = 0;
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    if (rest[0] == '#') return std::nullopt;
    if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
      return Offence{"a text in three quotes; a target needs none: use one quote", at};
    }
    if (rest[0] == '"' || rest[0] == '\'') {
      at += length_of_text(rest);
      continue;
    }
    if (static_cast<unsigned char>(rest[0]) >= 0x80) {
      return Offence{"a character outside ASCII stands outside of quotes: " + quoted(rest.substr(0, 12)), at,
                     ErrorCode::malformed};
    }
    dots += rest[0] == '.' ? 1 : 0;
    if (dots > limits::kMaxTextDepth) {
      return Offence{"more than " + std::to_string(limits::kMaxTextDepth) +
                         " dots on a line, the limit of nesting (kMaxTextDepth); a target needs no dotted keys",
                     at, ErrorCode::over_limit};
    }
    ++at;
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_toml_surface(std::string_view toml, const std::string& source_name) {
  for (std::size_t line_number = 1; !toml.empty(); ++line_number) {
    const std::string_view line = toml.substr(0, toml.find('\n'));
    toml.remove_prefix(std::min(line.size() + 1, toml.size()));
    if (const std::optional<Offence> offence = offence_in(line)) {
      return Error{offence->code, offence->message,
                   source_name + ":" + std::to_string(line_number) + ":" + std::to_string(offence->column + 1)};
    }
  }
  return {};
}

}  // namespace lowtide::detail
