// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/baselines/baselines.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/baselines/aitemplate.h"
#include "lowtide/baselines/blobs.h"
#include "lowtide/baselines/current_runtimes.h"
#include "lowtide/baselines/least_slots.h"
#include "lowtide/baselines/measure.h"
#include "lowtide/baselines/sharing_rules.h"

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

Result<Decision> dag(const BlobNet& net, bool by_size) {
  DagRule rule{.by_size = by_size,
               .may_move = Flags<BlobId>(net.blobs.size()),
               .may_host = Flags<BlobId>(net.blobs.size()),
               .takes_part = Flags<std::uint32_t>(net.ops.size(), true)};
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    if (!net.blobs[id].is_kept) rule.may_move.set(id);
  }
  Result<BlockChoice> choice = recycle_in_dag(net, rule);
  if (!choice) return choice.error();
  return decision_of(*std::move(choice), ExecutionModel::dataflow);
}

Result<Decision> dag_by_count(const BlobNet& net, const BaselineOptions& /*options*/) { return dag(net, false); }
Result<Decision> dag_by_size(const BlobNet& net, const BaselineOptions& /*options*/) { return dag(net, true); }

Result<Decision> gradients(const BlobNet& net, const BaselineOptions& options) {
  DagRule rule{.by_size = true,
               .may_move = Flags<BlobId>(net.blobs.size()),
               .may_host = Flags<BlobId>(net.blobs.size()),
               .takes_part = Flags<std::uint32_t>(net.ops.size())};
  for (const auto& [list, marks] : {std::pair(&options.hosts, &rule.may_host), {&options.gradients, &rule.may_move}}) {
    for (TensorId id : *list) {
      if (!net.blob_of.contains(id)) {
        return Error{ErrorCode::invalid,
                     "tensor " + std::to_string(id.value()) +
                         " is listed as a gradient or host, but the graph has only " +
                         std::to_string(net.blob_of.size()) + " tensors",
                     ""};
      }
      const BlobId blob = net.blob_of[id];
      if (!net.blobs[blob].is_kept) marks->set(blob);
    }
  }
  const auto is_gradient = [&](BlobId id) { return rule.may_move.test(id); };
  for (std::uint32_t at = 0; at < net.ops.size(); ++at) {
    const BlobOp& op = net.ops[at];
    if (std::any_of(op.inputs.begin(), op.inputs.end(), is_gradient) ||
        std::any_of(op.outputs.begin(), op.outputs.end(), is_gradient)) {
      rule.takes_part.set(at);
    }
  }
  Result<BlockChoice> choice = recycle_in_dag(net, rule);
  if (!choice) return choice.error();
  Decision decision = decision_of(*std::move(choice), ExecutionModel::dataflow);
  decision.all_may_share = false;
  return decision;
}

Result<Decision> interference_greedy(const BlobNet& net, const BaselineOptions& /*options*/) {
  return decision_of(nearest_size_choice(net), ExecutionModel::sequence);
}

