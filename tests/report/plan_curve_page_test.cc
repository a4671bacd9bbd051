// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "lowtide/report/plan_curve_report.h"
#include "tests/report/page_curves.h"

namespace lowtide {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(PlanCurvePage, IsOneHtmlDocumentWithoutScripts) {
  const std::string html = plan_curve_page("model.onnx", small_curve());
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(html, EndsWith("</html>\n"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
}

TEST(PlanCurvePage, HasAVerdictForEachRow) {
  const std::string html = plan_curve_page("model.onnx", small_curve());
  EXPECT_THAT(html, HasSubstr("fits, and no plan is faster (proven) - the knee"));
  // 130 ms are 8.33 % more than 120.
  EXPECT_THAT(html, HasSubstr("fits, and takes at most 8.33 % more than any other plan"));
  EXPECT_THAT(html, HasSubstr("<td class=\"bad\">no plan fits (proven)</td>"));
  EXPECT_THAT(
      html,
      HasSubstr("<code>lowtide plan model.onnx <span class=\"whole\">--budget 14680064</span></code>"));  // 14 MiB
}

TEST(PlanCurvePage, PointsLeadToTheirRows) {
  const std::string html = plan_curve_page("model.onnx", small_curve());
  for (const char* row : {"row-1", "row-2", "row-3", "row-4"}) {
    EXPECT_THAT(html, HasSubstr("<a href=\"#" + std::string(row) + "\"><circle class=\""));
    EXPECT_THAT(html, HasSubstr("<tr id=\"" + std::string(row) + "\""));
  }
  EXPECT_THAT(html, HasSubstr("<tr id=\"row-5\""));
  EXPECT_THAT(html, HasSubstr("<a href=\"#row-5\"><path class=\"cross none\""));
  EXPECT_THAT(html, HasSubstr("a budget for which no plan was found"));
}

// Times of 100 to 130 ms would fill less than half of an axis that begins at 0, and so would 12 to 20 MiB.
TEST(PlanCurvePage, AxesHaveUnitsAndBreakMarks) {
  const std::string html = plan_curve_page("model.onnx", small_curve());
  EXPECT_THAT(html, HasSubstr(">RAM (MiB)</text>"));
  EXPECT_THAT(html, HasSubstr(">estimated time (ms)</text>"));
  EXPECT_THAT(html, HasSubstr(">105</text>"));
  EXPECT_THAT(html, HasSubstr("The axis does not begin at 0."));
  PlanCurve wide = small_curve();
  wide.floor = wide.points.back().budget = Bytes(0);
  for (BudgetPoint& point : wide.points) point.picoseconds *= point.reruns;
  wide.points[0].bound_picoseconds = wide.points[1].bound_picoseconds = wide.points[2].bound_picoseconds = 1;
  EXPECT_THAT(plan_curve_page("model.onnx", wide), Not(HasSubstr("The axis does not begin at 0.")));
}

// A single plan of 20 MiB and 100 ms: both axes begin at 0 and have round numbers.
TEST(PlanCurvePage, OnePlanHasRoundNumbersAtItsAxes) {
  PlanCurve one = small_curve();
  one.points.resize(1);
  one.floor = Bytes(20 << 20);
  const std::string html = plan_curve_page("model.onnx", one);
  EXPECT_THAT(html, HasSubstr(R"(<text x="480.0" y="266.0" text-anchor="middle">10</text>)"));
  EXPECT_THAT(html, HasSubstr(R"(<text x="74.0" y="165.6" text-anchor="end">40</text>)"));
  EXPECT_THAT(html, HasSubstr(R"(cx="880.0" cy="32.0" r="5")"));
  EXPECT_THAT(html, Not(HasSubstr("The axis does not begin at 0.")));
}

TEST(PlanCurvePage, SaysThatNoPlanWasFound) {
  PlanCurve none = small_curve();
  none.points.erase(none.points.begin(), none.points.end() - 1);
  none.knee = std::nullopt;
  const std::string html = plan_curve_page("model.onnx", none);
  EXPECT_THAT(html, HasSubstr("No plan was found for any of these budgets."));
  EXPECT_THAT(html, Not(HasSubstr("<svg")));
  EXPECT_THAT(html, HasSubstr("<td class=\"bad\">no plan fits (proven)</td>"));
}

// A curve of the kernels of a machine is about its graphs, not about the model.
TEST(PlanCurve, SaysWhichGraphItsProofsAreAbout) {
  PlanCurve curve = small_curve();
  const auto both = [&] { return plan_curve_summary("model.onnx", curve).render(false) + plan_curve_page("m", curve); };
  // 12 MiB are 12,582,912 bytes.
  EXPECT_THAT(both(),
              HasSubstr("  No plan of the model as written keeps a budget below 12,582,912 B. Proven: none that "
                        "keeps the budget is faster.\n"));
  EXPECT_THAT(both(), HasSubstr("<p>No plan of the model as written keeps a budget below"));
  curve.provenance.target = "cpu";
  curve.provenance.lowering = {"chains"};
  EXPECT_THAT(both(), HasSubstr("  No plan of the graph that target cpu runs keeps a budget below 12,582,912 B."));
  curve.has_graphs = true;
  EXPECT_THAT(both(), HasSubstr("  No plan of any graph that target cpu may run keeps a budget below 12,582,912 B."));
  EXPECT_THAT(both(), HasSubstr("<p>No plan of any graph that target cpu may run keeps a budget below"));
}

TEST(PlanCurvePage, EscapesTheName) { EXPECT_THAT(plan_curve_page("<b>.onnx", small_curve()), Not(HasSubstr("<b>"))); }

}  // namespace
}  // namespace lowtide
