// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/order/order_file.h"
#include "lowtide/import/order/order_names.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide::import_internal {

// The entries of a file as a budget problem. The nodes that run come first, in the given order; then come parts, views
// and states. The bytes of states are not in the problem: they are live at all times.
struct OrderSteps {
  BudgetProblem problem;
  std::vector<std::size_t> runs;                  // by entry that runs: number of the node in the file
  IdVector<NodeId, std::string> names;            // of all entries
  std::vector<std::int64_t> scratch;              // by entry that runs
  IdVector<NodeId, std::int64_t> output_numbers;  // as in ImportedOrderGraph
  std::int64_t state_bytes = 0;
};

// Resolves all references. `order` has each node of the file that runs. Errors: invalid; over_limit.
[[nodiscard]] Result<OrderSteps> make_steps(const OrderFile& file, const OrderNames& names,
                                            const std::vector<std::size_t>& order);

// The same problem with other numbers for the entries that run.
[[nodiscard]] BudgetProblem renumbered(const BudgetProblem& problem, const IdVector<NodeId, NodeId>& new_ids);

}  // namespace lowtide::import_internal
