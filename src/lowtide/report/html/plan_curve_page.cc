// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/report/html/chart_axis.h"
#include "lowtide/report/html/line_chart.h"
#include "lowtide/report/html/plain_style.h"
#include "lowtide/report/plan_curve_report.h"
#include "lowtide/report/summary.h"
#include "lowtide/report/text/curve_text.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/page_text.h"
#include "lowtide/report/text/streams_text.h"

namespace lowtide {
namespace {

using report_internal::added_time_text;
using report_internal::ChartLine;
using report_internal::html_escaped;
using report_internal::LineChart;
using report_internal::name_in_page;

constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

std::string row_link(std::size_t at) { return "row-" + std::to_string(at + 1); }

// A budget for which there is no plan, on the axis.
report_internal::ChartDot cross_of(const BudgetPoint& point, std::size_t at, std::int64_t y) {
  return {.x = point.budget.count(),
          .y = y,
          .css_class = "none",
          .label = format_bytes(point.budget) + ": " + report_internal::verdict_of_point(point),
          .link = "#" + row_link(at),
          .is_cross = true};
}

// The points with the least RAM first, as lines need them. A plan may be that of several budgets.
LineChart chart_of_curve(const PlanCurve& curve) {
  report_internal::ChartRange ram;
  report_internal::ChartRange time;
  ChartLine plans{.label = "the fastest plan for each budget", .css_class = "own", .points = {}, .is_step = true};
  ChartLine bound{.label = "no plan is faster", .css_class = "bound", .points = {}, .is_step = true};
  LineChart chart{.title = "Estimated time over RAM", .lines = {}};
  std::vector<std::size_t> none;  // budgets without a plan
  if (curve.floor.count() > 0) ram.add(curve.floor.count());
  for (std::size_t at = curve.points.size(); at-- > 0;) {
    const BudgetPoint& point = curve.points[at];
    // A bound holds for its budget and for smaller ones.
    if (point.bound_picoseconds > 0 && point.outcome != BudgetOutcome::infeasible) {
      const std::int64_t from = bound.points.empty() ? point.budget.count() : bound.points.back().first;
      bound.points.emplace_back(from, point.bound_picoseconds);
      bound.points.emplace_back(point.budget.count(), point.bound_picoseconds);
      ram.add(point.budget.count());
      time.add(point.bound_picoseconds);
    }
    if (point.outcome != BudgetOutcome::found) {
      ram.add(point.budget.count());
      none.push_back(at);
      continue;
    }
    ram.add(point.ram.count());
    time.add(point.picoseconds);
    plans.points.emplace_back(point.ram.count(), point.picoseconds);
    const bool is_knee = curve.knee == at;
    chart.dots.push_back(
        {.x = point.ram.count(),
         .y = point.picoseconds,
         .css_class = std::string(is_knee ? "knee " : "") + (point.is_proven_fastest() ? "proven" : "found"),
         .label = format_bytes(point.ram) + ", " + report_internal::time_text(point.picoseconds) + ": " +
                  report_internal::verdict_of_point(point) + (is_knee ? "; the knee" : ""),
         .link = "#" + row_link(at)});
  }
  const report_internal::ChartAxis duration = axis_of_time(time, kPicosecondsPerSecond);
  set_x_axis(chart, axis_of_bytes(ram), "RAM");
  set_y_axis(chart, duration, "estimated time");
  for (const std::size_t at : none) chart.dots.push_back(cross_of(curve.points[at], at, duration.least));
  const std::int64_t floor = curve.floor.count();
  if (floor > 0) {
    chart.lines.push_back({.label = "no plan needs less RAM",
                           .css_class = "memory",
                           .points = {{floor, duration.least}, {floor, time.most}},
                           .is_step = true});
  }
  chart.lines.push_back(std::move(bound));
  chart.lines.push_back(std::move(plans));
  return chart;
}

std::string curve_cell(const std::string& text) { return "<td class=\"number\">" + html_escaped(text) + "</td>"; }

// In short, with the exact bytes beside the pointer.
std::string bytes_cell(Bytes bytes) {
  return "<td class=\"number\" title=\"" + html_escaped(format_bytes(bytes)) + "\">" +
         html_escaped(format_bytes_short(bytes)) + "</td>";
}

std::string curve_rows(const std::string& name, const PlanCurve& curve) {
  std::string rows;
  for (std::size_t at = 0; at < curve.points.size(); ++at) {
    const BudgetPoint& point = curve.points[at];
    const bool is_found = point.outcome == BudgetOutcome::found;
    const bool is_knee = curve.knee == at;
    const bool has_bound = point.bound_picoseconds > 0 && point.outcome != BudgetOutcome::infeasible;
    rows += "<tr id=\"" + row_link(at) + "\"" + (is_knee ? " class=\"knee\"" : "") + ">" + bytes_cell(point.budget) +
            (is_found ? bytes_cell(point.ram) : curve_cell("")) +
            curve_cell(is_found ? report_internal::time_text(point.picoseconds) : "") +
            curve_cell(is_found ? added_time_text(point.picoseconds, curve.estimate.picoseconds) : "") +
            curve_cell(has_bound ? added_time_text(point.bound_picoseconds, curve.estimate.picoseconds) : "") +
            curve_cell(is_found ? with_thousands(point.reruns) : "") + "<td class=\"" + (is_found ? "good" : "bad") +
            "\">" + html_escaped(report_internal::verdict_of_point(point)) + (is_knee ? " - the knee" : "");
    if (is_found) {
      rows += "<br><code>lowtide plan " + html_escaped(name) + " <span class=\"whole\">--budget " +
              std::to_string(point.planned_for.count()) + "</span></code>";
    }
    rows += "</td></tr>\n";
  }
  return rows;
}

std::string curve_key(const char* css_class, const char* text) {
  return std::string("<span class=\"key ") + css_class + "\">" + text + "</span>";
}

std::string chart_section(const PlanCurve& curve) {
  const auto is_missing = [](const BudgetPoint& point) { return point.outcome != BudgetOutcome::found; };
  const auto missing = std::count_if(curve.points.begin(), curve.points.end(), is_missing);
  const std::string out = "<section><h2>Time over RAM</h2>\n<p>";
  if (static_cast<std::size_t>(missing) == curve.points.size()) {
    return out + curve_key("none", "No plan was found for any of these budgets.") + "</p></section>\n";
  }
  const std::string crosses = missing == 0 ? "" : ", " + curve_key("none", "a budget for which no plan was found");
  return out + curve_key("own", "the fastest plan that was found") + " (a filled point is proven to be the fastest), " +
         curve_key("theirs", "the knee") + ", where RAM and time are balanced, " +
         curve_key("bound", "no plan is faster") + ", " + curve_key("memory", "no plan needs less RAM") + crosses +
         ". Each point leads to its row.</p>\n<div class=\"scroll\">" + report_internal::svg_of(chart_of_curve(curve)) +
         "</div></section>\n";
}

}  // namespace

std::string plan_curve_page(const std::string& path, const PlanCurve& curve) {
  const std::string name = name_in_page(path);
  const std::string safe = html_escaped(name);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + safe +
                    " - budgets</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += report_internal::kPlainStyle;
  out += "</head>\n<body data-ready=\"yes\">\n<main>\n<h1>" + safe +
         "</h1>\n<p>What each budget of RAM costs. Times are estimates " + html_escaped(costs_text(curve.estimate)) +
         ".</p>\n" + chart_section(curve) + "<section><h2>Budgets</h2>\n" + "<div class=\"scroll\"><table><thead><tr>";
  for (const char* title : {"Budget", "RAM", "Time", "More time", "At least", "Reruns"}) {
    out += std::string("<th class=\"number\">") + title + "</th>";
  }
  return out + "<th class=\"verdict\">Verdict</th></tr></thead><tbody>\n" + curve_rows(name, curve) +
         "</tbody></table></div>\n<p>No plan of " +
         html_escaped(report_internal::planned_graph_text(curve.provenance, curve.has_graphs)) +
         " keeps a budget below " + format_bytes(curve.floor) +
         ". <i>At least</i> is what none of them that keeps the budget takes less than.</p></section>\n" +
         "</main>\n</body>\n</html>\n";
}

}  // namespace lowtide
