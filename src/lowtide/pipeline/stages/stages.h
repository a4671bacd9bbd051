// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/pipeline/plan_options.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/sequence/known_sequences.h"
#include "lowtide/pipeline/stages/dump.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// Runs the stages of one call of plan_graph. The options name the stages to skip and to dump, the callbacks, and the
// flag that stops optional stages. Stages of bodies run between those of the graph around them.
class Stages {
 public:
  // `options` and `known` must outlive the stages. `known`: nullptr if no other plan of the graph is made.
  explicit Stages(const PlanOptions& options, KnownSequences* known = nullptr) : options_(options), known_(known) {}

  // Whether the graph has plans for other budgets.
  [[nodiscard]] bool has_other_plans() const { return known_ != nullptr; }
  // The sequence of an earlier plan. nullptr if there is none, so that the stages have to make it.
  [[nodiscard]] const Sequence* known_sequence(const Task& task, const KernelChoice& choice, BoundScope scope) const {
    return known_ == nullptr ? nullptr : known_->find(task, choice, scope);
  }
  // Keeps a sequence for later plans.
  void keep_sequence(const Task& task, const Sequence& sequence) {
    if (known_ != nullptr) known_->add(task, sequence);
  }

  // False for an optional stage that is skipped, and after a stop for every optional stage except verify.
  [[nodiscard]] bool runs(PlanStage stage) const;

  // Runs a stage that makes a new result.
  template <typename Function>
  auto run(PlanStage stage, const Graph& graph, Function&& function) {
    begin(stage);
    auto result = std::forward<Function>(function)();
    end(stage);
    if (is_dumped(stage)) dump(stage, graph, {}, text_of(graph, result));
    return result;
  }

  // Runs a stage that changes a value. Returns the value as it is if the stage does not run.
  template <typename Value, typename Function>
  Value run_on(Value value, PlanStage stage, const Graph& graph, Function&& function) {
    if (!runs(stage)) return value;
    const std::string before = is_dumped(stage) ? text_of(graph, value) : std::string();
    begin(stage);
    Value changed = std::forward<Function>(function)(std::move(value));
    end(stage);
    if (is_dumped(stage)) dump(stage, graph, before, text_of(graph, changed));
    return changed;
  }

  // Verifies the plan after a stage that succeeded, if the options ask for it. Plans of bodies are verified with the
  // plan around them.
  template <typename MakePlan>
  void verify_after(PlanStage stage, const Task& task, MakePlan&& make_plan) {
    if (options_.verify_each && !task.is_body()) check(stage, task.graph, std::forward<MakePlan>(make_plan)());
  }

  // Runs the stage `verify` with the kernels of the target, and adds all violations and times to the result. Messages
  // of violations that were found between stages begin with the name of the stage.
  [[nodiscard]] PlannedGraph finish(const Task& task, PlannedGraph planned);

 private:
  using Clock = std::chrono::steady_clock;

  void begin(PlanStage stage);
  void end(PlanStage stage);
  [[nodiscard]] bool is_dumped(PlanStage stage) const;
  void dump(PlanStage stage, const Graph& graph, const std::string& before, const std::string& after) const;
  void check(PlanStage stage, const Graph& graph, const Plan& plan);

  const PlanOptions& options_;
  KnownSequences* known_;
  std::vector<Clock::time_point> begun_;  // of the stages that run now, the outermost first
  std::vector<StageTime> times_;
  std::vector<Violation> violations_;
};

}  // namespace lowtide::pipeline_internal
