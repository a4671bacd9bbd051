// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/styled_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/report/text/text_layout.h"

namespace lowtide {

using report_internal::TextBlock;
using report_internal::TextLine;

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

constexpr std::size_t kLeastColumns = 40;

// Lines of text, where an empty last line means that the text ends with a line end.
class LineSink {
 public:
  LineSink(bool colors, std::size_t columns) : colors_(colors), columns_(std::max(columns, kLeastColumns)) {}

  void add(std::string_view text, Style style) {
    while (true) {
      const std::size_t end = text.find('\n');
      line_.add(text.substr(0, end), style);
      if (end == std::string_view::npos) return;
      finish_line();
      text.remove_prefix(end + 1);
    }
  }

  void add(const TextBlock& block) {
    for (const TextLine& line : lay_out(block, columns_)) {
      write(line);
      out_ += '\n';
    }
  }

  std::string text() && {
    write(line_);
    return std::move(out_);
  }

 private:
  void finish_line() {
    if (line_.bytes.size() <= columns_ || line_.width() <= columns_) {
      write(line_);
      out_ += '\n';
    } else {
      for (const TextLine& part : wrap(line_, columns_, false)) {
        write(part);
        out_ += '\n';
      }
    }
    line_ = {};
  }

  void write(const TextLine& line) {
    for (std::size_t begin = 0; begin < line.bytes.size();) {
      std::size_t end = begin + 1;
      while (end < line.bytes.size() && line.styles[end] == line.styles[begin]) ++end;
      const std::string_view escape = colors_ ? escape_of(line.styles[begin]) : "";
      out_ += escape;
      out_.append(line.bytes, begin, end - begin);
      if (!escape.empty()) out_ += "\x1b[0m";
      begin = end;
    }
  }

  const bool colors_;
  const std::size_t columns_;
  TextLine line_;
  std::string out_;
};

}  // namespace

StyledText& StyledText::add(std::string_view text, Style style) {
  if (text.empty()) return *this;
  if (!pieces_.empty() && pieces_.back().style == style && !pieces_.back().block) {
    pieces_.back().text += text;
  } else {
    pieces_.push_back({std::string(text), style});
  }
  return *this;
}

StyledText& StyledText::add(std::shared_ptr<const report_internal::TextBlock> block) {
  pieces_.push_back({"", Style::plain, std::move(block)});
  return *this;
}

StyledText& StyledText::append(const StyledText& other) {
  for (const Piece& piece : other.pieces_) {
    if (piece.block) {
      add(piece.block);
    } else {
      add(piece.text, piece.style);
    }
  }
  return *this;
}

std::size_t StyledText::width() const { return line().width(); }

report_internal::TextLine StyledText::line() const {
  TextLine line;
  for (const Piece& piece : pieces_) line.add(piece.text, piece.style);
  return line;
}

std::string StyledText::render(bool colors, std::size_t columns) const {
  LineSink sink(colors, columns);
  for (const Piece& piece : pieces_) {
    if (piece.block) {
      sink.add(*piece.block);
    } else {
      sink.add(piece.text, piece.style);
    }
  }
  return std::move(sink).text();
}

void TextTable::add_row(std::vector<StyledText> cells) {
  LOWTIDE_CHECK(cells.size() <= columns_.size(), "a row has no more cells than its table has columns");
  rows_.push_back(std::move(cells));
}

StyledText TextTable::text() const {
  auto block = std::make_shared<report_internal::TextBlock>();
  block->columns = columns_;
  for (const auto& row : rows_) {
    std::vector<report_internal::TextLine>& cells = block->rows.emplace_back();
    for (const StyledText& cell : row) cells.push_back(cell.line());
  }
  return StyledText().add(std::move(block));
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
