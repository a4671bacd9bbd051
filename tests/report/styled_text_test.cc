// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/styled_text.h"

#include <gtest/gtest.h>

#include "lowtide/base/check.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;

TEST(StyledText, WithoutColoursIsItsText) {
  StyledText text("a");
  text.add("b", Style::bad).add("").add("c", Style::bad).end_line();
  EXPECT_EQ(text.render(false), "abc\n");
}

TEST(StyledText, WithColoursEachPieceEndsItsOwn) {
  StyledText text("a");
  text.add("b", Style::dim).add("c", Style::dim).add("d");
  EXPECT_EQ(text.render(true), "a\x1b[2mbc\x1b[0md");  // neighbours of one style are one piece
}

TEST(StyledText, WidthCountsCodePointsAndNoEscapes) { EXPECT_EQ(StyledText("äöü", Style::bad).width(), 3U); }

TEST(TextTable, AlignsColumnsAndEndsNoLineInBlanks) {
  TextTable table({Align::left, Align::right, Align::left});
  table.add_row({"a", "1,000", "x"});
  table.add_row({});
  table.add_row({"long", "1"});
  table.add_row({"", "", "y"});
  EXPECT_EQ(table.text().render(false),
            "  a     1,000  x\n"
            "\n"
            "  long      1\n"
            "               y\n");
}

TEST(TextTable, RefusesMoreCellsThanColumns) {
  TextTable table({Align::left});
  EXPECT_THROW(table.add_row({"a", "b"}), InvariantViolation);
}

TEST(Numbers, HaveThousandsAndPercents) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(-1234567), "-1,234,567");
  EXPECT_EQ(percent(1, 8), "12.5 %");
  EXPECT_EQ(percent(1, 0), "-");
  EXPECT_EQ(percent(999, 100), "999.0 %");
  EXPECT_EQ(percent(17, 1), "17.0x");
  EXPECT_EQ(percent(4097, 3), "1,365x");
  EXPECT_EQ(counted(0, "node"), "0 nodes");
  EXPECT_EQ(counted(1, "node"), "1 node");
  EXPECT_EQ(counted(1234, "node"), "1,234 nodes");
}

}  // namespace
}  // namespace lowtide
