// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model/model.h"

#include <filesystem>
#include <utility>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/try.h"
#include "lowtide/cli/options/lowering.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/pipeline/plan_purpose.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

namespace {

Result<LoadTimeFacts> load_time_facts(const Graph& load) {
  LOWTIDE_TRY(const PlannedGraph planned, plan_graph(load, dense_target(), options_for(PlanPurpose::load_time, {})));
  LoadTimeFacts facts{.nodes = load.total_nodes(), .peak = planned.plan.claims.load};
  for (TensorId id : load.outputs()) facts.results += load.tensor(id).size;
  return facts;
}

// Counts an output twice if it is listed twice, because it then has two places.
Bytes outputs_of(const Graph& graph) {
  Bytes bytes;
  for (TensorId id : graph.outputs()) bytes += graph.tensor(id).size;
  return bytes;
}

Result<ModelFacts> facts_of(const ModelRequest& request, const ImportedModel& model, const Lowered& lowered) {
  const bool has_caller =
      request.lowering.passes.has(PassId::inputs_in_arena) && !model.graph.inputs().empty();  // its node is not counted
  ModelFacts facts{.path = request.path,
                   .format = model.format,
                   .sha256 = model.sha256,
                   .nodes = model.nodes,
                   .planned_nodes = lowered.graph.total_nodes() - (has_caller ? 1 : 0),
                   .body_nodes = lowered.graph.total_nodes() - static_cast<std::int64_t>(lowered.graph.nodes().size()),
                   .tensors = lowered.graph.total_tensors()};
  if (!lowered.load.nodes().empty()) {
    LOWTIDE_TRY(LoadTimeFacts at_load, load_time_facts(lowered.load));
    facts.load_time = at_load;
  }
  if (request.lowering.passes.has(PassId::outputs_at_caller)) facts.outputs_at_caller = outputs_of(model.graph);
  if (request.lowering.passes.has(PassId::inputs_in_arena)) facts.inputs_in_arena = plain_figures(model.graph).inputs;
  return facts;
}

}  // namespace

ModelRequest read_model_request(const Arguments& arguments, const Target& target) {
  return {.path = arguments.positional("MODEL"),
          .bindings = read_bindings(arguments),
          .lowering = read_lowering(arguments, target),
          .formats = read_format_choice(arguments, target)};
}

Result<LoadedModel> try_load_model(const ModelRequest& request, Console& console) {
  const Stopwatch watch;
  Result<ImportedModel> imported = [&] {
    const Progress progress(console, "reading the model");
    return import_model(request.path, request.bindings);
  }();
  if (!imported.ok() && is_prepared_file(request.path)) {
    return Error{ErrorCode::unsupported, "this is a prepared file; 'run' and 'bench' take it, and this command a model",
                 shown_path(request.path)};
  }
  if (!imported.ok()) return imported.error();
  ImportedModel& model = *imported;
  const Result<void> overridden = check_overrides(model.graph, model.default_inputs, request.bindings.overrides);
  if (!overridden) return overridden.error();
  console.notes(model.notes);
  LowerOptions lowering = request.lowering;
  lowering.table = &model.constants;
  Result<Lowered> lowered = lower_for_machine(model.graph, lowering, request.formats);
  if (!lowered) return lowered.error();
  Result<ModelFacts> facts = facts_of(request, model, *lowered);
  if (!facts) return facts.error();
  return LoadedModel{std::move(model), *std::move(lowered), *std::move(facts), watch.seconds()};
}

void use_graph(const ModelRequest& request, Lowered other, LoadedModel& loaded) {
  loaded.facts = take(facts_of(request, loaded.model, other), request.path);
  loaded.lowered = std::move(other);
}

std::vector<std::string> weight_files(const std::string& model_path, const ConstantTable& table) {
  const std::filesystem::path folder = std::filesystem::path(model_path).parent_path();
  std::vector<std::string> paths;
  for (const std::string& file : table.files) paths.push_back(file.empty() ? model_path : (folder / file).string());
  return paths;
}

LoadedModel load_model(const ModelRequest& request, Console& console) { return take(try_load_model(request, console)); }

}  // namespace lowtide::cli_internal
