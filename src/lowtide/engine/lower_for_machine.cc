// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/lower_for_machine.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/target/kernel_times.h"

namespace lowtide {
namespace {

// As for the plan of the model as written, which a summary compares with (cli/lowering.cc).
constexpr std::int64_t kMostOrderEffort = 50'000'000;
constexpr std::int64_t kMostAllocateEffort = 10'000'000;

// Which of the passes that may need more memory are tried, if they are on.
struct Passes {
  bool formats = false;
  bool epilogues = false;
  bool winograd = false;
  bool halves = true;
};

Result<PlannedGraph> plan_quickly(const Graph& graph, const FormatChoice& choice) {
  Result<Target> target = cpu_target();
  if (!target) return target.error();
  PlanOptions options{.budget = choice.budget,
                      .order_effort = kMostOrderEffort,
                      .allocate_effort = kMostAllocateEffort,
                      .stop = choice.stop};
  options.skip = {PlanStage::check_bound, PlanStage::recompute, PlanStage::verify};
  return plan_graph(graph, *target, options);
}

// What the arena needs, or nullopt if it fits.
Result<std::optional<Bytes>> arena_that_misses(const Graph& graph, const FormatChoice& choice) {
  const Result<PlannedGraph> planned = plan_quickly(graph, choice);
  if (!planned) return planned.error();
  if (choice.has_link) {
    const Bound* bound = best_bound(planned->plan.claims, BoundScope::all_plans);
    const Bytes least = bound == nullptr ? Bytes() : bound->bytes;
    return least + planned->caller <= *choice.budget ? std::nullopt : std::optional(least);
  }
  return planned->fits() ? std::nullopt : std::optional(arena_bytes(planned->plan));
}

}  // namespace

std::vector<LowerOptions> lowerings_for_machine(const LowerOptions& options) {
  constexpr std::array<Passes, 6> kAll = {{{.formats = true, .epilogues = true, .winograd = true},
                                           {.formats = true, .epilogues = true},
                                           {.formats = true},
                                           {.epilogues = true},
                                           {},
                                           {.formats = true, .epilogues = true, .winograd = true, .halves = false}}};
  std::vector<LowerOptions> all;
  for (const Passes& passes : kAll) {
    LowerOptions& one = all.emplace_back(options);
    one.formats = options.formats && passes.formats;
    one.epilogues = options.epilogues && passes.epilogues;
    one.winograd = options.winograd && passes.winograd;
    one.halves = options.halves && passes.halves;
  }
  return all;
}

namespace {

// The first graph of lowerings_for_machine() whose plan fits, or else the one with the smallest arena.
Result<Lowered> lower_by_order(const Graph& model, const LowerOptions& options, const FormatChoice& choice) {
  Result<Lowered> chosen = lower(model, options);
  if (!chosen || !choice.budget) return chosen;
  const std::vector<std::string> all = chosen->passes;
  const bool has_halves = std::ranges::count(all, kHalvesPass) > 0;
  if (!has_halves && !depend_on_machine(all)) return chosen;
  Result<std::optional<Bytes>> least = arena_that_misses(chosen->graph, choice);
  if (!least) return least.error();

  for (const LowerOptions& others : lowerings_for_machine(options)) {
    if (!*least) break;  // it fits
    const bool is_other = (!others.formats && std::ranges::count(all, kFormatsPass) > 0) ||
                          (!others.epilogues && std::ranges::count(all, kEpiloguesPass) > 0) ||
                          (!others.winograd && std::ranges::count(all, kWinogradPass) > 0) ||
                          (!others.halves && has_halves);
    if (!is_other) continue;
    Result<Lowered> other = lower(model, others);
    if (!other) return other;
    const Result<std::optional<Bytes>> arena = arena_that_misses(other->graph, choice);
    if (!arena) return arena.error();
    if (*arena && **arena >= **least) continue;
    chosen = std::move(other);
    least = *arena;
  }
  return chosen;
}

bool is_mostly_measured(const PlanEstimate& estimate) { return estimate.measured * 10 >= estimate.kernels * 9; }

// Whether a plan is better than one of an earlier graph.
bool is_better(const PlannedGraph& plan, const PlannedGraph& than) {
  if (plan.shortfall != than.shortfall) return plan.shortfall < than.shortfall;
  return static_cast<double>(plan.estimate.picoseconds) <
         (1 - kLeastGain) * static_cast<double>(than.estimate.picoseconds);
}

// Chooses by measured costs. Returns nullopt if a plan has too few of them.
Result<std::optional<Lowered>> lower_by_time(const Graph& model, const LowerOptions& options,
                                             const FormatChoice& choice) {
  PlanOptions planning{.budget = choice.budget,
                       .order_effort = kMostOrderEffort,
                       .allocate_effort = kMostAllocateEffort,
                       .stop = choice.stop};
  planning.skip = {PlanStage::check_bound, PlanStage::verify};
  std::set<std::vector<std::string>> seen;  // the passes of the graphs
  std::optional<Lowered> best;
  std::optional<PlannedGraph> plan_of_best;
  for (const LowerOptions& one : lowerings_for_machine(options)) {
    Result<Lowered> lowered = lower(model, one);
    if (!lowered) return lowered.error();
    if (!seen.insert(lowered->passes).second) continue;
    Result<PlannedGraph> planned = plan_graph(lowered->graph, *choice.timed, planning);
    if (!planned) return planned.error();
    if (!is_mostly_measured(planned->estimate)) return std::optional<Lowered>();
    if (best && !is_better(*planned, *plan_of_best)) continue;
    best = *std::move(lowered);
    plan_of_best = *std::move(planned);
  }
  return best;
}

}  // namespace

Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options, const FormatChoice& choice) {
  if (choice.timed == nullptr) return lower_by_order(model, options, choice);
  Result<std::optional<Lowered>> chosen = lower_by_time(model, options, choice);
  if (!chosen) return chosen.error();
  return *chosen ? Result<Lowered>(**std::move(chosen)) : lower_by_order(model, options, choice);
}

}  // namespace lowtide
