// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/curve_text.h"

#include <array>
#include <cstdio>

namespace lowtide::report_internal {

std::string added_time_text(std::int64_t picoseconds, std::int64_t base) {
  if (picoseconds == base) return "0 %";
  if (base == 0) return "unknown";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f %%",
                100.0 * static_cast<double>(picoseconds - base) / static_cast<double>(base));
  return text.data();
}

std::string verdict_of_point(const BudgetPoint& point) {
  switch (point.outcome) {
    case BudgetOutcome::infeasible: return "no plan fits (proven)";
    case BudgetOutcome::not_found: return "no plan was found";
    case BudgetOutcome::found: break;
  }
  if (point.is_proven_fastest()) return "fits, and no plan is faster (proven)";
  if (point.bound_picoseconds == 0) return "fits";
  return "fits, and takes at most " + added_time_text(point.picoseconds, point.bound_picoseconds) +
         " more than any other plan";
}

}  // namespace lowtide::report_internal
