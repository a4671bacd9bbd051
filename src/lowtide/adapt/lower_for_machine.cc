// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/lower_for_machine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/pipeline/plan_purpose.h"
#include "lowtide/plan/plan.h"
#include "lowtide/target/kernel_times.h"

namespace lowtide {
namespace {

// The passes that each graph is made without. The last two are for budgets that no other graph keeps.
constexpr PassSet kLeftOut[] = {
    {},
    {PassId::winograd},
    {PassId::winograd, PassId::epilogues},
    {PassId::winograd, PassId::formats},
    {PassId::winograd, PassId::formats, PassId::epilogues},
    {PassId::halves},
    {PassId::winograd, PassId::formats, PassId::epilogues, PassId::chains},
    {PassId::winograd, PassId::formats, PassId::epilogues, PassId::chains, PassId::halves},
};

bool is_last_resort(const LowerOptions& options, const LowerOptions& given) {
  return given.passes.has(PassId::chains) && !options.passes.has(PassId::chains);
}

}  // namespace

std::vector<LowerOptions> lowerings_for_machine(const LowerOptions& options) {
  std::vector<LowerOptions> all;
  for (const PassSet& left_out : kLeftOut) {
    LowerOptions& one = all.emplace_back(options);
    one.passes = options.passes - left_out;
  }
  return all;
}

Result<std::vector<Lowered>> other_lowerings(const Graph& model, const LowerOptions& options,
                                             const std::vector<std::string>& passes) {
  std::set<std::vector<std::string>> seen = {passes};
  std::vector<Lowered> others;
  for (const LowerOptions& one : lowerings_for_machine(options)) {
    Result<Lowered> lowered = lower(model, one);
    if (!lowered) return lowered.error();
    if (seen.insert(lowered->passes).second) others.push_back(*std::move(lowered));
  }
  return others;
}

namespace {

// The graph that was chosen so far, with its plan.
struct Choice {
  Lowered lowered;
  PlannedGraph planned;
};

// Looks for the graph with the fastest plan that fits, and for the smallest plan if none fits.
class LoweringSearch {
 public:
  // `compares_times`: of several graphs whose plans fit, the fastest one is chosen, and otherwise the first.
  LoweringSearch(const Graph& model, const FormatChoice& choice, const Target& target, bool compares_times)
      : model_(model), choice_(choice), target_(target), compares_times_(compares_times) {}

  // Returns nullopt if some graph lacks measured costs, so that they cannot decide.
  Result<std::optional<Lowered>> run(const LowerOptions& options) && {
    for (const LowerOptions& one : lowerings_for_machine(options)) {
      const bool is_last = is_last_resort(one, options);
      if (is_last && best_->planned.fits()) break;
      LOWTIDE_RETURN_IF_ERROR(consider(one));
      // The first of the last graphs that fits is chosen, so their times decide nothing.
      if (is_measured_badly_ && compares_times_ && !is_last) return std::optional<Lowered>();
      if (is_done()) break;
    }
    return std::optional(std::move(best_->lowered));
  }

 private:
  // Estimates do not know that one rewrite is faster than another, so the first graph that fits without reruns stays.
  [[nodiscard]] bool is_done() const {
    const bool is_fast = best_->planned.fits() && !best_->planned.recomputation;
    return is_fast && seen_.size() == 1 && !(choice_.has_measured_costs && compares_times_);
  }

  Result<void> consider(const LowerOptions& options) {
    Result<Lowered> lowered = lower(model_, options);
    if (!lowered) return lowered.error();
    if (!seen_.insert(lowered->passes).second) return {};
    // A plan without reruns first, because many graphs need no other, and it tells how fast one with reruns can be.
    Result<PlannedGraph> planned = plan(lowered->graph, false);
    if (!planned) return planned.error();
    if (!planned->fits() && (!best_ || !best_->planned.fits() || is_faster(*planned, best_->planned))) {
      planned = plan(lowered->graph, true);
      if (!planned) return planned.error();
    }
    is_measured_badly_ = choice_.has_measured_costs && !planned->estimate.is_mostly_measured();
    if (!best_ || is_better(*planned, best_->planned)) best_ = Choice{*std::move(lowered), *std::move(planned)};
    return {};
  }

  Result<PlannedGraph> plan(const Graph& graph, bool recomputes) const {
    const PlanPurpose purpose = recomputes ? PlanPurpose::graph_with_reruns : PlanPurpose::graph;
    return plan_graph(graph, target_, options_for(purpose, {.budget = choice_.budget.limit(), .stop = choice_.stop}));
  }

  [[nodiscard]] bool is_faster(const PlannedGraph& plan, const PlannedGraph& than) const {
    return compares_times_ && static_cast<double>(plan.estimate.picoseconds) <
                                  (1 - kLeastGain) * static_cast<double>(than.estimate.picoseconds);
  }

  [[nodiscard]] bool is_better(const PlannedGraph& plan, const PlannedGraph& than) const {
    return plan.shortfall != than.shortfall ? plan.shortfall < than.shortfall : is_faster(plan, than);
  }

  const Graph& model_;
  const FormatChoice& choice_;
  const Target& target_;
  const bool compares_times_;
  std::set<std::vector<std::string>> seen_;  // the passes of the graphs
  std::optional<Choice> best_;
  bool is_measured_badly_ = false;  // the last graph
};

}  // namespace

Result<Lowered> lower_for_machine(const Graph& model, const LowerOptions& options, const FormatChoice& choice) {
  const bool has_limit = choice.budget.limit().has_value();
  const bool has_choice =
      std::ranges::any_of(kLeftOut, [&](const PassSet& left_out) { return !(options.passes & left_out).empty(); });
  if (!has_choice || (!has_limit && !choice.has_measured_costs)) return lower(model, options);
  LOWTIDE_CHECK(choice.target != nullptr, "plans that are compared have a target");
  Result<std::optional<Lowered>> chosen = LoweringSearch(model, choice, *choice.target, true).run(options);
  if (!chosen) return chosen.error();
  if (*chosen) return **std::move(chosen);
  if (!has_limit) return lower(model, options);
  chosen = LoweringSearch(model, choice, *choice.target, false).run(options);
  if (!chosen) return chosen.error();
  return **std::move(chosen);
}

}  // namespace lowtide
