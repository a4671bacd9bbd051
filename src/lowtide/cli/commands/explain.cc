// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/adapt/lowering_facts.h"
#include "lowtide/analysis/copies_left.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/model/quantized.h"
#include "lowtide/cli/options/lowering.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/explanation.h"

namespace lowtide::cli_internal {
namespace {

Json json_of_step(const PeakExplanation& level, std::optional<StepId> step) {
  if (!step) return nullptr;
  return {{"step", step->value()}, {"node", json_of(shown_step(*level.peak.plan, *level.peak.labels, step))}};
}

std::string name_of(const PeakExplanation& level, TensorId tensor) {
  return json_text(level.peak.labels->tensors[tensor].name);
}

std::string name_of(const PeakExplanation& level, ValueId value) {
  return name_of(level, level.peak.plan->program.values[value].tensor);
}

Json json_of_buffer(const PeakExplanation& level, const PeakBuffer& one) {
  const Buffer& buffer = level.peak.plan->layout.buffers[one.live.buffer];
  const std::optional<ValueId>& name = level.peak.uses[one.live.buffer].name;
  Json json{{"kind", std::string(to_string(buffer.kind))},
            {"bytes", one.live.bytes.count()},
            {"of_bytes", buffer.size.count()},
            {"held_bytes", one.held.count()},
            {"must_bytes", one.must.count()},
            {"name", name ? Json(name_of(level, *name)) : Json(nullptr)}};
  json["tensors"] = Json::array();
  for (ValueId value : one.live.values) json["tensors"].push_back(name_of(level, value));
  json["use"] = std::string(to_string(one.use));
  json["freedom"] = one.freedom == PeakFreedom::none ? Json(nullptr) : Json(std::string(to_string(one.freedom)));
  json["written"] = json_of_step(level, one.written);
  json["next_read"] = json_of_step(level, one.next_read);
  json["load_without_bytes"] = one.load_without ? Json(one.load_without->count()) : Json(nullptr);
  return json;
}

Json json_of_witness(const PeakExplanation& level, std::size_t top) {
  Json json;
  json["node"] = level.witness_node ? json_of(shown_node(*level.peak.labels, *level.witness_node)) : Json(nullptr);
  json["bytes"] = level.witness.bytes.count();
  json["scratch_bytes"] = level.witness.scratch.count();
  json["tensors"] = Json::array();
  for (std::size_t at = 0; at < std::min(top, level.witness.tensors.size()); ++at) {
    const LiveSet::Member& member = level.witness.tensors[at];
    json["tensors"].push_back({{"name", name_of(level, member.tensor)}, {"bytes", member.bytes.count()}});
  }
  json["tensors_total"] = level.witness.tensors.size();
  return json;
}

Json json_of_refusals(const PeakExplanation& level) {
  Json list = Json::array();
  for (const InPlaceRefusal& one : level.refusals) {
    list.push_back({{"input", name_of(level, one.input)},
                    {"output", name_of(level, one.output)},
                    {"bytes", one.bytes.count()},
                    {"reason", std::string(to_string(one.reason))},
                    {"reader", json_of_step(level, one.reader)}});
  }
  return list;
}

Json json_of_fusion(const PeakExplanation& level) {
  const std::optional<FusionRemedy>& fusion = level.remedies.fusion;
  if (!fusion) return nullptr;
  Json json{{"load_bytes", fusion->peak.count()},
            {"all_chains", fusion->all_chains},
            {"all_chains_load_bytes", fusion->peak_of_all.count()}};
  json["chains"] = Json::array();
  for (const std::vector<StepId>& chain : fusion->chains) {
    Json& steps = json["chains"].push_back(Json::array());
    for (StepId step : chain) steps.push_back(json_of_step(level, step));
  }
  return json;
}

Json json_of_level(const PeakExplanation& level, std::size_t top) {
  const Bound bound = bound_of(*level.peak.plan);
  Json json;
  json["inside"] = level.peak.body.empty() ? Json(nullptr) : Json(json_text(level.peak.body));
  json["steps"] = level.peak.plan->program.steps.size();
  json["load_bytes"] = level.peak.bytes.count();
  json["bound_bytes"] = bound.bytes.count();
  json["bound_name"] = bound.name;
  json["bound_scope"] = std::string(to_string(bound.scope));
  json["proven_optimal"] = counts_all(level.peak.plan->claims) && level.peak.bytes == bound.bytes;
  json["peaks"] = Json::array();
  for (const Interval<StepId>& range : level.ranges) {
    json["peaks"].push_back({{"begin", range.begin.value()}, {"end", range.end.value()}});
  }
  json["highest_other"] = json_of_step(level, level.next_step);
  json["highest_other_bytes"] = level.next_load.count();
  json["explained"] = json_of_step(level, level.peak.step);
  json["must_bytes"] = level.must.bytes.count();
  json["buffers"] = Json::array();
  for (std::size_t at = 0; at < std::min(top, level.buffers.size()); ++at) {
    json["buffers"].push_back(json_of_buffer(level, level.buffers[at]));
  }
  json["buffers_total"] = level.buffers.size();
  json["witness"] = json_of_witness(level, top);
  json["largest_touched"] = level.peak.step ? json_of_step(level, level.largest_touched_step) : Json(nullptr);
  json["largest_touched_bytes"] = level.largest_touched.count();
  json["not_in_place"] = json_of_refusals(level);
  json["fusion"] = json_of_fusion(level);
  const std::optional<TypeRemedy>& type = level.remedies.type;
  json["smaller_type"] =
      type ? Json{{"load_bytes_16_bits", type->peak_16_bits.count()}, {"load_bytes_8_bits", type->peak_8_bits.count()}}
           : Json(nullptr);
  return json;
}

}  // namespace

ExitCode run_explain(const Arguments& arguments, Console& console) {
  const Target target = read_target(arguments);
  const PlanOptions options = read_plan_options(arguments);
  const auto top = static_cast<std::size_t>(read_count(arguments, "--top", 0).value_or(8));
  const std::string& path = arguments.positional("MODEL");
  ModelRequest request = read_model_request(arguments, target);
  request.bindings.to_run = is_to_run(arguments);
  const LoadedModel loaded = load_model(request, console);
  remark_unknown_operators(target, loaded.lowered.graph, console);

  const Stopwatch watch;
  const PlannedGraph planned = [&] {
    const Progress progress(console, "planning");
    return take(plan_graph(loaded.lowered.graph, target, options), path);
  }();
  if (!planned.violations.empty()) {
    stop_bug("the planner made a wrong plan: " + planned.violations.front().message);
  }
  const std::optional<QuantizedFacts> quantized = quantized_facts(loaded, request.lowering, target, options);
  const std::optional<LoweringFacts> lowering =
      take(lowering_facts(loaded.model.graph, loaded.lowered, request.lowering, options), loaded.facts.path);
  const std::vector<CopyLeft> copies = copies_left(loaded.lowered.graph, planned.plan);
  const Labels labels = labels_of(loaded.lowered.graph);
  const std::vector<PeakExplanation> levels = explain_peak(loaded.lowered.graph, labels, target, options, planned.plan);
  const bool is_verified = planned.bound_check.verdict == OrderBoundVerdict::confirmed;
  if (!arguments.has("--json")) {
    ExplanationFacts facts = explanation_facts(planned, options.order, forbidden_text(options));
    facts.quantized = quantized;
    facts.lowering = lowering;
    facts.copies = copies;
    console.result(explanation_summary(loaded.facts, levels, facts, {.top = top, .wide = arguments.has("--wide")}));
    return ExitCode::done;
  }
  Json json = json_head("explain");
  json["model"] = json_of(loaded.facts);
  json["bytes"] = {{"constants", planned.plain.constants.count()},
                   {"inputs", planned.plain.inputs.count()},
                   {"arena", arena_bytes(planned.plan).count()}};
  add_weights(json, planned.weights);
  json["bound_verified"] =
      planned.bound_check.verdict == OrderBoundVerdict::undecided ? Json(nullptr) : Json(is_verified);
  json["order"] = planned.plan.claims.schedule;
  json["searched_sets"] = planned.searched_sets;
  json["search_complete"] = planned.is_search_complete;
  json["levels"] = Json::array();
  for (const PeakExplanation& level : levels) json["levels"].push_back(json_of_level(level, top));
  json["copies"] = json_of(copies);
  json["quantized"] = json_of(quantized);
  json["lowering"] = json_of(lowering);
  json["notes"] = json_of(loaded.model.notes);
  json["seconds"] = {{"import", loaded.seconds}, {"explain", watch.seconds()}};
  print_json(console, json);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
