// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/plan_curve_report.h"

#include "lowtide/report/summary.h"
#include "lowtide/report/text/curve_text.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/streams_text.h"

namespace lowtide {
namespace {

// "knee, proven", "none found"
std::string remark_of(const PlanCurve& curve, std::size_t at) {
  const BudgetPoint& point = curve.points[at];
  if (point.outcome == BudgetOutcome::infeasible) return "none fits (proven)";
  if (point.outcome == BudgetOutcome::not_found) return "none found";
  std::string proven = point.is_proven_fastest() ? "proven" : "";
  if (curve.knee != at) return proven;
  return proven.empty() ? "knee" : "knee, proven";
}

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
         StyledText(is_found ? report_internal::added_time_text(point.picoseconds, curve.estimate.picoseconds) : ""),
         StyledText(point.bound_picoseconds == 0
                        ? ""
                        : report_internal::added_time_text(point.bound_picoseconds, curve.estimate.picoseconds)),
         StyledText(remark_of(curve, at))});
  }
  out.append(table.text()).end_line();
  out.add("  The plan without a limit takes " + report_internal::time_text(curve.estimate.picoseconds) +
          ". Times are estimates " + costs_text(curve.estimate) + ".")
      .end_line()
      .add("  No plan of " + report_internal::planned_graph_text(curve.provenance, curve.has_graphs) +
           " keeps a budget below " + report_internal::exact(curve.floor) +
           ". Proven: none that keeps the budget is faster.")
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
            std::to_string(point.bound_picoseconds) + "," + (curve.knee == at ? "1" : "0") + "\n";
  }
  return text;
}

}  // namespace lowtide
