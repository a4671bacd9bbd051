// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/planners_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/report/page_planners.h"

namespace lowtide {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(PlannersPage, IsOneHtmlDocumentWithoutScripts) {
  const std::string html = planners_page(small_planners());
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(html, EndsWith("</html>\n"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
}

TEST(PlannersPage, HasTheFiguresOfEachRun) {
  const std::string html = planners_page(small_planners());
  EXPECT_THAT(html, HasSubstr(R"(<span class="key own">Lowtide</span></td><td class="number">3,000 B (2.93 KiB)</td>)"
                              R"(<td class="number">3.50 us</td><td class="number">1</td><td class="number">1</td>)"
                              R"(<td class="number">2</td><td class="good">keeps the memory; proven)"));
  EXPECT_THAT(html, HasSubstr("<td class=\"bad\">exceeds the memory</td>"));
  EXPECT_THAT(html, HasSubstr("<td>500 B too much</td><td>2.93 KiB in 3 us</td>"));
}

// The chart is 900 x 300. Times 0 to 4,000 ns lie from 80 to 880, so 1,000 ns are 200. Bytes 0 to 4,000 lie from 266 up
// to 14, so 1,000 B are 63.
// 4,000 ns are 800 wide, from 80 on. 4,000 bytes are 216 high, from 248 up.
TEST(PlannersPage, DrawsTheLiveBytesToScale) {
  const std::string html = planners_page(small_planners());
  EXPECT_THAT(html, HasSubstr(R"(<path class="line own" d="M80.0 194.0H280.0V86.0H680.0V194.0H780.0V194.0">)"));
  EXPECT_THAT(html, HasSubstr(R"(<path class="line memory" d="M80.0 86.0H880.0V86.0">)"));
}

// The axes are from 500 to 4,000 bytes and from 2.8 to 4 us: 500 bytes are 114.3 wide, and 0.2 us are 36 high.
TEST(PlannersPage, DrawsTheCurveToScale) {
  const std::string html = planners_page(small_planners());
  EXPECT_THAT(html, HasSubstr(R"(<path class="line own" d="M422.9 32.0H651.4V122.0H651.4V122.0H880.0V212.0">)"));
  EXPECT_THAT(html, HasSubstr(R"(d="M422.9 140.0H422.9V140.0H422.9V176.0H651.4V176.0H651.4V212.0H880.0V212.0">)"));
  EXPECT_THAT(html, HasSubstr(R"(<circle class="run theirs" cx="765.7" cy="32.0" r="8">)"));
}

TEST(PlannersPage, PointsOfTheCurveLeadToTheirRows) {
  const std::string html = planners_page(small_planners());
  for (const std::string row : {"plan-1", "plan-2", "plan-3", "memory-1", "memory-2", "memory-3"}) {
    EXPECT_THAT(html, HasSubstr("<a href=\"#" + row + "\"><circle class=\""));
    EXPECT_THAT(html, HasSubstr("<tr id=\"" + row + "\""));
  }
  EXPECT_THAT(html,
              HasSubstr(R"(<circle class="proven" cx="880.0" cy="212.0" r="5"><title>4,000 B (3.91 KiB), 3.00 us)"));
}

TEST(PlannersPage, ShowsTheMemoryForWhichNothingWasFound) {
  const std::string html = planners_page(small_planners());
  EXPECT_THAT(html, HasSubstr(R"(<a href="#memory-4"><path class="cross none" d="M189.3 243.0l10 10m0 -10l-10 10">)"));
  EXPECT_THAT(html, HasSubstr(R"(<tr id="memory-4"><td class="number">1,000 B</td><td class="number"></td>)"));
  EXPECT_THAT(html, HasSubstr("<td class=\"bad\">no sequence was found that keeps this memory</td>"));
}

TEST(PlannersPage, SaysThatThereIsNoCurveAndNoShortfall) {
  PlannersPage page = small_planners();
  page.curve.clear();
  page.shortfalls.clear();
  const std::string html = planners_page(page);
  EXPECT_THAT(html, HasSubstr("No plans for other memories, because some sizes are not known."));
  EXPECT_THAT(html, HasSubstr("<p>None was found.</p>"));
}

TEST(PlannersPage, KeepsThePeakOfALongRun) {
  PlannersPage page = small_planners();
  page.runs.resize(1);
  page.runs[0].live.clear();
  for (std::int64_t at = 0; at < 100'000; ++at)
    page.runs[0].live.emplace_back(at, at == 54'321 ? 9'999'999 : at % 1000);
  page.runs[0].nanoseconds = 100'000;
  page.runs[0].peak_bytes = 9'999'999;
  const std::string html = planners_page(page);
  EXPECT_LT(html.size(), 60'000U);
  EXPECT_THAT(html, HasSubstr("V32.0"));  // the peak
}

TEST(PlannersPage, EscapesAllText) {
  const std::string html = planners_page(hostile_planners());
  for (const char* tag : {"<script", "<img", "<svg onload", "<b>"}) EXPECT_THAT(html, Not(HasSubstr(tag)));
  EXPECT_THAT(html, HasSubstr("&amp;lt;"));
  EXPECT_THAT(html, HasSubstr("memory unknown"));
}

}  // namespace
}  // namespace lowtide
