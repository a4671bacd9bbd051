// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/planners_page.h"

#include <algorithm>
#include <string_view>

#include "lowtide/base/bytes.h"
#include "lowtide/base/thousands.h"
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

std::string shown_size(std::int64_t bytes) { return format_bytes_short(Bytes(bytes)); }

std::string key(std::string_view css_class, std::string_view text) {
  return "<span class=\"key " + std::string(css_class) + "\">" + html_escaped(text) + "</span>";
}

std::string number_cell(const std::string& text) { return "<td class=\"number\">" + html_escaped(text) + "</td>"; }

std::string runs_table(const PlannersPage& page) {
  std::string out =
      "<div class=\"scroll\"><table><thead><tr><th>Plan</th><th class=\"number\">Most live bytes</th>"
      "<th class=\"number\">Time</th><th class=\"number\">Run again</th><th class=\"number\">Sums in parts</th>"
      "<th class=\"number\">Copies</th><th>Verdict</th></tr></thead><tbody>\n";
  for (std::size_t at = 0; at < page.runs.size(); ++at) {
    const PlannerRun& run = page.runs[at];
    out += "<tr><td>" + key(kClasses[at], run.planner) + "</td>" + number_cell(format_bytes(Bytes(run.peak_bytes))) +
           number_cell(shown_nanoseconds(run.nanoseconds)) + number_cell(std::to_string(run.reruns)) +
           number_cell(std::to_string(run.sums)) + number_cell(std::to_string(run.copies)) + "<td class=\"" +
           (run.keeps ? "good" : "bad") + "\">" + html_escaped(run.verdict) + "</td></tr>\n";
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

// The unit of the ticks, so that they are whole GiB, MiB or KiB for sizes of at least four of them.
std::int64_t size_unit(std::int64_t most) {
  for (const std::int64_t unit : {std::int64_t{1} << 30, std::int64_t{1} << 20, std::int64_t{1} << 10}) {
    if (most >= 4 * unit) return unit;
  }
  return 1;
}

std::string live_chart(const PlannersPage& page) {
  LineChart chart{.title = "Live bytes over time", .lines = {}, .x_text = shown_nanoseconds, .y_text = shown_size};
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
  chart.y_step_unit = size_unit(most);
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

std::string curve_section(const PlannersPage& page) {
  if (page.curve.empty()) return "";
  ChartLine own{.label = "Lowtide", .css_class = "own", .points = {}};
  ChartLine bound{.label = "bound", .css_class = "bound", .points = {}};
  std::int64_t most = 0;
  for (auto point = page.curve.rbegin(); point != page.curve.rend(); ++point) {
    own.points.emplace_back(point->memory_bytes, point->nanoseconds);
    bound.points.emplace_back(point->memory_bytes, point->bound_nanoseconds);
    most = std::max(most, point->memory_bytes);
  }
  LineChart chart{
      .title = "Time over memory", .lines = {bound, own}, .x_text = shown_size, .y_text = shown_nanoseconds};
  std::string keys = key("own", "Lowtide") + ", " + key("bound", "no sequence takes less");
  if (page.runs.size() > 1) {
    const PlannerRun& theirs = page.runs[1];
    chart.lines.push_back(
        {.label = theirs.planner, .css_class = "theirs", .points = {{theirs.peak_bytes, theirs.nanoseconds}}});
    keys += ", " + key("theirs", theirs.planner);
    most = std::max(most, theirs.peak_bytes);
  }
  if (page.memory_bytes > 0 && page.memory_bytes <= most) {
    std::int64_t slowest = 0;
    for (const ChartLine& line : chart.lines) {
      for (const auto& [x, y] : line.points) slowest = std::max(slowest, y);
    }
    chart.lines.push_back({.label = "memory",
                           .css_class = "memory",
                           .points = {{page.memory_bytes, 0}, {page.memory_bytes, slowest}},
                           .is_step = true});
    keys += ", " + key("memory", "the memory of the device");
  }
  chart.x_step_unit = size_unit(most);
  return "<section><h2>Time over memory</h2>\n<p>" + keys + "</p>\n<div class=\"scroll\">" +
         report_internal::svg_of(chart) + "</div></section>\n";
}

std::string shortfall_section(const PlannersPage& page) {
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
