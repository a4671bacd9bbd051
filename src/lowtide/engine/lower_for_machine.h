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
  // On: it has them, even if its plan then needs more memory.
  bool keeps_formats = false;
  // The limit of PlanOptions::budget. A plan with the formats that fits it is good enough.
  std::optional<Bytes> budget = std::nullopt;
  const std::atomic<bool>* stop = nullptr;  // PlanOptions::stop
};

// Lowers a model for the kernels of this machine. Formats pad tensors, and Reorder nodes copy them. If the plan then
// has a larger arena than without pass `formats`, the pass is left out. Both plans are made on one stream and with a
// limited effort, so the answer depends on nothing but the arguments and the machine.
//
// Requires: `options.machine` is the formats of cpu_target(), or nullptr. Errors: those of lower, cpu_target and
// plan_graph. Two plans if the pass changes the graph.
[[nodiscard]] Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options,
                                                const FormatChoice& choice = {});

}  // namespace lowtide
