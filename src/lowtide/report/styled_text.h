// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/thousands.h"

namespace lowtide {

// The purpose of a piece of text. Without colours, the text is still complete.
enum class Style : std::uint8_t {
  plain,
  heading,  // title of a block
  strong,   // the main figure
  dim,      // less important
  good,     // proven, fits
  bad,      // does not fit, wrong
};

namespace report_internal {
struct TextBlock;
struct TextLine;
}  // namespace report_internal

// Text for a terminal in pieces of one style each, with tables and paragraphs that are laid out when it is rendered.
class StyledText {
 public:
  static constexpr std::size_t kAnyWidth = static_cast<std::size_t>(-1);

  StyledText() = default;
  // Text is styled text without a style. NOLINTBEGIN(google-explicit-constructor)
  StyledText(std::string_view text, Style style = Style::plain) { add(text, style); }
  StyledText(const std::string& text, Style style = Style::plain) { add(text, style); }
  StyledText(const char* text, Style style = Style::plain) { add(text, style); }
  // NOLINTEND(google-explicit-constructor)

  StyledText& add(std::string_view text, Style style = Style::plain);
  StyledText& append(const StyledText& other);
  StyledText& end_line() { return add("\n"); }

  // Adds a table or a paragraph.
  StyledText& add(std::shared_ptr<const report_internal::TextBlock> block);

  // Width in columns, which is the number of code points. Requires: no line ends, tables and paragraphs.
  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  // The text as one line. Requires: as width().
  [[nodiscard]] report_internal::TextLine line() const;

  // With `colors`, styles become terminal escapes; otherwise only the text is returned. Lines have at most `columns` as
  // far as possible, and at least 40 are used. Lines continue below after a space. In a table, the columns that are
  // aligned to the left become narrower, and their cells continue below. If that is not enough, the first cells are
  // above their rows. Only words that are wider than such a column are cut, and numbers never.
  [[nodiscard]] std::string render(bool colors, std::size_t columns = kAnyWidth) const;

 private:
  struct Piece {
    std::string text;
    Style style;
    std::shared_ptr<const report_internal::TextBlock> block = {};  // in place of text
  };
  std::vector<Piece> pieces_;
};

// Rows of cells in aligned columns, two spaces apart, each row indented by two.
class TextTable {
 public:
  enum class Align : std::uint8_t { left, right };

  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // Adds an empty line if there are no cells. Requires: at most as many cells as columns.
  void add_row(std::vector<StyledText> cells);
  [[nodiscard]] StyledText text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<StyledText>> rows_;
};

// "1 node", "1,234 nodes"
[[nodiscard]] std::string counted(std::int64_t count, std::string_view one);

// A line in place of a table without rows: "  3 buffers, none listed".
[[nodiscard]] StyledText unlisted_text(std::size_t count, std::string_view one);

// "12.5 %"; a factor from 1,000 % on, such as "17.2x" or "1,234x"; "-" if `whole` is 0.
[[nodiscard]] std::string percent(std::int64_t part, std::int64_t whole);

}  // namespace lowtide
