// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/lower_for_machine.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan.h"

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

Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options, const FormatChoice& choice) {
  Result<Lowered> chosen = lower(model, options);
  if (!chosen || !choice.budget) return chosen;
  const std::vector<std::string> all = chosen->passes;
  const bool has_halves = std::ranges::count(all, kHalvesPass) > 0;
  if (!has_halves && !depend_on_machine(all)) return chosen;
  Result<std::optional<Bytes>> least = arena_that_misses(chosen->graph, choice);
  if (!least) return least.error();

  // From the fastest graph to the slowest one.
  constexpr std::array<Passes, 5> kOthers = {{{.formats = true, .epilogues = true},
                                              {.formats = true},
                                              {.epilogues = true},
                                              {},
                                              {.formats = true, .epilogues = true, .winograd = true, .halves = false}}};
  for (const Passes& passes : kOthers) {
    if (!*least) break;  // it fits
    const bool is_other = (!passes.formats && std::ranges::count(all, kFormatsPass) > 0) ||
                          (!passes.epilogues && std::ranges::count(all, kEpiloguesPass) > 0) ||
                          (!passes.winograd && std::ranges::count(all, kWinogradPass) > 0) ||
                          (!passes.halves && has_halves);
    if (!is_other) continue;
    LowerOptions others = options;
    others.formats = options.formats && passes.formats;
    others.epilogues = options.epilogues && passes.epilogues;
    others.winograd = options.winograd && passes.winograd;
    others.halves = options.halves && passes.halves;
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

}  // namespace lowtide
