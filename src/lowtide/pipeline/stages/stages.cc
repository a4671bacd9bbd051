// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/stages/stages.h"

#include <algorithm>

#include "lowtide/base/quote.h"
#include "lowtide/pipeline/offered_kernels.h"
#include "lowtide/verify/check_constants.h"
#include "lowtide/verify/verify.h"

namespace lowtide {
namespace {

template <typename Predicate>
std::vector<std::string> names_of_stages(Predicate is_listed) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < kEnumNames<PlanStage>.size(); ++at) {
    if (is_listed(static_cast<PlanStage>(at))) names.emplace_back(kEnumNames<PlanStage>[at]);
  }
  return names;
}

}  // namespace

bool is_optional(PlanStage stage) {
  switch (stage) {
    case PlanStage::search:
    case PlanStage::refine:
    case PlanStage::check_bound:
    case PlanStage::exchange:
    case PlanStage::recompute:
    case PlanStage::parallelize:
    case PlanStage::verify: return true;
    default: return false;
  }
}

const std::vector<std::string>& plan_stages() {
  static const std::vector<std::string> names = names_of_stages([](PlanStage) { return true; });
  return names;
}

const std::vector<std::string>& optional_plan_stages() {
  static const std::vector<std::string> names = names_of_stages(is_optional);
  return names;
}

}  // namespace lowtide

namespace lowtide::pipeline_internal {
namespace {

bool contains(const std::vector<PlanStage>& stages, PlanStage stage) {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

}  // namespace

// A plan is verified even after a stop: what is returned must be correct.
bool Stages::runs(PlanStage stage) const {
  if (!is_optional(stage)) return true;
  if (contains(options_.skip, stage)) return false;
  return stage == PlanStage::verify || options_.stop == nullptr || !options_.stop->load();
}

void Stages::begin(PlanStage stage) {
  if (options_.on_stage) options_.on_stage(stage);
  begun_.push_back(Clock::now());
}

void Stages::end(PlanStage stage) {
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_.back()).count();
  begun_.pop_back();
  const auto known =
      std::find_if(times_.begin(), times_.end(), [&](const StageTime& time) { return time.stage == stage; });
  if (known == times_.end()) {
    times_.push_back({stage, seconds});
  } else {
    known->seconds += seconds;
  }
}

bool Stages::is_dumped(PlanStage stage) const { return options_.on_dump && contains(options_.dump_after, stage); }

void Stages::dump(PlanStage stage, const Graph& graph, const std::string& before, const std::string& after) const {
  const std::string head =
      "# after stage " + std::string(to_string(stage)) + " of graph " + quoted(graph.name()) + "\n";
  options_.on_dump(head + (before == after ? "unchanged\n" : after));
}

PlannedGraph Stages::finish(const Task& task, PlannedGraph planned) {
  planned.violations.insert(planned.violations.begin(), violations_.begin(), violations_.end());
  planned.violations =
      run_on(std::move(planned.violations), PlanStage::verify, task.graph, [&](std::vector<Violation> known) {
        for (Violation& violation : verify(task.graph, planned.plan)) known.push_back(std::move(violation));
        if (!known.empty()) return known;
        known = verify_constants(task.graph, planned.plan, task.target.machine);
        if (!known.empty()) return known;
        return verify_kernels(task.graph, planned.plan, offered_kernels(task.target));
      });
  planned.is_verified = runs(PlanStage::verify);
  planned.times = std::move(times_);
  return planned;
}

void Stages::check(PlanStage stage, const Graph& graph, const Plan& plan) {
  for (Violation& violation : lowtide::verify(graph, plan)) {
    violation.message = "after stage " + std::string(to_string(stage)) + ": " + violation.message;
    violations_.push_back(std::move(violation));
  }
}

}  // namespace lowtide::pipeline_internal
