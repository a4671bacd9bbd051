// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/lowering.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {
namespace {

// As for the second plan of a quantized model (quantized.cc).
constexpr std::int64_t kMostNodesAsWritten = 20'000;
constexpr std::int64_t kMostOrderEffortAsWritten = 50'000'000;
constexpr std::int64_t kMostAllocateEffortAsWritten = 10'000'000;

Result<AsWritten> plan_as_written(const Graph& model, LowerOptions lowering, const PlanOptions& given) {
  lowering.unneeded = lowering.batch_norm = lowering.layer_norm = lowering.attention = false;
  lowering.quantized = false;
  lowering.chains = lowering.formats = false;
  const Result<Lowered> lowered = lower(model, lowering);
  if (!lowered) return lowered.error();
  const PlanOptions options{.order = given.order,
                            .views = given.views,
                            .parts = given.parts,
                            .in_place = given.in_place,
                            .order_effort = std::min(given.order_effort, kMostOrderEffortAsWritten),
                            .allocate_effort = std::min(given.allocate_effort, kMostAllocateEffortAsWritten),
                            .stop = given.stop};
  const Result<PlannedGraph> planned = plan_graph(lowered->graph, dense_target(), options);
  if (!planned) return planned.error();
  LOWTIDE_CHECK(planned->violations.empty(), "the plan of the model as written is correct");
  return AsWritten{planned->plan.claims.load, arena_bytes(planned->plan)};
}

// The nodes of the model that a node of the lowered graph stands for, by name.
LoweringFacts::Rewrite rewrite_of(const LoadedModel& loaded, NodeId id, const std::vector<NodeId>& origins) {
  LoweringFacts::Rewrite rewrite{
      .id = id, .node = loaded.lowered.graph.node(id).name, .op = full_name(loaded.lowered.graph.op(id))};
  for (NodeId origin : origins) rewrite.from.push_back(loaded.model.graph.node(origin).name);
  return rewrite;
}

// Whether lowering added a node of the load-time work.
bool is_added(const Graph& graph, NodeId id) { return graph.op(id).domain == kOwnDomain; }

}  // namespace

std::vector<std::string> kernel_passes() {
  return {std::string(kUnneededPass),  std::string(kBatchNormPass), std::string(kLayerNormPass),
          std::string(kAttentionPass), std::string(kQuantizedPass), std::string(kLoadTimePass),
          std::string(kChainsPass),    std::string(kFormatsPass)};
}

LowerOptions read_kernel_lowering(const Arguments& arguments) {
  LowerOptions lowering = options_for_kernels();
  const std::vector<std::string>& without = arguments.values("--without");
  const auto is_on = [&](std::string_view pass) { return std::ranges::find(without, pass) == without.end(); };
  lowering.unneeded = is_on(kUnneededPass);
  lowering.batch_norm = is_on(kBatchNormPass);
  lowering.layer_norm = is_on(kLayerNormPass);
  lowering.attention = is_on(kAttentionPass);
  lowering.quantized = is_on(kQuantizedPass);
  lowering.load_time = is_on(kLoadTimePass);
  lowering.chains = is_on(kChainsPass);
  lowering.formats = is_on(kFormatsPass);
  return lowering;
}

LowerOptions read_lowering(const Arguments& arguments) {
  const bool is_cpu = arguments.value("--target") == "cpu";
  if (!is_cpu && arguments.has("--without"))
    stop_usage("--without leaves out a rewrite for the kernels of this machine; add --target cpu");
  LowerOptions lowering = is_cpu ? read_kernel_lowering(arguments) : LowerOptions{};
  if (lowering.formats) lowering.machine = take(cpu_target()).formats;
  lowering.load_time = lowering.load_time && !arguments.has("--no-load-time");
  lowering.inputs_in_arena = arguments.value("--inputs").value_or("caller") == "arena";
  lowering.outputs_at_caller = arguments.value("--outputs").value_or("arena") == "caller";
  return lowering;
}

FormatChoice read_format_choice(const Arguments& arguments) {
  return {.budget = read_positive_size(arguments, "--budget")};
}

std::optional<LoweringFacts> lowering_facts(const LoadedModel& loaded, const LowerOptions& lowering,
                                            const PlanOptions& options) {
  const bool is_changed = lowering.unneeded || lowering.batch_norm || lowering.layer_norm || lowering.attention ||
                          lowering.quantized || lowering.chains || lowering.formats;
  if (!is_changed) return std::nullopt;
  LoweringFacts facts;
  const Graph& model = loaded.model.graph;
  const Graph& load = loaded.lowered.load;
  for (NodeId id : all_ids<NodeId>(load.nodes().size())) facts.at_load += is_added(load, id) ? 0 : 1;
  if (loaded.lowered.origins) {
    Flags<NodeId> runs(model.nodes().size());
    const IdVector<NodeId, std::vector<NodeId>>& origins = loaded.lowered.origins->nodes;
    for (NodeId id : all_ids<NodeId>(origins.size())) {
      for (NodeId origin : origins[id]) runs.set(origin);
      const Operator& op = loaded.lowered.graph.op(id);
      if (op.domain == kOwnDomain && op.type == kReorderType) {
        ++facts.reorders;
        facts.reordered += loaded.lowered.graph.tensor(*loaded.lowered.graph.node(id).outputs[0]).size;
      }
      if (origins[id].size() > 1) facts.rewrites.push_back(rewrite_of(loaded, id, origins[id]));
    }
    for (NodeId id : all_ids<NodeId>(model.nodes().size())) facts.left_out += runs.test(id) ? 0 : 1;
    facts.left_out = std::max<std::int64_t>(facts.left_out - facts.at_load, 0);
  }
  if (model.total_nodes() <= kMostNodesAsWritten)
    facts.as_written = take(plan_as_written(model, lowering, options), loaded.facts.path);
  return facts;
}

Json json_of(const std::optional<LoweringFacts>& facts) {
  if (!facts) return nullptr;
  Json json{{"left_out", facts->left_out},
            {"at_load", facts->at_load},
            {"reorders", facts->reorders},
            {"reordered_bytes", facts->reordered.count()},
            {"rewrites", Json::array()}};
  for (const LoweringFacts::Rewrite& rewrite : facts->rewrites) {
    Json from = Json::array();
    for (const std::string& name : rewrite.from) from.push_back(json_text(name));
    json["rewrites"].push_back({{"node", json_text(rewrite.node)}, {"op", rewrite.op}, {"from", from}});
  }
  json["as_written"] = nullptr;
  if (facts->as_written) {
    json["as_written"] = {{"peak_bytes", facts->as_written->peak.count()},
                          {"arena_bytes", facts->as_written->arena.count()}};
  }
  return json;
}

}  // namespace lowtide::cli_internal
