// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/plan/plan.h"
#include "lowtide/weights/weights.h"

namespace lowtide::engine_internal {

// Appends an entry for each output of the load-time work, in order.
void add_computed(const Graph& load, ConstantTable& table);

// A plan of load-time work, in the order of the graph, which is good enough for work that runs once.
[[nodiscard]] Result<Plan> plan_load_time(const Graph& load, const CpuOptions& cpu);

// The constants of a graph and of its bodies that are in the table, each once, ascending.
[[nodiscard]] std::vector<ConstantId> constants_of(const Graph& graph);

struct LoadTimeOptions {
  CpuOptions cpu;
  std::optional<int> system_threads = std::nullopt;  // ExecutableOptions::system_threads
  // Jobs of at most these bytes run together (load_jobs.h), because each costs a plan and a session. The load takes
  // no longer than with one job: resnet50 0.35 s, densenet121 0.29 s.
  Bytes small_jobs{4 << 20};
};

// Runs the load-time work once, in jobs. Output k becomes constant `first` + k, in the arena in which its job has
// written it. A job gets the memory that its constants need (ModelWeights::hold) before it runs. Afterwards, the
// bytes of constants that only finished jobs read are given back to the system, unless `kept` has them. Returns the
// largest arena of all jobs.
//
// Errors: those of plan_graph, ModelWeights::hold, Executable::prepare and describe(); (no_memory) the system has not
// enough for all results, which is known before anything runs.
[[nodiscard]] Result<Bytes> run_load_time(const Graph& load, std::uint32_t first,
                                          const std::shared_ptr<ModelWeights>& weights,
                                          const std::vector<ConstantId>& kept, const LoadTimeOptions& options = {});

}  // namespace lowtide::engine_internal
