// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/lower/lower.h"
#include "lowtide/target/target.h"

namespace lowtide {

// What decides whether a graph has the formats and the epilogues of the machine's kernels.
struct FormatChoice {
  std::optional<Bytes> budget = std::nullopt;  // PlanOptions::budget
  const std::atomic<bool>* stop = nullptr;     // PlanOptions::stop
  bool has_link = false;                       // tensors can move to memory outside of the arena
  const Target* timed = nullptr;               // the target with measured costs (with_times); nullptr: there are none
};

// The options of the graphs that lower_for_machine() may choose, from the fastest graph to the slowest one, with
// `options` first. Some may give equal graphs.
[[nodiscard]] std::vector<LowerOptions> lowerings_for_machine(const LowerOptions& options);

// Lowers a model for the kernels of this machine. Formats pad tensors, and Reorder nodes copy them, so a plan with them
// may need more memory. Epilogues read what they add while their product runs, so they forbid some orders. Halves keep
// some f16 tensors in f32, which has twice the bytes. Winograd's algorithm needs scratch. All are faster, so they stay
// unless there is a budget that the plan does not fit. Then the first graph whose plan fits is chosen: without
// Winograd's algorithm, and then also without epilogues, without formats, or without both; or without halves. If none
// fits, it is the one with the smallest arena, and of equal ones the first. With a link, tensors can leave the arena,
// so the bound for all plans counts in place of the arena. The plans are made on one stream and with a limited effort,
// so the answer depends on nothing but the arguments and the machine.
//
// With measured costs, their sum decides instead: the graph whose plan fits and takes the least time, and if none fits
// the one whose plan exceeds the budget least. Such a plan may run nodes again, which can be faster than slower kernels
// without formats. A later graph must be faster by kLeastGain. This needs costs for nine in ten kernels of each plan.
//
// Requires: `options.machine` is the formats of cpu_target(), or nullptr. Errors: those of lower, cpu_target and
// plan_graph. Up to six plans if there is a budget or measured costs.
[[nodiscard]] Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options,
                                                const FormatChoice& choice = {});

}  // namespace lowtide
