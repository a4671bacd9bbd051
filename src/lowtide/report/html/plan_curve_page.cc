// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "lowtide/report/html/line_chart.h"
#include "lowtide/report/html/plain_style.h"
#include "lowtide/report/plan_curve_report.h"
#include "lowtide/report/summary.h"
#include "lowtide/report/text/curve_text.h"
#include "lowtide/report/text/page_text.h"
#include "lowtide/report/text/streams_text.h"

namespace lowtide {
namespace {

using report_internal::added_time_text;
using report_internal::ChartLine;
using report_internal::html_escaped;
using report_internal::LineChart;
using report_internal::name_in_page;

// What an axis of the chart shows: values from `least` on, in a unit.
struct CurveAxis {
  std::int64_t least = 0;
  std::int64_t unit = 1;  // in bytes or picoseconds
  std::string unit_name;
};

// An axis begins at 0 unless that leaves less than half of it for the values.
std::int64_t begin_of_axis(std::int64_t least, std::int64_t most, std::int64_t unit) {
  if (least < most - least) return 0;
  const std::int64_t step = report_internal::tick_step(std::max<std::int64_t>(most - least, 1), unit);
  return std::max<std::int64_t>(least - std::max(step, (most - least) / 10), 0) / step * step;
}

CurveAxis axis_of_bytes(std::int64_t least, std::int64_t most) {
  const std::array<std::pair<std::int64_t, const char*>, 3> units = {
      {{std::int64_t{1} << 20, "MiB"}, {std::int64_t{1} << 10, "KiB"}, {1, "B"}}};
  const auto fits = [&](const auto& unit) { return most - least >= 4 * unit.first; };
  const auto unit = std::find_if(units.begin(), units.end() - 1, fits);
  return {begin_of_axis(least, most, unit->first), unit->first, unit->second};
}

CurveAxis axis_of_time(std::int64_t least, std::int64_t most) {
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  const bool is_long = most >= 10 * kSecond;
  return {begin_of_axis(least, most, 1), is_long ? kSecond : kSecond / 1000, is_long ? "s" : "ms"};
}

// A value in the unit of its axis, with at most six digits after the point: "1.25".
std::string tick_text(std::int64_t value, std::int64_t unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.6f", static_cast<double>(value) / static_cast<double>(unit));
  std::string shown = text.data();
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.back() == '.') shown.pop_back();
  return shown;
}

struct CurveRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool has_any = false;

  void add(std::int64_t value) {
    least = has_any ? std::min(least, value) : value;
    most = has_any ? std::max(most, value) : value;
    has_any = true;
  }
};

std::string row_link(std::size_t at) { return "row-" + std::to_string(at + 1); }

// The points with the least RAM first, as lines need them. A plan may be that of several budgets.
LineChart chart_of_curve(const PlanCurve& curve) {
  CurveRange ram;
  CurveRange time;
  ChartLine plans{.label = "the fastest plan for each budget", .css_class = "own", .points = {}, .is_step = true};
  ChartLine bound{.label = "no plan is faster", .css_class = "bound", .points = {}, .is_step = true};
  LineChart chart{.title = "Estimated time over RAM", .lines = {}};
  ram.add(curve.floor.count());
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
    if (point.outcome != BudgetOutcome::found) continue;
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
  const CurveAxis bytes = axis_of_bytes(ram.least, ram.most);
  const CurveAxis duration = axis_of_time(time.least, time.most);
  chart.least_x = bytes.least;
  chart.least_y = duration.least;
  chart.x_step_unit = bytes.unit;
  chart.x_label = "RAM (" + bytes.unit_name + ")";
  chart.y_label = "estimated time (" + duration.unit_name + ")";
  chart.x_text = [unit = bytes.unit](std::int64_t value) { return tick_text(value, unit); };
  chart.y_text = [unit = duration.unit](std::int64_t value) { return tick_text(value, unit); };
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
      rows += "<br><code>lowtide plan " + html_escaped(name) + " --budget " +
              std::to_string(point.planned_for.count()) + "</code>";
    }
    rows += "</td></tr>\n";
  }
  return rows;
}

std::string curve_key(const char* css_class, const char* text) {
  return std::string("<span class=\"key ") + css_class + "\">" + text + "</span>";
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
         ".</p>\n<section><h2>Time over RAM</h2>\n<p>" + curve_key("own", "the fastest plan that was found") +
         " (a filled point is proven to be the fastest), " + curve_key("theirs", "the knee") +
         ", where RAM and time are balanced, " + curve_key("bound", "no plan is faster") + ", " +
         curve_key("memory", "no plan needs less RAM") + ". Each point leads to its row.</p>\n<div class=\"scroll\">" +
         report_internal::svg_of(chart_of_curve(curve)) + "</div></section>\n<section><h2>Budgets</h2>\n" +
         "<div class=\"scroll\"><table><thead><tr>";
  for (const char* title : {"Budget", "RAM", "Time", "More time", "At least", "Reruns"}) {
    out += std::string("<th class=\"number\">") + title + "</th>";
  }
  return out + "<th class=\"verdict\">Verdict</th></tr></thead><tbody>\n" + curve_rows(name, curve) +
         "</tbody></table></div>\n<p>No plan keeps a budget below " + format_bytes(curve.floor) +
         ". <i>At least</i> is what no plan that keeps the budget takes less than.</p></section>\n" +
         "</main>\n</body>\n</html>\n";
}

}  // namespace lowtide
