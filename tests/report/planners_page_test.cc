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
TEST(PlannersPage, DrawsTheLiveBytesToScale) {
  const std::string html = planners_page(small_planners());
  EXPECT_THAT(html, HasSubstr(R"(<path class="line own" d="M80.0 203.0H280.0V77.0H680.0V203.0H780.0V203.0">)"));
  EXPECT_THAT(html, HasSubstr(R"(<path class="line memory" d="M80.0 77.0H880.0V77.0">)"));
}

// Memory from 0 to 4,000 B and times from 0 to 4,000 ns have the same scales.
TEST(PlannersPage, DrawsTheCurveToScale) {
  const std::string html = planners_page(small_planners());
  EXPECT_THAT(html, HasSubstr(R"(<path class="line own" d="M480.0 14.0L680.0 45.5L880.0 77.0">)"));
  EXPECT_THAT(html, HasSubstr(R"(<path class="line bound" d="M480.0 51.8L680.0 64.4L880.0 77.0">)"));
  EXPECT_THAT(html, HasSubstr(R"(<circle class="theirs" cx="780.0" cy="14.0" r="3"/>)"));
}

// Each of the 800 columns keeps the largest and the last point of a line with many points.
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
  EXPECT_THAT(html, HasSubstr("V14.0"));  // the peak
}

TEST(PlannersPage, EscapesAllText) {
  const std::string html = planners_page(hostile_planners());
  for (const char* tag : {"<script", "<img", "<svg onload", "<b>"}) EXPECT_THAT(html, Not(HasSubstr(tag)));
  EXPECT_THAT(html, HasSubstr("&amp;lt;"));
  EXPECT_THAT(html, Not(HasSubstr("Time over memory")));
  EXPECT_THAT(html, HasSubstr("memory unknown"));
}

}  // namespace
}  // namespace lowtide
