// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/planners_page.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/thousands.h"
#include "lowtide/report/html/chart_axis.h"
#include "lowtide/report/html/line_chart.h"
#include "lowtide/report/html/plain_style.h"
#include "lowtide/report/text/page_text.h"

namespace lowtide {
namespace {

using report_internal::ChartLine;
using report_internal::html_escaped;
using report_internal::LineChart;
using report_internal::name_in_page;

constexpr std::array<std::string_view, 3> kClasses = {"given", "theirs", "own"};

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::string plan_row(std::size_t at) { return "plan-" + std::to_string(at + 1); }
std::string memory_row(std::size_t at) { return "memory-" + std::to_string(at + 1); }

std::string key(std::string_view css_class, std::string_view text) {
  return "<span class=\"key " + std::string(css_class) + "\">" + html_escaped(text) + "</span>";
}

std::string number_cell(const std::string& text) { return "<td class=\"number\">" + html_escaped(text) + "</td>"; }

std::string runs_table(const PlannersPage& page) {
  std::string out =
      "<div class=\"scroll\"><table><thead><tr><th>Plan</th><th class=\"number\">Most live bytes</th>"
      "<th class=\"number\">Time</th><th class=\"number\">Run again</th><th class=\"number\">Sums in parts</th>"
      "<th class=\"number\">Copies</th><th class=\"run-verdict\">Verdict</th></tr></thead><tbody>\n";
  for (std::size_t at = 0; at < page.runs.size(); ++at) {
    const PlannerRun& run = page.runs[at];
    out += "<tr id=\"" + plan_row(at) + "\"><td>" + key(kClasses[at], run.planner) + "</td>" +
           number_cell(format_bytes(Bytes(run.peak_bytes))) + number_cell(shown_nanoseconds(run.nanoseconds)) +
           number_cell(std::to_string(run.reruns)) + number_cell(std::to_string(run.sums)) +
           number_cell(std::to_string(run.copies)) + "<td class=\"" + (run.keeps ? "good" : "bad") + "\">" +
           html_escaped(run.verdict) + "</td></tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

// A line at the height of the memory.
ChartLine memory_line(const PlannersPage& page, std::int64_t end) {
  return {.label = "memory",
          .css_class = "memory",
          .points = {{0, page.memory_bytes}, {end, page.memory_bytes}},
          .is_step = true};
}

std::string live_chart(const PlannersPage& page) {
  LineChart chart{.title = "Live bytes over time", .lines = {}};
  std::int64_t end = 0;
  std::int64_t most = page.memory_bytes;
  for (std::size_t at = 0; at < page.runs.size(); ++at) {
    const PlannerRun& run = page.runs[at];
    ChartLine line{.label = run.planner, .css_class = std::string(kClasses[at]), .points = run.live, .is_step = true};
    if (!line.points.empty()) line.points.emplace_back(run.nanoseconds, line.points.back().second);
    chart.lines.push_back(std::move(line));
    end = std::max(end, run.nanoseconds);
    most = std::max(most, run.peak_bytes);
  }
  set_x_axis(chart, report_internal::whole_axis_of_time(end, kNanosecondsPerSecond), "time");
  set_y_axis(chart, report_internal::whole_axis_of_bytes(most), "live bytes");
  if (page.memory_bytes > 0) chart.lines.push_back(memory_line(page, end));
  return report_internal::svg_of(chart);
}

std::string live_section(const PlannersPage& page) {
  std::string keys;
  for (std::size_t at = 0; at < page.runs.size(); ++at) {
    keys += (at == 0 ? "" : ", ") + key(kClasses[at], page.runs[at].planner);
  }
  if (page.memory_bytes > 0) keys += ", " + key("memory", "the memory of the device");
  return "<section><h2>Live bytes over time</h2>\n<p>" + keys + "</p>\n<div class=\"scroll\">" + live_chart(page) +
         "</div></section>\n";
}

// Plans of other memories, bounds and the runs, so that what the axes show is filled.
class CurveChart {
 public:
  explicit CurveChart(const PlannersPage& page) : page_(page) {
    for (const PlannerPoint& point : page.curve) {
      memory_.add(point.memory_bytes);
      if (point.is_found) time_.add(point.nanoseconds);
      if (point.bound_nanoseconds > 0) time_.add(point.bound_nanoseconds);
    }
    for (const PlannerRun& run : page.runs) {
      memory_.add(run.peak_bytes);
      time_.add(run.nanoseconds);
    }
    if (page.memory_bytes > 0 && page.memory_bytes <= memory_.most) memory_.add(page.memory_bytes);
  }

  // A memory far above all plans would leave no space for them.
  [[nodiscard]] bool has_memory() const { return page_.memory_bytes > 0 && page_.memory_bytes <= memory_.most; }

  std::string draw() && {
    const report_internal::ChartAxis time = axis_of_time(time_, kNanosecondsPerSecond);
    set_x_axis(chart_, axis_of_bytes(memory_), "memory");
    set_y_axis(chart_, time, "time");
    add_lines();
    if (has_memory()) {
      chart_.lines.push_back({.label = "memory",
                              .css_class = "memory",
                              .points = {{page_.memory_bytes, time.least}, {page_.memory_bytes, time_.most}},
                              .is_step = true});
    }
    for (std::size_t at = 0; at < page_.runs.size(); ++at) add_run(at);
    for (std::size_t at = page_.curve.size(); at-- > 0;) add_point(at, time.least);
    return report_internal::svg_of(chart_);
  }

 private:
  // A bound also holds for any smaller memory.
  void add_lines() {
    ChartLine bound{.label = "no sequence takes less", .css_class = "bound", .points = {}, .is_step = true};
    for (auto point = page_.curve.rbegin(); point != page_.curve.rend(); ++point) {
      if (!point->is_found || point->bound_nanoseconds == 0) continue;
      const std::int64_t from = bound.points.empty() ? point->memory_bytes : bound.points.back().first;
      bound.points.emplace_back(from, point->bound_nanoseconds);
      bound.points.emplace_back(point->memory_bytes, point->bound_nanoseconds);
    }
    chart_.lines.push_back(std::move(bound));
    chart_.lines.push_back(own_line());
  }

  // A plan also keeps any larger memory, so the line is the least time of all plans that need no more.
  [[nodiscard]] ChartLine own_line() const {
    ChartLine own{.label = "Lowtide", .css_class = "own", .points = {}, .is_step = true};
    std::vector<std::pair<std::int64_t, std::int64_t>> plans;
    for (const PlannerPoint& point : page_.curve) {
      if (point.is_found) plans.emplace_back(point.memory_bytes, point.nanoseconds);
    }
    if (page_.runs.size() == kClasses.size()) plans.emplace_back(page_.runs[2].peak_bytes, page_.runs[2].nanoseconds);
    std::sort(plans.begin(), plans.end());
    for (const auto& [memory, time] : plans) {
      const bool is_faster = own.points.empty() || time <= own.points.back().second;
      if (is_faster) own.points.emplace_back(memory, time);
    }
    return own;
  }

  void add_point(std::size_t at, std::int64_t least_time) {
    const PlannerPoint& point = page_.curve[at];
    const std::string time = point.is_found ? ", " + shown_nanoseconds(point.nanoseconds) : std::string();
    chart_.dots.push_back({.x = point.memory_bytes,
                           .y = point.is_found ? point.nanoseconds : least_time,
                           .css_class = point.is_found ? (point.is_proven() ? "proven" : "found") : "none",
                           .label = format_bytes(Bytes(point.memory_bytes)) + time + ": " + point.verdict,
                           .link = "#" + memory_row(at),
                           .is_cross = !point.is_found});
  }

  void add_run(std::size_t at) {
    const PlannerRun& run = page_.runs[at];
    chart_.dots.push_back({.x = run.peak_bytes,
                           .y = run.nanoseconds,
                           .css_class = "run " + std::string(kClasses[at]),
                           .label = run.planner + ": " + format_bytes(Bytes(run.peak_bytes)) + ", " +
                                    shown_nanoseconds(run.nanoseconds) + ", " + run.verdict,
                           .link = "#" + plan_row(at),
                           .is_large = true});
  }

  const PlannersPage& page_;
  report_internal::ChartRange memory_;
  report_internal::ChartRange time_;
  LineChart chart_{.title = "Time over memory", .lines = {}};
};

std::string curve_table(const PlannersPage& page) {
  std::string out =
      "<div class=\"scroll\"><table><thead><tr><th class=\"number\">Memory</th><th class=\"number\">Time</th>"
      "<th class=\"number\">At least</th><th class=\"number\">Run again</th><th class=\"number\">Swaps</th>"
      "<th class=\"run-verdict\">Verdict</th></tr></thead><tbody>\n";
  for (std::size_t at = 0; at < page.curve.size(); ++at) {
    const PlannerPoint& point = page.curve[at];
    const auto if_found = [&](const std::string& text) { return number_cell(point.is_found ? text : ""); };
    out += "<tr id=\"" + memory_row(at) + "\">" + number_cell(format_bytes(Bytes(point.memory_bytes))) +
           if_found(shown_nanoseconds(point.nanoseconds)) +
           if_found(point.bound_nanoseconds > 0 ? shown_nanoseconds(point.bound_nanoseconds) : "") +
           if_found(with_thousands(point.reruns)) + if_found(with_thousands(point.swaps)) + "<td class=\"" +
           (point.is_found ? "good" : "bad") + "\">" + html_escaped(point.verdict) + "</td></tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string curve_section(const PlannersPage& page) {
  const std::string out = "<section><h2>Time over memory</h2>\n<p>";
  if (page.curve.empty()) return out + "No plans for other memories, because some sizes are not known.</p></section>\n";
  CurveChart chart(page);
  std::string keys = key("own", "Lowtide") + " (a filled point is proven to take the least time), " +
                     key("bound", "no sequence takes less");
  if (page.runs.size() > 1) keys += ", " + key("theirs", page.runs[1].planner);
  if (!page.runs.empty()) keys += ", " + key("given", page.runs[0].planner);
  if (chart.has_memory()) keys += ", " + key("memory", "the memory of the device");
  const auto is_missing = [](const PlannerPoint& point) { return !point.is_found; };
  if (std::any_of(page.curve.begin(), page.curve.end(), is_missing))
    keys += ", " + key("none", "no sequence was found");
  return out + keys + ". Large rings are the plans above. Each point leads to its row.</p>\n<div class=\"scroll\">" +
         std::move(chart).draw() + "</div>\n" + curve_table(page) + "</section>\n";
}

std::string shortfall_section(const PlannersPage& page) {
  if (page.shortfalls.empty()) {
    return "<section><h2>Where Grappler falls short in this graph</h2>\n<p>None was found.</p></section>\n";
  }
  std::string out =
      "<section><h2>Where Grappler falls short in this graph</h2>\n<div "
      "class=\"scroll\"><table><thead><tr><th>What</th>"
      "<th>Grappler</th><th>Lowtide</th></tr></thead><tbody>\n";
  for (const std::array<std::string, 3>& row : page.shortfalls) {
    out += "<tr>";
    for (const std::string& cell : row) out += "<td>" + html_escaped(name_in_page(cell)) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div></section>\n";
}

}  // namespace

std::string planners_page(const PlannersPage& page) {
  const std::string name = html_escaped(name_in_page(page.name));
  const std::string memory =
      page.memory_bytes > 0 ? "memory " + format_bytes(Bytes(page.memory_bytes)) : std::string("memory unknown");
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + name +
                    " - planners</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += report_internal::kPlainStyle;
  out += "</head>\n<body data-ready=\"yes\">\n<main>\n<h1>" + name + "</h1>\n<p>" +
         html_escaped(name_in_page(page.device)) + ", " + memory + "; link of " + html_escaped(page.link) +
         ".</p>\n<section><h2>Plans</h2>\n" + runs_table(page) + "<p>" + html_escaped(page.scope) + "</p></section>\n";
  out += live_section(page) + curve_section(page) + shortfall_section(page);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace lowtide
