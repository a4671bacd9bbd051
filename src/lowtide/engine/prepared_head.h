// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide::engine_internal {

// What a prepared file says about one of its plans, before the constants. Constants are ranges of the file.
struct PreparedHead {
  std::int64_t model_nodes = 0;             // OpenedModel::model_nodes
  std::vector<std::string> default_inputs;  // OpenedModel::default_inputs
  ConstantTable constants;                  // those in the file, and empty ones in between (set_constant)
  Graph graph;
  PlanFile plan;
};

// Constants begin at multiples of this, as far as kernels care about addresses.
inline constexpr std::int64_t kPreparedAlignment = 64;

// Gives a constant of a table its source. Ids below it that have none become empty constants.
void set_constant(ConstantTable& table, ConstantId id, ConstantSource source);

// The heads of a file with these plans. In their tables, offsets count from the end of all heads, which is a multiple
// of kPreparedAlignment. Requires: there is at least one head, and there are at most kMaxPlansPerFile. Errors
// (over_limit): a text is longer, or an id is larger, than read_prepared_heads() accepts.
[[nodiscard]] Result<std::string> write_prepared_heads(std::span<const PreparedHead> heads);

// Reads the heads of a file, one per plan. In the tables, offsets count from the beginning of the file. Another program
// may have made the file: `verify` says whether a plan is correct.
// Errors: (io); (malformed) no prepared file, or one that was damaged; (unsupported) another version; those of
// parse_graph and read_plan_json. O(bytes of the heads).
[[nodiscard]] Result<std::vector<PreparedHead>> read_prepared_heads(const std::string& path);

}  // namespace lowtide::engine_internal
