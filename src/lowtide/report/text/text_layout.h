// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lowtide/report/styled_text.h"

// How text is laid out in lines for a width.
namespace lowtide::report_internal {

// A line, or a part of one: bytes, and the style of each byte.
struct TextLine {
  std::string bytes;
  std::vector<Style> styles;

  void add(std::string_view text, Style style);
  void add(const TextLine& other);
  // The number of code points.
  [[nodiscard]] std::size_t width() const;
};

// A table, or a paragraph if there are no columns.
struct TextBlock {
  std::vector<TextTable::Align> columns = {};
  std::vector<std::vector<TextLine>> rows = {};  // cells
  TextLine lead = {};                            // of a paragraph: what is before its words
  std::vector<std::string> words = {};           // of a paragraph: what no line end may divide
};

// The most columns of a paragraph, however wide the terminal is.
inline constexpr std::size_t kParagraphColumns = 100;

// Lines that are indented by two columns, or by four after a mark of two columns. A wide line has at most
// kParagraphColumns.
[[nodiscard]] std::vector<TextLine> lay_out(const TextBlock& block, std::size_t columns);

// A line in lines of at most this many columns. Those that follow have the indent of the line, which includes a mark
// "- " or the like. A word that is wider than a line is cut if `cuts_words`, and otherwise exceeds it.
[[nodiscard]] std::vector<TextLine> wrap(const TextLine& line, std::size_t columns, bool cuts_words);

}  // namespace lowtide::report_internal
