// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <optional>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/lower/lower.h"

namespace lowtide {

// What decides whether a graph has the formats of the machine's kernels.
struct FormatChoice {
  std::optional<Bytes> budget = std::nullopt;  // PlanOptions::budget
  const std::atomic<bool>* stop = nullptr;     // PlanOptions::stop
};

// Lowers a model for the kernels of this machine. Formats pad tensors, and Reorder nodes copy them, so a plan with them
// may need more memory. It is much faster, so they are left out only if there is a budget that the plan with them does
// not fit, and the arena without pass `formats` is smaller. Both plans are made on one stream and with a limited
// effort, so the answer depends on nothing but the arguments and the machine.
//
// Requires: `options.machine` is the formats of cpu_target(), or nullptr. Errors: those of lower, cpu_target and
// plan_graph. Two plans if there is a budget.
[[nodiscard]] Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options,
                                                const FormatChoice& choice = {});

}  // namespace lowtide
