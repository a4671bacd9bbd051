// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/baselines.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/measure/given_slots.h"
#include "lowtide/earlier/baselines/measure/least_slots.h"
#include "lowtide/earlier/baselines/measure/measure.h"
#include "lowtide/earlier/baselines/measure/reused.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/earlier/baselines/net/check_options.h"
#include "lowtide/earlier/baselines/planners/aitemplate.h"
#include "lowtide/earlier/baselines/planners/caffe2_dag.h"
#include "lowtide/earlier/baselines/planners/current_runtimes.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide {
namespace baselines_internal {

Error too_large(const std::string& what, std::int64_t most, const std::string& name) {
  return Error{ErrorCode::over_limit,
               "not computed, because the graph is too large: the rule would examine more than " +
                   std::to_string(most) + " " + what + " (" + name + ")",
               ""};
}

namespace {

Result<Decision> simple(const BlobNet& net, const BaselineOptions& /*options*/) {
  return decision_of(recycle_in_sequence(net), ExecutionModel::sequence);
}

Result<Decision> interference_greedy(const BlobNet& net, const BaselineOptions& /*options*/) {
  return decision_of(nearest_size_choice(net), ExecutionModel::sequence);
}

Result<Decision> interference_exact(const BlobNet& net, const BaselineOptions& options) {
  LOWTIDE_TRY(LeastSlots least, least_slots(net, options.effort));
  return decision_of(std::move(least.choice), ExecutionModel::sequence);
}

// Keeps a blob without readers live to the end, as if one more node read it. Caffe2's interference planner does the
// same.
void keep_unread(BlobNet& net) {
  for (Blob& blob : net.blobs) {
    const auto is_unread = [&](TensorId id) { return net.graph->readers(id).empty(); };
    if (std::all_of(blob.tensors.begin(), blob.tensors.end(), is_unread)) {
      blob.last = static_cast<std::uint32_t>(net.ops.size());
    }
  }
}

// All tensors that nodes write and that are not needed after the run, back to back.
Result<Decision> managed_side_by_side(const BlobNet& net, const BaselineOptions& /*options*/) {
  Decision decision = arena_of(net);
  Offset end;
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    if (net.blobs[id].is_kept) {
      decision.block[id].reset();
      continue;
    }
    decision.offset[id] = end;
    end = end + net.blobs[id].size;
  }
  return decision;
}

Result<Decision> groups(const BlobNet& net, const BaselineOptions& /*options*/) {
  return decision_of(storage_groups(net), ExecutionModel::sequence);
}

// Where the scratch of nodes goes.
enum class ScratchRule : std::uint8_t { apart, behind_tensors, among_tensors };

struct Recipe {
  BaselineSpec spec;
  std::int64_t alignment;
  ViewRule views;
  ScratchRule scratch;
  bool has_arena;  // one arena, so only one device
  Result<Decision> (*decide)(const BlobNet& net, const BaselineOptions& options);
};

Recipe caffe2(std::string_view name, std::string_view summary,
              Result<Decision> (*decide)(const BlobNet& net, const BaselineOptions& options)) {
  const BaselineSpec spec{.name = name,
                          .system = "Caffe2",
                          .summary = summary,
                          .is_discontinued = true,
                          .needs_gradients = name.starts_with("caffe2_gradients")};
  return {spec, 1, ViewRule::none, ScratchRule::apart, false, decide};
}

constexpr BaselineSpec aitemplate(std::string_view name, std::string_view summary) {
  return {.name = name, .system = "AITemplate", .summary = summary, .is_discontinued = true};
}

// NOLINTNEXTLINE(readability-function-size): a table, one row per baseline
const std::vector<Recipe>& recipes() {
  using enum ScratchRule;
  static const std::vector<Recipe> all = {
      {{.name = "tflite_micro_greedy",
        .system = "TFLite Micro",
        .summary = "offsets, largest tensor first, into the lowest free range",
        .places_scratch = true},
       16,
       ViewRule::none,
       among_tensors,
       true,
       tflite_micro_greedy},
      {{.name = "executorch_greedy",
        .system = "ExecuTorch",
        .summary = "buckets, largest tensor first, into the first bucket with space"},
       16,
       ViewRule::reshaped,
       apart,
       true,
       executorch_greedy},
      {{.name = "executorch_naive", .system = "ExecuTorch", .summary = "no sharing, tensors laid out back to back"},
       16,
       ViewRule::reshaped,
       apart,
       true,
       executorch_naive},
      {{.name = "static_runtime_groups",
        .system = "Static Runtime",
        .summary = "storage groups along the order, views with their base"},
       64,
       ViewRule::all,
       apart,
       false,
       groups},
      {{.name = "static_runtime_side_by_side",
        .system = "Static Runtime",
        .summary = "no sharing, managed tensors laid out back to back"},
       64,
       ViewRule::all,
       apart,
       true,
       managed_side_by_side},
      caffe2("caffe2_simple", "whole buffers along the order, last released first, sizes ignored", simple),
      caffe2("caffe2_dag", "whole buffers, for parallel branches, most shared first, sizes ignored", caffe2_dag),
      caffe2("caffe2_dag_sized", "whole buffers, safe for parallel branches, nearest size first", caffe2_dag_sized),
      caffe2("caffe2_interference_greedy", "whole buffers by lifespan, slot with the nearest size",
             interference_greedy),
      caffe2("caffe2_interference_exact", "whole buffers by lifespan, least total", interference_exact),
      caffe2("caffe2_gradients", "gradients and dead forward tensors share, most shared buffer first, sizes ignored",
             caffe2_gradients),
      caffe2("caffe2_gradients_sized", "gradients and dead forward tensors share, nearest size first",
             caffe2_gradients_sized),
      {aitemplate("aitemplate_naive", "no sharing, tensors laid out back to back"), 64, ViewRule::whole, behind_tensors,
       true, aitemplate_naive},
      {aitemplate("aitemplate_greedy_by_size", "offsets, largest tensor first, into the smallest free range"), 64,
       ViewRule::whole, behind_tensors, true, aitemplate_greedy_by_size},
      {aitemplate("aitemplate_multistream",
                  "offsets for nodes in waves, largest tensor first, into the smallest free range"),
       64, ViewRule::whole, behind_tensors, true, aitemplate_multistream},
  };
  return all;
}

const Recipe* find_recipe(std::string_view name) {
  for (const Recipe& recipe : recipes()) {
    if (recipe.spec.name == name) return &recipe;
  }
  return nullptr;
}

Result<void> check_devices(const BlobNet& net, const Recipe& recipe) {
  const std::size_t devices = devices_of(net).size();
  if (!recipe.has_arena || devices <= 1) return {};
  return Error{ErrorCode::invalid,
               quoted(recipe.spec.name) + " plans one device, but the tensors are on " + std::to_string(devices) +
                   "; plan each device separately",
               ""};
}

bool is_interference(const Recipe& recipe) { return recipe.spec.name.starts_with("caffe2_interference"); }

// The blobs with their lifespans as the rule sees them. `settled` has an alignment.
Result<BlobNet> net_of_recipe(const Graph& graph, const std::vector<NodeId>& order, const BaselineOptions& settled,
                              const Recipe& recipe) {
  Result<BlobNet> net = blob_net(graph, order, settled, *settled.alignment, recipe.views);
  if (net && is_interference(recipe)) keep_unread(*net);
  return net;
}

Result<void> begin_with_assigned(const BaselineOptions& options, const Recipe& recipe, BlobNet& net) {
  if (options.assigned.empty()) return {};
  if (!is_interference(recipe)) {
    return Error{ErrorCode::invalid,
                 quoted(options.baseline) + " cannot begin with assigned slots; only caffe2_interference_* can", ""};
  }
  const std::optional<AssignedFault> fault = add_given_slots(options, net);
  if (fault) return Error{ErrorCode::invalid, fault->message, "assigned slot " + std::to_string(fault->slot)};
  return {};
}

Error unknown_baseline(const std::string& name) {
  std::string names;
  for (const BaselineSpec& spec : baselines()) names += (names.empty() ? "" : ", ") + std::string(spec.name);
  return Error{ErrorCode::invalid, "no baseline matches " + quoted(name) + "; known baselines: " + names, ""};
}

}  // namespace
}  // namespace baselines_internal

