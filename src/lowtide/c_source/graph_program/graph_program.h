// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/import/imported.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/planned_graph.h"

namespace lowtide {

struct GraphProgramOptions {
  ImportOptions import;
  // Without the provenance, which graph_program() sets, and without a budget that needs a link.
  PlanOptions plan;
  std::optional<std::uint64_t> synthetic_seed = std::nullopt;  // WeightsOptions::synthetic_seed
};

struct GraphProgram {
  CProgram program;
  PlannedGraph planned;            // whose places the program has; verified
  std::vector<std::string> notes;  // ImportedModel::notes
};

// Imports an ONNX model, lowers it without the formats of a machine, plans it for kernels of C, and makes the program
// that the plan describes. Inputs and outputs are in the arena, and what depends on constants alone is computed here.
//
// Errors: those of import_model, lower, plan_graph and open_weights, and (unsupported) operators without a kernel of C,
// which are all named; (over_limit) an arena of 2 GiB or more; (no_memory).
[[nodiscard]] Result<GraphProgram> graph_program(const std::string& path, const GraphProgramOptions& options = {});

// The operators of ONNX that have kernels of C, sorted. docs/c-export.md lists them.
[[nodiscard]] std::vector<std::string_view> operators_with_c_kernels();

}  // namespace lowtide
