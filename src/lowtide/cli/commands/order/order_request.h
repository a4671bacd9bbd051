// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/import/imported.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/pipeline/resolve_hints.h"
#include "lowtide/plan/transfers.h"
#include "lowtide/target/target.h"

// What the parts of the command `order` share.
namespace lowtide::cli_internal {

struct OrderRequest {
  const Arguments& arguments;
  std::string path;  // as it is shown
  const ImportedOrderGraph& file;
  OrderOptions options;
  double import_seconds;
  const OutputFiles& files;
  ResolvedHints hints = {};  // none is refused
};

// Alignment 1 keeps the sizes of the file as they are.
[[nodiscard]] Target plain_target();

// The keys that `order` has with any options.
[[nodiscard]] Json json_of_order(const OrderRequest& request, const OrderedGraph& ordered, double seconds);
// How often each node runs.
[[nodiscard]] IdVector<NodeId, std::int64_t> runs_of(const Graph& graph, const std::vector<NodeId>& runs);
// Adds the keys `recomputed` and `order` of a sequence of runs.
void add_runs(Json& json, const ImportedOrderGraph& file, const std::vector<NodeId>& runs);

// Stops if the bytes that are always live exceed the budget, after the JSON that says so if it is asked for. Returns
// the rest of the budget.
[[nodiscard]] Bytes budget_beside_fixed(const OrderRequest& request, Bytes budget, Console& console);

// What `order --budget` shows while it searches.
[[nodiscard]] std::string progress_of_budget(bool is_found, std::int64_t cost, std::int64_t bound, std::int64_t base);
// Says that a signal ended the search.
void remark_interrupted(Console& console);

// Runs `order --budget --link`. `link`: as read_link returns it.
[[nodiscard]] ExitCode swap_budget_of(const OrderRequest& request, Bytes budget, TransferLink link, Console& console);

}  // namespace lowtide::cli_internal
