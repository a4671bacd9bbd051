// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/curve_summary.h"

#include <cstdio>

#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

std::string overhead_of(std::int64_t cost, std::int64_t base) {
  if (cost == base) return "0 %";
  if (base == 0) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f %%", 100.0 * static_cast<double>(cost - base) / static_cast<double>(base));
  return text;
}

std::string bound_text(const BudgetAnswer& answer) {
  if (answer.is_optimal()) return "proven";
  if (answer.outcome == BudgetOutcome::infeasible) return "proven: no sequence fits";
  return overhead_of(answer.cost_bound, answer.base_cost);
}

std::string cost_text(const BudgetAnswer& answer) {
  if (answer.outcome == BudgetOutcome::found) return with_thousands(answer.cost);
  return answer.outcome == BudgetOutcome::infeasible ? "none" : "not found";
}

}  // namespace

StyledText curve_summary(const std::string& path, const BudgetCurve& curve, Bytes fixed) {
  StyledText out(shown_name(path), Style::heading);
  out.add("  " + counted(static_cast<std::int64_t>(curve.ordered.order.size()), "node")).end_line().end_line();
  TextTable table({TextTable::Align::right, TextTable::Align::right, TextTable::Align::right, TextTable::Align::left});
  table.add_row({StyledText("budget", Style::dim), StyledText("cost", Style::dim), StyledText("overhead", Style::dim),
                 StyledText("bound", Style::dim)});
  for (std::size_t at = 0; at < curve.budgets.size(); ++at) {
    const BudgetAnswer& answer = curve.answers[at];
    const bool is_found = answer.outcome == BudgetOutcome::found;
    table.add_row({StyledText(report_internal::exact(curve.budgets[at] + fixed)), StyledText(cost_text(answer)),
                   StyledText(is_found ? overhead_of(answer.cost, answer.base_cost) : ""),
                   StyledText(bound_text(answer))});
  }
  out.append(table.text()).end_line();
  const std::string floor = report_internal::exact(curve.floor + fixed);
  out.add("  No sequence keeps a budget below " + floor + ", whatever it costs.").end_line();
  return out;
}

}  // namespace lowtide