Result<Decision> interference_exact(const BlobNet& net, const BaselineOptions& options) {
  Result<LeastSlots> least = least_slots(net, options.effort);
  if (!least) return least.error();
  return decision_of(std::move(least->choice), ExecutionModel::sequence);
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

constexpr BaselineSpec caffe2(std::string_view name, std::string_view summary) {
  return {.name = name, .system = "Caffe2", .summary = summary, .is_discontinued = true};
}

constexpr BaselineSpec aitemplate(std::string_view name, std::string_view summary) {
  return {.name = name, .system = "AITemplate", .summary = summary, .is_discontinued = true};
}

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
      {caffe2("caffe2_simple", "whole buffers along the order, last released first, sizes ignored"), 1, ViewRule::none,
       apart, false, simple},
      {caffe2("caffe2_dag", "whole buffers, safe for parallel branches, most shared buffer first, sizes ignored"), 1,
       ViewRule::none, apart, false, dag_by_count},
      {caffe2("caffe2_dag_sized", "whole buffers, safe for parallel branches, nearest size first"), 1, ViewRule::none,
       apart, false, dag_by_size},
      {caffe2("caffe2_interference_greedy", "whole buffers by lifespan, slot with the nearest size"), 1, ViewRule::none,
       apart, false, interference_greedy},
      {caffe2("caffe2_interference_exact", "whole buffers by lifespan, least total"), 1, ViewRule::none, apart, false,
       interference_exact},
      {caffe2("caffe2_gradients",
              "gradients reuse the bytes of each other, and of forward tensors after their last use"),
       1, ViewRule::none, apart, false, gradients},
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

Result<void> check_numbers(const BaselineOptions& options) {
  if (options.nodes_at_once < 1 || options.streams < 1) {
    return Error{ErrorCode::invalid,
                 "waves of " + std::to_string(options.nodes_at_once) + " nodes on " + std::to_string(options.streams) +
                     " streams are not possible; give at least 1 of each",
                 ""};
  }
  if (options.alignment &&
      (!is_power_of_two(options.alignment->count()) || options.alignment->count() > limits::kMaxAlignment)) {
    return Error{ErrorCode::invalid,
                 "the alignment is " + std::to_string(options.alignment->count()) +
                     "; it must be a power of two of at most " + std::to_string(limits::kMaxAlignment),
                 ""};
  }
  return {};
}

Result<void> check_order(const Graph& graph, const std::vector<NodeId>& order) {
  Flags<NodeId> has_run(graph.nodes().size());
  const auto refuse = [&](NodeId id, const std::string& why) {
    return Error{ErrorCode::invalid, "the order is invalid: node " + std::to_string(id.value()) + " " + why, ""};
  };
  for (NodeId id : order) {
    if (!graph.nodes().contains(id)) return refuse(id, "is not in the graph");
    if (has_run.test(id)) return refuse(id, "appears twice");
    for (TensorId tensor : graph.reads(id)) {
      const std::optional<NodeId> producer = graph.tensor(tensor).producer;
      if (producer && !has_run.test(*producer)) {
        return refuse(id, "comes before node " + std::to_string(producer->value()) + ", whose output it reads");
      }
    }
    for (NodeId before : graph.node(id).control_inputs) {
      if (!has_run.test(before))
        return refuse(id, "comes before node " + std::to_string(before.value()) + ", its control input");
    }
    has_run.set(id);
  }
  if (order.size() == graph.nodes().size()) return {};
  return Error{ErrorCode::invalid,
               "the order has " + std::to_string(order.size()) + " nodes, but the graph has " +
                   std::to_string(graph.nodes().size()),
               ""};
}

Result<void> check_devices(const BlobNet& net, const Recipe& recipe) {
  const std::size_t devices = devices_of(net).size();
  if (!recipe.has_arena || devices <= 1) return {};
  return Error{ErrorCode::invalid,
               quoted(recipe.spec.name) + " plans one device, but the tensors are on " + std::to_string(devices) +
                   "; plan each device separately",
               ""};
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
  Result<baselines_internal::BlobNet> net =
      baselines_internal::blob_net(graph, order, settled, *settled.alignment, recipe->views);
  if (!net) return net.error();
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::check_devices(*net, *recipe));
  if (recipe->scratch != ScratchRule::apart) {
    LOWTIDE_RETURN_IF_ERROR(lay_out_workspaces(graph, settled.workspaces, 1));
  }
  Result<baselines_internal::Decision> decision = recipe->decide(*net, settled);
  if (!decision) return decision.error();
  BaselineOutcome outcome;
  outcome.baseline = options.baseline;
  if (recipe->scratch == ScratchRule::behind_tensors) {
    Result<WorkspaceLayout> workspace = lay_out_workspaces(graph, settled.workspaces, decision->streams);
    if (!workspace) return workspace.error();
    outcome.workspace = *std::move(workspace);
    baselines_internal::lay_out_constants(graph, *settled.alignment, outcome);
  }
  baselines_internal::claim(*net, order, options, *decision, outcome);
  LOWTIDE_RETURN_IF_ERROR(baselines_internal::measure(*net, settled, *decision, outcome));
  outcome.violations = check_sharing(graph, outcome.sharing);
  return outcome;
}

}  // namespace lowtide
