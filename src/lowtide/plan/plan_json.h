// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// A plan file: a plan, and the names that belong to its ids. So it can be shown without its model. docs/plan-format.md
// describes the format, and docs/plan.schema.json is its JSON schema.
struct PlanFile {
  Plan plan;
  Labels labels;
};

// The text of a plan file: JSON with one row per line. It ends in a newline. Equal plans give equal bytes.
// Requires: `labels` is labels_of the graph of the plan; all bodies have plans and nest at most limits::kMaxBodyNesting
// deep. O(length of the text) time and memory.
[[nodiscard]] std::string write_plan_json(const Plan& plan, const Labels& labels);

// Reads the text of a plan file, no matter which program wrote it. These statements hold for the result:
//   - All ids are in range (regions, tensors, nodes, steps, values, buffers). The ids of a body belong to its own graph
//     and plan.
//   - Sizes and offsets are in [0, limits::kMaxArenaBytes], so that addresses inside nested bodies fit 64 bits. The
//     sizes of all buffers and arenas add up to at most limits::kMaxTotalBytes.
//   - The stream of a step exists, and a step waits only for earlier steps.
//   - Lifespans are within the program. They are empty only if the program has no steps.
//   - Alignments are powers of two of at most limits::kMaxAlignment.
//   - Bodies nest at most limits::kMaxBodyNesting deep.
// The reader does not check whether the plan is correct; `verify` does.
//
// Errors: (malformed) not JSON or not a plan file, with line and column; (unsupported) another schema_version or an
// unknown feature; (over_limit) more than limits::kMaxPlanFileBytes, nesting above limits::kMaxTextDepth or
// limits::kMaxBodyNesting, or too many rows; (invalid) any other fault, with its path, such as "$.steps[12].writes[0]".
// O(length of the text); no recursion.
[[nodiscard]] Result<PlanFile> read_plan_json(std::string_view text, std::string source_name);

}  // namespace lowtide
