// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/cli/commands/order/order_request.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/import/imported.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/report/run_peak.h"

// What is live at the peak of a sequence, as text, as JSON and as a page.
namespace lowtide::cli_internal {

inline constexpr std::size_t kMostAtPeak = 10;  // values in the text; JSON has all

// `problem`: that of the file, or one with the same entries. It and the runs must outlive the result.
[[nodiscard]] ShownRuns shown_runs(const ImportedOrderGraph& file, const BudgetProblem& problem,
                                   const std::vector<NodeId>& runs);
// The order in which each node runs once, where an output counts beside what it overwrites and states do not count.
[[nodiscard]] ShownRuns shown_order(const ImportedOrderGraph& file, const std::vector<NodeId>& order);

// The value of the key `peak`.
[[nodiscard]] Json json_of_peak(const ImportedOrderGraph& file, const ShownRuns& shown);

// Places the values in one arena and writes the page of --html, if it is asked for.
void write_runs_page(const OrderRequest& request, const ShownRuns& shown, Console& console);

}  // namespace lowtide::cli_internal
