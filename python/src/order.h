// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/import/import.h"
#include "lowtide/plan/run_values.h"
#include "lowtide/report/run_peak.h"
#include "lowtide/target/target.h"

// What the doors for ordering problems have in common.
namespace lowtide::python {

// `text` is the problem in JSON, or the path of a file with it. Errors name a place in the text, which has no name.
[[nodiscard]] ImportedOrderGraph read_order(const std::string& text, bool is_path, const OrderFileOptions& options);

// Alignment 1 keeps the sizes as they are.
[[nodiscard]] Target plain_target();

// The positions of runs in "nodes".
[[nodiscard]] std::vector<std::int64_t> numbers_of(const ImportedOrderGraph& file, const std::vector<NodeId>& runs);

// What a sequence has at its peak: rows of node, output or -1, kind, and bytes; the largest first.
[[nodiscard]] nanobind::list values_at_peak(const ImportedOrderGraph& file, const BudgetProblem& problem,
                                            const std::vector<NodeId>& runs, const CopiesOfRuns& copies = {});

// The budget without what is always live. Raises if that exceeds it.
[[nodiscard]] Bytes beside_fixed(const ImportedOrderGraph& file, std::int64_t budget);

// The title of a page, and the bytes that a process had at its peak, if they are known.
using PageHead = std::pair<std::string, std::optional<std::int64_t>>;

// A page with the values of a sequence in one arena.
[[nodiscard]] std::string page_of_runs(ShownRuns shown, const PageHead& head);

}  // namespace lowtide::python
