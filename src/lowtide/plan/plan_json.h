// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// A plan file: a plan, and what its ids are called, so that it can be shown without its model.
// docs/plan-format.md is the reference, docs/plan.schema.json the same for programs.
struct PlanFile {
  Plan plan;
  Labels labels;
};

// The text of a plan file: JSON with one row a line, ends in a newline; the same plan gives the same bytes.
// Require: `labels` is labels_of the plan's graph; bodies are there and nest at most limits::kMaxBodyNesting deep.
// O(length of the text), and no more memory than that.
[[nodiscard]] std::string write_plan_json(const Plan& plan, const Labels& labels);

// Reads what write_plan_json wrote, or says why not. Nothing is taken on trust; of what is returned holds:
//   - every id is in range (regions, tensors, nodes, steps, values, buffers), for bodies in their own graph and plan
//   - sizes and offsets are within [0, limits::kMaxArenaBytes], so that addresses through all bodies fit 64 bits; the
//     sizes of all buffers and arenas add up to limits::kMaxTotalBytes at most
//   - a step's stream is one of the plan's, and what it waits for are earlier steps
//   - lifespans end within the program, and are not empty unless it has no steps
//   - alignments are powers of two up to limits::kMaxAlignment
//   - bodies nest at most limits::kMaxBodyNesting deep
// Whether the plan is right is for `verify` to say. Errors (malformed): not JSON, with line and column; (unsupported):
// another schema_version; (over_limit): more than limits::kMaxPlanFileBytes, nesting above limits::kMaxTextDepth, too
// many rows; (invalid): anything else, with its path: "plan.json: $.steps[12].writes[0]: ...". O(length of the text);
// no recursion.
[[nodiscard]] Result<PlanFile> read_plan_json(std::string_view text, std::string source_name);

}  // namespace lowtide