const std::vector<BaselineSpec>& baselines() {
  static const std::vector<BaselineSpec> all = [] {
    std::vector<BaselineSpec> specs;
    for (const baselines_internal::Recipe& recipe : baselines_internal::recipes()) specs.push_back(recipe.spec);
    return specs;
  }();
  return all;
}

Result<BaselineOutcome> apply_baseline(const Graph& graph, const std::vector<NodeId>& order,
                                       const BaselineOptions& options) {
  const baselines_internal::Recipe* recipe = baselines_internal::find_recipe(options.baseline);
  if (recipe == nullptr) return baselines_internal::unknown_baseline(options.baseline);
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::check_numbers(options));
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::check_order(graph, order));
  using baselines_internal::ScratchRule;
  BaselineOptions settled = options;
  settled.alignment = options.alignment.value_or(Bytes(recipe->alignment));
  LOWTIDE_TRY(baselines_internal::BlobNet net, baselines_internal::net_of_recipe(graph, order, settled, *recipe));
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::begin_with_assigned(options, *recipe, net));
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::check_devices(net, *recipe));
  if (recipe->scratch != ScratchRule::apart) {
    LOWTIDE_RETURN_IF_ERROR(lay_out_workspaces(graph, settled.workspaces, 1));
  }
  LOWTIDE_TRY(baselines_internal::Decision decision, recipe->decide(net, settled));
  BaselineOutcome outcome;
  outcome.baseline = options.baseline;
  outcome.original_failure = decision.original_failure;
  if (recipe->scratch == ScratchRule::behind_tensors) {
    LOWTIDE_TRY(WorkspaceLayout workspace, lay_out_workspaces(graph, settled.workspaces, decision.streams));
    outcome.workspace = std::move(workspace);
    baselines_internal::lay_out_constants(graph, *settled.alignment, outcome);
  }
  baselines_internal::claim(net, order, options, decision, outcome);
  outcome.reused = baselines_internal::count_reused(net, decision);
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::measure(net, settled, decision, outcome));
  outcome.violations = check_sharing(graph, outcome.sharing);
  return outcome;
}

Result<std::optional<AssignedFault>> find_assigned_fault(const Graph& graph, const std::vector<NodeId>& order,
                                                         const BaselineOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::check_numbers(options));
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::check_order(graph, order));
  BaselineOptions settled = options;
  settled.alignment = options.alignment.value_or(Bytes(1));
  const baselines_internal::Recipe* recipe = baselines_internal::find_recipe("caffe2_interference_exact");
  LOWTIDE_TRY(baselines_internal::BlobNet net, baselines_internal::net_of_recipe(graph, order, settled, *recipe));
  return baselines_internal::add_given_slots(options, net);
}

}  // namespace lowtide
