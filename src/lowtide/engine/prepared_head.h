// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide::engine_internal {

// What a prepared file begins with, behind its first line. Constants are ranges of the file.
struct PreparedHead {
  std::int64_t model_nodes = 0;             // OpenedModel::model_nodes
  std::vector<std::string> default_inputs;  // OpenedModel::default_inputs
  ConstantTable constants;
  Graph graph;
  PlanFile plan;
};

// Constants begin at multiples of this, as far as kernels care about addresses.
inline constexpr std::int64_t kPreparedAlignment = 64;

// The head of a file with these constants. In the table, offsets count from the end of the head, which is a multiple of
// kPreparedAlignment. Errors (over_limit): a text is longer, or an id is larger, than read_prepared_head() accepts.
[[nodiscard]] Result<std::string> write_prepared_head(const PreparedHead& head, const std::vector<ConstantId>& used);

// Reads the head of a file. In the table, offsets count from the beginning of the file. Another program may have made
// the file: `verify` says whether the plan is correct.
// Errors: (io); (malformed) no prepared file, or one that was damaged; (unsupported) another version; those of
// parse_graph and read_plan_json. O(bytes of the head).
[[nodiscard]] Result<PreparedHead> read_prepared_head(const std::string& path);

}  // namespace lowtide::engine_internal
