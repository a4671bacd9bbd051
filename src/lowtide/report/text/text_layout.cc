// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/text_layout.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace lowtide::report_internal {
namespace {

constexpr std::size_t kGap = 2;  // between columns, and before the first
// The least width of a column that becomes narrower. The second one counts, if not all columns fit with the first.
constexpr std::array<std::size_t, 2> kNarrowest = {12, 6};
constexpr std::size_t kDeepestIndent = 24;  // of the lines that follow in a wrapped one

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

TextLine part_of(const TextLine& line, std::size_t begin, std::size_t end) {
  const auto from = static_cast<std::ptrdiff_t>(begin);
  const auto to = static_cast<std::ptrdiff_t>(end);
  return {line.bytes.substr(begin, end - begin), {line.styles.begin() + from, line.styles.begin() + to}};
}

// The byte after `columns` code points from `begin`.
std::size_t byte_after(const std::string& bytes, std::size_t begin, std::size_t columns) {
  std::size_t at = begin;
  for (; at < bytes.size() && columns > 0; --columns) {
    ++at;
    while (at < bytes.size() && is_continuation(bytes[at])) ++at;
  }
  return at;
}

// The columns of the indent of a line, and of a mark such as "- " behind it.
std::size_t indent_of(const std::string& bytes) {
  const std::size_t spaces = std::min(bytes.find_first_not_of(' '), bytes.size());
  const bool has_mark = bytes.compare(spaces, 2, "- ") == 0;
  return std::min(spaces + (has_mark ? 2 : 0), kDeepestIndent);
}

std::size_t total_width(const std::vector<std::size_t>& widths) {
  std::size_t total = 0;
  for (std::size_t width : widths) total += kGap + width;
  return total;
}

// Makes the widest columns that are aligned to the left narrower, until all fit.
void narrow(std::vector<std::size_t>& widths, const std::vector<TextTable::Align>& columns, std::size_t limit,
            std::size_t narrowest) {
  std::size_t total = total_width(widths);
  while (total > limit) {
    std::size_t widest = widths.size();
    std::size_t next = narrowest;
    for (std::size_t at = 0; at < widths.size(); ++at) {
      if (columns[at] != TextTable::Align::left || widths[at] <= narrowest) continue;
      if (widest == widths.size() || widths[at] > widths[widest]) {
        if (widest < widths.size()) next = std::max(next, widths[widest]);
        widest = at;
      } else {
        next = std::max(next, widths[at]);
      }
    }
    if (widest == widths.size()) return;
    const std::size_t least = next == widths[widest] ? next - 1 : next;
    const std::size_t cut = std::min(total - limit, widths[widest] - least);
    widths[widest] -= cut;
    total -= cut;
  }
}

// One line of a row: `cells` are the parts of its cells that are in this line.
TextLine row_line(const std::vector<TextLine>& cells, const TextBlock& block, const std::vector<std::size_t>& widths) {
  TextLine line;
  line.add("  ", Style::plain);
  // Spaces are written only when a cell follows, so that no line ends in spaces.
  std::size_t owed = 0;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    const std::size_t width = cells[at].width();
    const std::size_t missing = widths[at] > width ? widths[at] - width : 0;
    if (width == 0) {
      owed += missing;
    } else {
      if (block.columns[at] == TextTable::Align::right) owed += missing;
      line.add(std::string(owed, ' '), Style::plain);
      line.add(cells[at]);
      owed = block.columns[at] == TextTable::Align::left ? missing : 0;
    }
    owed += kGap;
  }
  return line;
}

using Row = std::vector<TextLine>;  // its cells

std::vector<std::size_t> widths_of(const TextBlock& block) {
  std::vector<std::size_t> widths(block.columns.size(), 0);
  for (const Row& row : block.rows) {
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], row[at].width());
  }
  return widths;
}

void add_row(const Row& row, const TextBlock& block, const std::vector<std::size_t>& widths,
             std::vector<TextLine>& lines) {
  std::vector<std::vector<TextLine>> cells;
  std::size_t height = 1;
  for (std::size_t at = 0; at < row.size(); ++at) {
    const bool is_wide = row[at].width() > widths[at];
    cells.push_back(is_wide ? wrap(row[at], widths[at], true) : std::vector{row[at]});
    height = std::max(height, cells.back().size());
  }
  for (std::size_t part = 0; part < height; ++part) {
    Row parts;
    for (const auto& cell : cells) parts.push_back(part < cell.size() ? cell[part] : TextLine());
    lines.push_back(row.empty() ? TextLine() : row_line(parts, block, widths));
  }
}

