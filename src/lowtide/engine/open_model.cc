// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/load_time.h"
#include "lowtide/import/import.h"
#include "lowtide/kernels/initialize.h"
#include "lowtide/verify/verify.h"

namespace lowtide {
namespace {

// A plan, and by how much it exceeds its budget.
struct ChosenPlan {
  Plan plan;
  Bytes shortfall;
};

// The graph that a given plan is for is made again from the names of its passes.
Result<LowerOptions> lowering_of(const OpenOptions& options) {
  if (!options.given_plan) return options.lower;
  return lower_options(options.given_plan->provenance.lowering);
}

Result<ChosenPlan> check_given(const Plan& plan, const ImportedModel& model, const Lowered& lowered) {
  const std::string& digest = plan.provenance.model_sha256;
  const std::string place = "plan of " + lowtide::quoted(plan.provenance.model);
  if (!digest.empty() && digest != model.sha256) {
    return Error{ErrorCode::mismatch,
                 "the plan is for the model with sha256 " + lowtide::quoted(digest, 16) + ", but this model has " +
                     lowtide::quoted(model.sha256, 16) + "; plan this model again",
                 place};
  }
  std::vector<Violation> violations = verify_lowering(model.graph, lowered.graph, lowered.load);
  if (violations.empty()) violations = verify(lowered.graph, plan);
  if (violations.empty()) return ChosenPlan{plan, Bytes(0)};
  return Error{ErrorCode::mismatch, "the plan is wrong for this model: " + violations[0].message, place};
}

Result<ChosenPlan> make_plan(const std::string& path, const OpenOptions& options, const ImportedModel& model,
                             const Lowered& lowered) {
  Result<Target> target = cpu_target(options.cpu);
  if (!target) return target.error();
  PlanOptions planning = options.plan;
  planning.model = std::filesystem::path(path).filename().string();
  planning.model_sha256 = model.sha256;
  planning.lowering = lowered.passes;
  Result<PlannedGraph> planned = plan_graph(lowered.graph, *target, planning);
  if (!planned) return planned.error();
  LOWTIDE_CHECK(planned->violations.empty(), "a plan that was just made is correct");
  return ChosenPlan{std::move(planned->plan), planned->shortfall};
}

}  // namespace

void initialize() { initialize_kernels(); }

Result<OpenedModel> open_model(const std::string& path, const OpenOptions& options) {
  initialize();
  Result<ImportedModel> model = import_model(path, options.import);
  if (!model) return model.error();

  // Results of load-time work get entries behind those of the model, so the table must be complete before it is opened.
  Result<LowerOptions> lowering = lowering_of(options);
  if (!lowering) return lowering.error();
  const auto first_computed = static_cast<std::uint32_t>(model->constants.sources.size());
  lowering->constants = first_computed;
  Result<Lowered> lowered = lower(model->graph, *lowering);
  if (!lowered) return lowered.error();
  engine_internal::add_computed(lowered->load, model->constants);

  Result<ChosenPlan> chosen = options.given_plan ? check_given(*options.given_plan, *model, *lowered)
                                                 : make_plan(path, options, *model, *lowered);
  if (!chosen) return chosen.error();

  Result<ModelWeights> opened = ModelWeights::open(path, std::move(model->constants), {options.synthetic_seed});
  if (!opened) return opened.error();
  const auto weights = std::make_shared<ModelWeights>(*std::move(opened));
  Result<Bytes> load_time = engine_internal::run_load_time(lowered->load, first_computed, weights, options.cpu);
  if (!load_time) return load_time.error();

  Result<std::shared_ptr<const Executable>> executable = Executable::prepare(
      std::move(lowered->graph), std::move(chosen->plan), weights, {.threads = options.cpu.threads});
  if (!executable) return executable.error();
  return OpenedModel{*std::move(executable), model->nodes, *load_time, chosen->shortfall, std::move(model->notes)};
}

}  // namespace lowtide
