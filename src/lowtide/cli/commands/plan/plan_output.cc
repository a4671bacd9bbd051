// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/plan/plan_output.h"

#include <algorithm>

#include "lowtide/cli/commands/plan/recomputation.h"
#include "lowtide/cli/options/costs.h"

namespace lowtide::cli_internal {
namespace {

// null if the bound was not checked, or if the check did not end.
Json json_of_check(const OrderBoundCheck& check) {
  if (check.verdict == OrderBoundVerdict::undecided) return nullptr;
  return check.verdict == OrderBoundVerdict::confirmed;
}

// What cannot be distributed over the regions; null if nothing is known.
Json json_of_region_proof(const std::optional<RegionProof>& proof, const Labels& labels) {
  if (!proof) return nullptr;
  Json json;
  json["node"] = proof->node ? json_of(shown_node(labels, *proof->node)) : Json(nullptr);
  json["scratch_bytes"] = proof->scratch.count();
  json["tensors"] = Json::array();
  for (TensorId id : proof->tensors) {
    json["tensors"].push_back(
        {{"name", json_text(labels.tensors[id].name)}, {"bytes", labels.tensors[id].size.count()}});
  }
  return json;
}

// What the target describes, but no plan uses.
Json json_of_unused(const Machine& machine, const Program& program) {
  Json unused = Json::array();
  const bool has_copies = std::any_of(program.streams.begin(), program.streams.end(),
                                      [](const Stream& stream) { return stream.link.has_value(); });
  if (!machine.links.empty() && !has_copies) unused.push_back("links");
  if (machine.workers.size() > 1) unused.push_back("workers");
  return unused;
}

Json json_of_regions(const Plan& plan, const Machine& machine) {
  Json regions = Json::array();
  for (std::size_t at = 0; at < plan.machine.regions.size(); ++at) {
    const std::vector<Bytes> loads = load_by_step(plan.layout, RegionId(static_cast<std::uint32_t>(at)));
    const Bytes load = loads.empty() ? Bytes(0) : *std::max_element(loads.begin(), loads.end());
    const std::optional<Bytes>& capacity = machine.regions[at].capacity;
    regions.push_back({{"name", json_text(plan.machine.regions[at].name)},
                       {"capacity", capacity ? Json(capacity->count()) : Json(nullptr)},
                       {"arena", plan.layout.arena[at].count()},
                       {"load", load.count()}});
  }
  return regions;
}

Json json_of_budget(const PlannedGraph& planned, const Labels& labels) {
  Json json;
  json["capacity"] = planned.capacity ? Json(planned.capacity->count()) : Json(nullptr);
  json["counted"] = planned.counted.count();
  const bool is_known = !planned.fits() || counts_all(planned.plan.claims);
  json["fits"] = is_known ? Json(planned.fits()) : Json(nullptr);
  json["shortfall"] = planned.shortfall.count();
  json["proven_infeasible"] = planned.proven_infeasible;
  json["region_proof"] = json_of_region_proof(planned.region_proof, labels);
  json["recomputation"] = json_of(planned.recomputation, labels);
  return json;
}

Json json_of_exchange(const std::optional<KernelExchange>& exchange) {
  if (!exchange) return nullptr;
  return {{"nodes", exchange->nodes},
          {"added_picoseconds", exchange->added_picoseconds ? Json(*exchange->added_picoseconds) : Json(nullptr)},
          {"arena_bytes", exchange->arena.count()}};
}

// Empty for a plan on one stream.
Json json_of_points(const PlannedGraph& planned) {
  Json points = Json::array();
  for (const TradeOff& point : planned.trade_offs) {
    points.push_back({{"run", std::string(to_string(point.run))},
                      {"streams", point.streams},
                      {"cap_bytes", point.cap ? Json(point.cap->count()) : Json(nullptr)},
                      {"priority", point.priority.empty() ? Json(nullptr) : Json(point.priority)},
                      {"fill", point.fill.empty() ? Json(nullptr) : Json(point.fill)},
                      {"load_bytes", point.load.count()},
                      {"arena_bytes", point.arena.count()},
                      {"estimated_picoseconds", point.picoseconds},
                      {"waits", point.waits},
                      {"waves", point.run == ExecutionModel::waves ? Json(point.waves) : Json(nullptr)},
                      {"on_frontier", point.is_pareto_optimal},
                      {"chosen", point.is_chosen}});
  }
  return points;
}

}  // namespace

Json json_of_plan(const LoadedModel& loaded, const PlannedGraph& planned, const Labels& labels,
                  const PlanOutput& output) {
  const Plan& plan = planned.plan;
  const Bytes arena = arena_bytes(plan);
  const Bound bound = bound_of(plan);
  Json json = json_head("plan");
  json["model"] = json_of(loaded.facts);
  json["dims"] = json_of(plan.provenance.dims);
  json["target"] = json_text(plan.provenance.target);
  json["bytes"] = {{"constants", planned.plain.constants.count()},
                   {"inputs", planned.plain.inputs.count()},
                   {"outputs", (planned.plain.outputs + loaded.facts.outputs_at_caller).count()},
                   {"temporaries_sum", planned.plain.temporaries_sum.count()},
                   {"load_as_given", plan.claims.load_as_given.count()},
                   {"load", plan.claims.load.count()},
                   {"bound", bound.bytes.count()},
                   {"arena", arena.count()},
                   {"working_set", planned.working_set.count()},
                   {"ram", (arena + planned.caller).count()}};
  add_weights(json, planned.weights);
  json["gap"] = json_of_gap(arena, bound.bytes);
  json["bound_name"] = bound.name;
  json["bound_scope"] = std::string(to_string(bound.scope));
  json["bound_verified"] = json_of_check(planned.bound_check);
  json["schedule"] = {{"strategy", plan.claims.schedule}, {"proven_optimal", is_schedule_proven(plan.claims)}};
  json["schedule"]["tried"] = Json::array();
  for (const auto& [strategy, load] : planned.orders_tried) {
    json["schedule"]["tried"].push_back({{"strategy", strategy}, {"load", load.count()}});
  }
  json["allocate"] = {{"strategy", plan.claims.allocate}, {"proven_optimal", is_allocation_proven(plan.claims)}};
  json["proven_optimal"] = counts_all(plan.claims) && arena == bound.bytes;
  json["uncounted"] = json_of(plan.claims.uncounted);
  json["steps"] = plan.program.steps.size();
  json["buffers"] = plan.layout.buffers.size();
  json["streams"] = plan.program.streams.size();
  json["run"] = std::string(to_string(plan.execution));
  json["points"] = json_of_points(planned);
  json["budget"] = json_of_budget(planned, labels);
  json["unused"] = json_of_unused(output.target.machine, plan.program);
  json["regions"] = json_of_regions(plan, output.target.machine);
  json["exchanged_kernels"] = json_of_exchange(planned.exchange);
  json["lightest_kernels"] = json_of_exchange(planned.lightest);
  json["estimate"] = json_of(planned.estimate);
  json["verified"] = planned.is_verified;
  json["peak"] = json_of(peaks_of(plan, labels), output.top);
  json["notes"] = json_of(loaded.model.notes);
  return json;
}

}  // namespace lowtide::cli_internal