// The first cell of each row on a line of its own, and the others in an indented table below, for tables that would cut
// their names otherwise.
std::vector<TextLine> lay_out_below_names(const TextBlock& block, std::size_t limit) {
  TextBlock rest;
  rest.columns.assign(block.columns.begin() + 1, block.columns.end());
  for (const Row& row : block.rows) {
    rest.rows.emplace_back(row.begin() + (row.empty() ? 0 : 1), row.end());
  }
  std::vector<std::size_t> widths = widths_of(rest);
  for (std::size_t narrowest : kNarrowest) narrow(widths, rest.columns, limit - kGap, narrowest);
  std::vector<TextLine> lines;
  for (std::size_t at = 0; at < block.rows.size(); ++at) {
    const Row& row = block.rows[at];
    if (row.empty()) lines.emplace_back();
    if (row.empty()) continue;
    TextLine name;
    name.add("  ", Style::plain);
    name.add(row.front());
    if (row.front().width() > 0) std::ranges::move(wrap(name, limit, true), std::back_inserter(lines));
    if (std::ranges::all_of(rest.rows[at], [](const TextLine& cell) { return cell.width() == 0; })) continue;
    std::vector<TextLine> below;
    add_row(rest.rows[at], rest, widths, below);
    for (const TextLine& line : below) {
      TextLine& indented = lines.emplace_back();
      indented.add("  ", Style::plain);
      indented.add(line);
    }
  }
  return lines;
}

std::vector<TextLine> lay_out_table(const TextBlock& block, std::size_t limit) {
  std::vector<std::size_t> widths = widths_of(block);
  narrow(widths, block.columns, limit, kNarrowest[0]);
  const bool has_names = block.columns.size() > 2 && block.columns[0] == TextTable::Align::left;
  if (has_names && total_width(widths) > limit && widths[0] > kNarrowest[1]) return lay_out_below_names(block, limit);
  narrow(widths, block.columns, limit, kNarrowest[1]);
  std::vector<TextLine> lines;
  for (const Row& row : block.rows) add_row(row, block, widths, lines);
  return lines;
}

std::vector<TextLine> lay_out_paragraph(const TextBlock& block, std::size_t columns) {
  const std::size_t limit = std::min(columns, kParagraphColumns);
  const std::string indent = block.lead.width() == 2 ? "    " : "  ";
  std::vector<TextLine> lines(1);
  lines.back().add("  ", Style::plain);
  lines.back().add(block.lead);
  std::size_t column = lines.back().width();
  bool is_line_begin = true;
  for (const std::string& word : block.words) {
    TextLine part;
    part.add(word, Style::plain);
    const std::size_t width = part.width();
    if (!is_line_begin && column + 1 + width > limit) {
      lines.emplace_back().add(indent, Style::plain);
      column = indent.size();
      is_line_begin = true;
    }
    if (!is_line_begin) lines.back().add(" ", Style::plain);
    lines.back().add(part);
    column += width + (is_line_begin ? 0 : 1);
    is_line_begin = false;
  }
  return lines;
}

}  // namespace

void TextLine::add(std::string_view text, Style style) {
  bytes += text;
  styles.resize(bytes.size(), style);
}

void TextLine::add(const TextLine& other) {
  bytes += other.bytes;
  styles.insert(styles.end(), other.styles.begin(), other.styles.end());
}

std::size_t TextLine::width() const {
  return static_cast<std::size_t>(
      std::count_if(bytes.begin(), bytes.end(), [](char byte) { return !is_continuation(byte); }));
}

std::vector<TextLine> lay_out(const TextBlock& block, std::size_t columns) {
  return block.columns.empty() ? lay_out_paragraph(block, columns) : lay_out_table(block, columns);
}

std::vector<TextLine> wrap(const TextLine& line, std::size_t columns, bool cuts_words) {
  const std::size_t indent = indent_of(line.bytes);
  std::vector<TextLine> lines;
  std::size_t begin = 0;
  while (begin < line.bytes.size()) {
    const std::size_t before = lines.empty() ? 0 : indent;  // columns that are spaces already
    const std::size_t room = columns > before ? columns - before : 1;
    std::size_t end = byte_after(line.bytes, begin, room);
    std::size_t next = end;
    if (end < line.bytes.size()) {
      const std::size_t text = line.bytes.find_first_not_of(' ', begin);
      std::size_t space = line.bytes.rfind(' ', end);
      if (space == std::string::npos || space <= text || space < begin) {
        space = cuts_words ? std::string::npos : line.bytes.find(' ', end);
        if (!cuts_words && space == std::string::npos) space = line.bytes.size();
      }
      if (space != std::string::npos) {
        end = space;
        next = std::min(line.bytes.find_first_not_of(' ', space), line.bytes.size());
        while (end > begin && line.bytes[end - 1] == ' ') --end;
      }
    }
    TextLine& part = lines.emplace_back();
    part.add(std::string(before, ' '), Style::plain);
    part.add(part_of(line, begin, end));
    begin = next;
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

}  // namespace lowtide::report_internal
