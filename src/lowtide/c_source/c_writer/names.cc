// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/names.h"

#include "lowtide/base/quote.h"
#include "lowtide/base/unique_names.h"

namespace lowtide::c_writer_internal {
namespace {

bool is_digit(char one) { return one >= '0' && one <= '9'; }
bool is_lower(char one) { return one >= 'a' && one <= 'z'; }
bool is_upper(char one) { return one >= 'A' && one <= 'Z'; }

// Puts a space between two characters that mean something together.
void separate(std::string& text, std::string_view pair) {
  for (std::size_t at = text.find(pair); at != std::string::npos; at = text.find(pair, at + 1)) {
    text.insert(at + 1, " ");
  }
}

}  // namespace

std::string identifier_part(std::string_view name) {
  std::string part;
  for (const char one : name) {
    if (part.size() == kMostNameCharacters) break;
    if (is_lower(one) || is_digit(one)) {
      part += one;
    } else if (is_upper(one)) {
      part += static_cast<char>(one - 'A' + 'a');
    } else if (!part.empty() && part.back() != '_') {
      part += '_';
    }
  }
  while (!part.empty() && part.back() == '_') part.pop_back();
  return part;
}

std::string prefix_of(std::string_view name) {
  const std::string part = identifier_part(name);
  if (part.empty()) return "model";
  return is_digit(part.front()) ? "model_" + part : part;
}

std::vector<std::string> identifier_parts(std::span<const std::string> names, const std::string& fallback) {
  return unique_names(names, [&](std::string_view name) {
    std::string part = identifier_part(name);
    return part.empty() ? fallback : part;
  });
}

std::string in_capitals(std::string_view name) {
  std::string capitals;
  for (const char one : name) capitals += is_lower(one) ? static_cast<char>(one - 'a' + 'A') : one;
  return capitals;
}

std::string comment_text(std::string_view text, std::size_t most) {
  const std::string shown = quoted(text, most);
  // Quotes are for names; a comment is a text already.
  const bool is_whole = shown.size() >= 2 && shown.front() == '\'' && shown.back() == '\'';
  std::string comment = is_whole ? shown.substr(1, shown.size() - 2) : shown;
  for (const std::string_view pair : {"*/", "/*", "??"}) separate(comment, pair);
  return comment;
}

}  // namespace lowtide::c_writer_internal
