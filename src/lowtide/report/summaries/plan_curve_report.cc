// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/plan_curve_report.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/streams_text.h"

namespace lowtide {
namespace {

std::string share_text(std::int64_t more, std::int64_t base) {
  if (more == base) return "0 %";
  if (base == 0) return "unknown";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f %%",
                100.0 * static_cast<double>(more - base) / static_cast<double>(base));
  return text.data();
}

std::string outcome_text(BudgetOutcome outcome) {
  switch (outcome) {
    case BudgetOutcome::found: return "";
    case BudgetOutcome::infeasible: return "none fits (proven)";
    case BudgetOutcome::not_found: return "none found";
  }
  return "";
}

bool is_knee(const PlanCurve& curve, std::size_t at) { return curve.knee == at; }

// Text between tags of a page.
std::string html(std::string_view text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

constexpr double kWidth = 640;
constexpr double kHeight = 320;
constexpr double kMargin = 30;

struct Range {
  double least;
  double most;
  // The share of the range, from 0 to 1; the middle if the range is empty.
  [[nodiscard]] double share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

// Time over RAM, one circle per plan.
std::string drawing(const PlanCurve& curve) {
  Range ram{1e30, -1e30};
  Range time{1e30, -1e30};
  for (const BudgetPoint& point : curve.points) {
    if (point.outcome != BudgetOutcome::found) continue;
    const auto bytes = static_cast<double>(point.ram.count());
    const auto picoseconds = static_cast<double>(point.picoseconds);
    ram = {std::min(ram.least, bytes), std::max(ram.most, bytes)};
    time = {std::min(time.least, picoseconds), std::max(time.most, picoseconds)};
  }
  std::string circles;
  std::string line;
  for (std::size_t at = 0; at < curve.points.size(); ++at) {
    const BudgetPoint& point = curve.points[at];
    if (point.outcome != BudgetOutcome::found) continue;
    const std::string x = number(kMargin + ram.share(static_cast<double>(point.ram.count())) * (kWidth - 2 * kMargin));
    const std::string y =
        number(kHeight - kMargin - time.share(static_cast<double>(point.picoseconds)) * (kHeight - 2 * kMargin));
    line += x + "," + y + " ";
    circles += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"" + (is_knee(curve, at) ? "8\" class=\"knee" : "4") +
               "\"><title>" + format_bytes(point.ram) + ", " +
               share_text(point.picoseconds, curve.estimate.picoseconds) + " more time" +
               (is_knee(curve, at) ? ", knee" : "") + "</title></circle>\n";
  }
  const std::string right = number(kWidth - kMargin);
  const std::string bottom = number(kHeight - kMargin);
  const std::string edge = number(kMargin);
  return "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) +
         "\" role=\"img\" aria-label=\"Estimated time over RAM\">\n<path d=\"M" + edge + " " + edge + "V" + bottom +
         "H" + right + "\"/>\n<polyline points=\"" + line + "\"/>\n" + circles + "<text x=\"" + right + "\" y=\"" +
         number(kHeight - 8) + "\" text-anchor=\"end\">RAM</text><text x=\"" + edge +
         "\" y=\"18\">estimated time</text></svg>\n";
}

constexpr const char* kStyle =
    "body{font:14px system-ui,sans-serif;margin:2em auto;max-width:50em;color-scheme:light dark}"
    "svg{width:100%;height:auto}path,polyline{fill:none;stroke:#888}polyline{stroke:#3b78c2;stroke-width:2}"
    "circle{fill:#3b78c2}.knee{fill:#d9822b}text{fill:currentColor;font-size:12px}"
    "td,th{text-align:right;padding:.2em .8em}tr.knee{font-weight:bold;background:#d9822b33}";

}  // namespace

StyledText plan_curve_summary(const std::string& path, const PlanCurve& curve) {
  StyledText out(shown_name(path), Style::heading);
  out.end_line().end_line();
  using Align = TextTable::Align;
  TextTable table({Align::right, Align::right, Align::right, Align::right, Align::right, Align::left});
  table.add_row({StyledText("budget", Style::dim), StyledText("RAM", Style::dim), StyledText("reruns", Style::dim),
                 StyledText("more time", Style::dim), StyledText("at least", Style::dim), StyledText("")});
  for (std::size_t at = 0; at < curve.points.size(); ++at) {
    const BudgetPoint& point = curve.points[at];
    const bool is_found = point.outcome == BudgetOutcome::found;
    table.add_row(
        {StyledText(report_internal::exact(point.budget)),
         StyledText(is_found ? report_internal::exact(point.ram) : ""),
         StyledText(is_found ? with_thousands(point.reruns) : ""),
         StyledText(is_found ? share_text(point.picoseconds, curve.estimate.picoseconds) : ""),
         StyledText(point.bound_picoseconds == 0 ? ""
                                                 : share_text(point.bound_picoseconds, curve.estimate.picoseconds)),
         StyledText(is_knee(curve, at) ? "knee" : outcome_text(point.outcome))});
  }
  out.append(table.text()).end_line();
  out.add("  No plan keeps a budget below " + report_internal::exact(curve.floor) +
          ". The plan without a limit takes " + report_internal::time_text(curve.estimate.picoseconds) + ".")
      .end_line()
      .add("  Times are estimates " + costs_text(curve.estimate) + ".")
      .end_line();
  return out;
}

std::string plan_curve_csv(const PlanCurve& curve) {
  std::string text = "budget,outcome,ram,picoseconds,reruns,bound_picoseconds,knee\n";
  for (std::size_t at = 0; at < curve.points.size(); ++at) {
    const BudgetPoint& point = curve.points[at];
    const bool is_found = point.outcome == BudgetOutcome::found;
    const auto cell = [&](std::int64_t value) { return is_found ? std::to_string(value) : std::string(); };
    text += std::to_string(point.budget.count()) + "," + std::string(to_string(point.outcome)) + "," +
            cell(point.ram.count()) + "," + cell(point.picoseconds) + "," + cell(point.reruns) + "," +
            std::to_string(point.bound_picoseconds) + "," + (is_knee(curve, at) ? "1" : "0") + "\n";
  }
  return text;
}

std::string plan_curve_page(const std::string& path, const PlanCurve& curve) {
  std::string rows;
  for (std::size_t at = 0; at < curve.points.size(); ++at) {
    const BudgetPoint& point = curve.points[at];
    const bool is_found = point.outcome == BudgetOutcome::found;
    rows += std::string("<tr") + (is_knee(curve, at) ? " class=\"knee\"" : "") + "><td>" + format_bytes(point.budget) +
            "</td><td>" + (is_found ? format_bytes(point.ram) : outcome_text(point.outcome)) + "</td><td>" +
            (is_found ? with_thousands(point.reruns) : "") + "</td><td>" +
            (is_found ? share_text(point.picoseconds, curve.estimate.picoseconds) : "") + "</td></tr>\n";
  }
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + html(shown_name(path)) +
         "</title><style>" + kStyle + "</style></head><body>\n<h1>" + html(shown_name(path)) +
         "</h1>\n<p>What each budget costs. The knee is where memory and time are balanced.</p>\n" + drawing(curve) +
         "<table><tr><th>budget</th><th>RAM</th><th>reruns</th><th>more time</th></tr>\n" + rows +
         "</table>\n<p>No plan keeps a budget below " + format_bytes(curve.floor) + ". Times are estimates " +
         costs_text(curve.estimate) + ".</p>\n</body></html>\n";
}

}  // namespace lowtide
