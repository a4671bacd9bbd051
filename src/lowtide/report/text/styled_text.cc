// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/styled_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "lowtide/base/check.h"

namespace lowtide {
namespace {

// Uses only attributes and the first eight colours, which follow the user's palette.
std::string_view escape_of(Style style) {
  switch (style) {
    case Style::plain: return "";
    case Style::heading: return "\x1b[1m";
    case Style::strong: return "\x1b[1;36m";
    case Style::dim: return "\x1b[2m";
    case Style::good: return "\x1b[32m";
    case Style::bad: return "\x1b[1;31m";
  }
  return "";
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

StyledText& StyledText::add(std::string_view text, Style style) {
  if (text.empty()) return *this;
  if (!pieces_.empty() && pieces_.back().style == style) {
    pieces_.back().text += text;
  } else {
    pieces_.push_back({std::string(text), style});
  }
  return *this;
}

StyledText& StyledText::append(const StyledText& other) {
  for (const Piece& piece : other.pieces_) add(piece.text, piece.style);
  return *this;
}

std::size_t StyledText::width() const {
  std::size_t width = 0;
  for (const Piece& piece : pieces_) width += code_points(piece.text);
  return width;
}

std::string StyledText::render(bool colors) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    const std::string_view escape = colors ? escape_of(piece.style) : "";
    out += escape;
    out += piece.text;
    if (!escape.empty()) out += "\x1b[0m";
  }
  return out;
}

void TextTable::add_row(std::vector<StyledText> cells) {
  LOWTIDE_CHECK(cells.size() <= columns_.size(), "a row has no more cells than its table has columns");
  rows_.push_back(std::move(cells));
}

StyledText TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], row[at].width());
  }
  StyledText out;
  for (const auto& row : rows_) {
    if (row.empty()) {
      out.end_line();
      continue;
    }
    out.add("  ");
    // Spaces are written only when a cell follows, so that no line ends in spaces.
    std::size_t owed = 0;
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::size_t missing = widths[at] - row[at].width();
      if (row[at].empty()) {
        owed += missing;
      } else {
        if (columns_[at] == Align::right) owed += missing;
        out.add(std::string(owed, ' ')).append(row[at]);
        owed = columns_[at] == Align::left ? missing : 0;
      }
      owed += 2;
    }
    out.end_line();
  }
  return out;
}

std::string counted(std::int64_t count, std::string_view one) {
  return with_thousands(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

StyledText unlisted_text(std::size_t count, std::string_view one) {
  return StyledText("  " + counted(static_cast<std::int64_t>(count), one) + ", none listed").end_line();
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  const double ratio = static_cast<double>(part) / static_cast<double>(whole);
  if (ratio >= 1000) return with_thousands(part / whole) + "x";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), ratio >= 10 ? "%.1fx" : "%.1f %%", ratio >= 10 ? ratio : 100 * ratio);
  return text.data();
}

}  // namespace lowtide
