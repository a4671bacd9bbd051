// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, StyledText(line).width());
  return widest;
}

TEST(TextLayout, ANarrowTableContinuesItsWidestColumn) {
  TextTable table({Align::left, Align::right, Align::left});
  table.add_row({"name", "1,000 B", "what it is for, in some words, and then some more"});
  EXPECT_EQ(table.text().render(false, 40),
            "  name  1,000 B  what it is for, in some\n"
            "                 words, and then some\n"
            "                 more\n");
  EXPECT_EQ(table.text().render(false), "  name  1,000 B  what it is for, in some words, and then some more\n");
}

TEST(TextLayout, AWideWordOfACellIsCut) {
  TextTable table({Align::left, Align::right});
  table.add_row({"/encoder/layers.0/self_attn/MatMul_output_0", "4 B"});
  EXPECT_EQ(table.text().render(false, 40),
            "  /encoder/layers.0/self_attn/MatMu  4 B\n"
            "  l_output_0\n");
}

// The numbers need 2 + 2 * 12 + 2 * 2 columns. Of 40, no 12 are left for the names.
TEST(TextLayout, NamesThatWouldBeCutAreAboveTheirRows) {
  TextTable table({Align::left, Align::right, Align::right});
  table.add_row({"planner", "bytes", "best by its rule"});
  table.add_row({"caffe2_interference_greedy", "57,408,000 B", "the same"});
  table.add_row({"discontinued"});
  table.add_row({"", "1 B", ""});
  EXPECT_EQ(table.text().render(false, 40),
            "  planner\n"
            "           bytes  best by its rule\n"
            "  caffe2_interference_greedy\n"
            "    57,408,000 B          the same\n"
            "  discontinued\n"
            "             1 B\n");
  EXPECT_EQ(table.text().render(false, 46),
            "  planner              bytes  best by its rule\n"
            "  caffe2_inter  57,408,000 B          the same\n"
            "  ference_gree\n"
            "  dy\n"
            "  discontinued\n"
            "                         1 B\n");
}

TEST(TextLayout, ATableThatCannotFitKeepsItsNumbers) {
  TextTable table({Align::right, Align::right});
  const std::string number(30, '9');
  table.add_row({StyledText(number), StyledText(number)});
  EXPECT_EQ(table.text().render(false, 40), "  " + number + "  " + number + "\n");
}

TEST(TextLayout, ALineContinuesWithItsIndent) {
  const StyledText text = StyledText("    - one two three four five six seven eight nine ten").end_line();
  EXPECT_EQ(text.render(false, 40),
            "    - one two three four five six seven\n"
            "      eight nine ten\n");
}

TEST(TextLayout, AWordThatIsWiderThanALineStaysWhole) {
  const std::string path(60, 'x');
  EXPECT_EQ(StyledText("see " + path + " there").end_line().render(false, 40), "see\n" + path + "\nthere\n");
}

TEST(TextLayout, StylesGoOnInTheNextLine) {
  StyledText text("one two three four five six seven eight ", Style::plain);
  text.add("nine ten", Style::bad).end_line();
  EXPECT_EQ(text.render(true, 44),
            "one two three four five six seven eight \x1b[1;31mnine\x1b[0m\n\x1b[1;31mten\x1b[0m\n");
}

TEST(TextLayout, AParagraphHasAHundredColumnsAtMost) {
  const std::string words = "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm nnnn oooo pppp qqqq rrrr";
  const StyledText text = report_internal::paragraph(words + " ssss tttt uuuu");
  EXPECT_EQ(widest_line(text.render(false)), 96U);  // 19 words of 5 columns, and the indent of 2, less a space
  EXPECT_EQ(widest_line(text.render(false, 50)), 46U);
}

TEST(TextLayout, FewColumnsCountAsForty) { EXPECT_EQ(StyledText("a b").end_line().render(false, 1), "a b\n"); }

// Nothing is lost, and nothing is wider than it must be.
TEST(TextLayout, RandomTablesKeepTheirTextAndFit) {
  Random random(20261130);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Align> columns;
    const std::int64_t count = random.between(1, 6);
    std::size_t needed = 0;
    for (std::int64_t at = 0; at < count; ++at) columns.push_back(random.chance(50) ? Align::left : Align::right);
    TextTable table(columns);
    std::vector<std::size_t> rights(columns.size(), 0);
    for (std::int64_t row = random.between(0, 4); row > 0; --row) {
      std::vector<StyledText> cells;
      for (std::size_t at = 0; at < columns.size(); ++at) {
        std::string cell;
        const std::int64_t most = columns[at] == Align::left ? 60 : 9;
        for (std::int64_t size = random.between(0, most); size > 0; --size) {
          cell += random.chance(15) ? " " : random.chance(10) ? "ä" : "x";
        }
        if (columns[at] == Align::right) rights[at] = std::max(rights[at], StyledText(cell).width());
        cells.emplace_back(cell);
      }
      table.add_row(std::move(cells));
    }
    for (std::size_t at = 0; at < columns.size(); ++at) {
      needed += 2 + (columns[at] == Align::left ? 6 : rights[at]);
    }
    const auto width = static_cast<std::size_t>(random.between(40, 120));
    const std::string text = table.text().render(false, width);
    EXPECT_EQ(without_spaces(text).size(), without_spaces(table.text().render(false)).size());
    EXPECT_LE(widest_line(text), std::max(width, needed)) << text;
  }
}

}  // namespace
}  // namespace lowtide
