// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>

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

// A plan of the load-time work, in the order of the file, which is good enough for work that runs once.
[[nodiscard]] Result<Plan> plan_load_time(const Graph& load, const CpuOptions& cpu);

// Runs the load-time work once. Output k becomes constant `first` + k. The pages of the constants that it read are
// given back to the system. Returns the arena that the work took. Errors: those of plan_graph, Executable::prepare and
// describe().
[[nodiscard]] Result<Bytes> run_load_time(const Graph& load, std::uint32_t first,
                                          const std::shared_ptr<ModelWeights>& weights, const CpuOptions& cpu);

}  // namespace lowtide::engine_internal
