// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/budget_request.h"
#include "lowtide/target/target.h"

namespace lowtide {

// What decides whether a graph has the formats and the epilogues of the machine's kernels.
struct FormatChoice {
  BudgetRequest budget = {};                // only its limit() decides; a curve tries all graphs
  const std::atomic<bool>* stop = nullptr;  // PlanOptions::stop
  // What the plan will be for: the machine of LowerOptions::machine, perhaps with a link or with measured costs. Needed
  // with a budget or with measured costs, because then plans of several graphs are compared.
  std::shared_ptr<const Target> target = nullptr;
  bool has_measured_costs = false;  // of `target` (with_times)
};

// The options of the graphs that lower_for_machine() may choose, from the fastest graph to the slowest one, with
// `options` first. Some may give equal graphs.
[[nodiscard]] std::vector<LowerOptions> lowerings_for_machine(const LowerOptions& options);

// The graphs of lowerings_for_machine(), each once and in this order, without the one that has these passes. Errors:
// those of lower.
[[nodiscard]] Result<std::vector<Lowered>> other_lowerings(const Graph& model, const LowerOptions& options,
                                                           const std::vector<std::string>& passes);

// Lowers a model for the kernels of this machine, and chooses one of eight graphs:
//
//   graph   formats   epilogues   Winograd   halves   chains   a plan of it
//   1         yes        yes         yes       yes      yes    is the fastest, and may need most
//   2         yes        yes          -        yes      yes    has no scratch for Winograd's algorithm
//   3         yes         -           -        yes      yes    may order the operands of epilogues freely
//   4          -         yes          -        yes      yes    has no padding, and no copies that change formats
//   5          -          -           -        yes      yes    has neither
//   6         yes        yes         yes        -       yes    keeps f16, which has half the bytes of f32
//   7          -          -           -        yes       -     reads no more tensors at once than the model does
//   8          -          -           -         -        -     has both
//
// Without a budget and without measured costs, it is the first one, and nothing is planned. With a budget, it is the
// first one if that fits without reruns. Otherwise the first six are planned. The one whose plan fits and takes the
// least estimated time is chosen. Such a plan may run nodes again or move tensors over a link, which is often faster
// than slower kernels. A later graph must be faster by kLeastGain. If none of them fits, it is the first of the others
// that fits, and if there is none the one whose plan exceeds the budget least. With measured costs, six graphs are
// planned even if the first one fits, and without a budget. If fewer than nine in ten kernels of some plan have such
// costs, times are not compared, and the first graph that fits is chosen. The plans (plan_purpose.h) are made on one
// stream and with a limited effort, so the answer depends on nothing but the arguments and the machine.
//
// Requires: `options.machine` is the formats of `choice.target`, or nullptr. Errors: those of lower and plan_graph.
[[nodiscard]] Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options,
                                                const FormatChoice& choice = {});

}  // namespace lowtide
