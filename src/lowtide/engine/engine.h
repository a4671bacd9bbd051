// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_estimate.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/recomputation.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"
#include "lowtide/plan/transfers.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/target/kernel_times.h"

namespace lowtide {

struct OpenOptions {
  ImportOptions import;  // with a given plan: the bindings of Provenance::dims
  // Without `constants` and `machine`, which open_model() sets. Not used with a given plan.
  LowerOptions lower = options_for_kernels();
  // Without the provenance and the hints, which open_model() sets, except that `dims` has the bindings of `import`
  // without ImportOptions::given. Not used with a given plan.
  PlanOptions plan;
  std::vector<HintRequest> hints = {};  // empty: those of the file; no effect without a budget (engine/model_hints.h)
  // Memory outside of the arena, to which tensors may move to keep a budget (add_link); not used with a given plan.
  std::optional<TransferLink> link = std::nullopt;
  CpuOptions cpu;
  std::optional<int> system_threads = std::nullopt;  // ExecutableOptions::system_threads
  // Measured times of kernels, by which the plan is chosen (with_times, lower_for_machine). nullptr: estimates. Not
  // used with a given plan.
  std::shared_ptr<const KernelTimes> costs = nullptr;
  std::optional<Plan> given_plan;               // nullopt: open_model() makes a plan
  std::optional<Labels> given_labels;           // of the given plan, as its file has them; nullopt: not compared
  std::optional<std::uint64_t> synthetic_seed;  // WeightsOptions::synthetic_seed
};

// A model that is ready to run.
struct OpenedModel {
  std::shared_ptr<const Executable> executable;
  std::int64_t model_nodes = 0;    // ImportedModel::nodes
  Bytes load_time_arena;           // the largest arena that load-time work took; 0 without such work
  Bytes shortfall;                 // by how much a plan that was made here exceeds its budget; 0 if it fits
  std::vector<std::string> notes;  // ImportedModel::notes
  std::vector<std::string> default_inputs = {};  // ImportedModel::default_inputs
  std::optional<Recomputation> recomputation =
      std::nullopt;                                     // PlannedGraph::recomputation of a plan that was made here
  std::optional<PlanEstimate> estimate = std::nullopt;  // PlannedGraph::estimate of a plan that was made here
};

// Does what models need once per program (initialize_import, initialize_kernels). open_model() does the same, and for a
// prepared file what it needs of this. A program that calls it at its start can tell its own memory from that of a
// model. Thread-safe.
void initialize();

// Imports a model, lowers it, plans it for the CPU or checks the given plan, runs its load-time work, and prepares its
// kernels. engine/open_model.cc has the steps in order. Of a prepared file (prepared_file.h), only the kernels are
// prepared, for the threads of the file; `path` and the options of a run count. If the file has plans for several
// sizes, those of options.import choose one of them.
//
// Errors: those of import_model, lower, model_hints, with_times, plan_graph, ModelWeights::open and
// Executable::prepare, and
//   - mismatch: the given plan is for another model, verify() finds a violation in it or in its labels (the first one
//     is named), it is for the target `cpu` and has a kernel that this machine does not offer, a prepared file is for
//     another machine, or a file changed meanwhile;
//   - invalid: load-time work fails, as by an index out of range, or a prepared file has already decided an option, or
//     has several plans and options.import does not choose one;
//   - malformed: a prepared file is damaged;
//   - no_memory.
// A violation in a plan that was made here is a bug and throws InvariantViolation.
[[nodiscard]] Result<OpenedModel> open_model(const std::string& path, const OpenOptions& options = {});

}  // namespace lowtide
