// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/try.h"
#include "lowtide/cli/commands/earlier/aitemplate_details.h"
#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/commands/earlier/learned_runs.h"
#include "lowtide/cli/commands/earlier/micro_lines.h"
#include "lowtide/cli/commands/earlier/session_prediction.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/onnxruntime.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/comparison.h"
#include "lowtide/share/load.h"

namespace lowtide::cli_internal {
namespace {

std::vector<NodeId> order_of(const Graph& graph, const Plan& plan, bool as_planned) {
  std::vector<NodeId> order;
  if (as_planned) {
    for (const Step& step : plan.program.steps) {
      if (const std::optional<NodeId> node = node_of(step)) order.push_back(*node);
    }
  } else {
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) order.push_back(id);
  }
  return order;
}

// The scratch of kernels and bodies, which is the same for all planners.
IdVector<NodeId, Bytes> scratch_of(const Graph& graph, const Plan& plan) {
  IdVector<NodeId, Bytes> scratch(graph.nodes().size());
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const std::optional<BufferId>& buffer = plan.layout.steps[id].scratch;
    const std::optional<NodeId> node = node_of(plan.program.steps[id]);
    if (buffer && node) scratch[*node] = plan.layout.buffers[*buffer].size;
  }
  return scratch;
}

// Tensors that exporters write and Caffe2's own nets do not have. They are results without readers, such as the
// statistics of a normalization, and constants under a second name (Identity). Caffe2's stack of free buffers ignores
// sizes. So a large tensor could get the buffer of such a tiny tensor, or a tiny tensor could keep a large buffer to
// the end. Therefore these tensors get memory of their own.
std::vector<TensorId> foreign_to_caffe2(const Graph& graph) {
  std::vector<TensorId> found;
  Flags<TensorId> is_constant(graph.tensors().size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).role == Role::constant) is_constant.set(id);
    if (graph.tensor(id).role == Role::temporary && graph.readers(id).empty()) found.push_back(id);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const auto reads_constant = [&](TensorId tensor) { return is_constant.test(tensor); };
    if (graph.op(id).traits.view == ViewKind::none) continue;
    if (!std::all_of(graph.reads(id).begin(), graph.reads(id).end(), reads_constant)) continue;
    for (std::optional<TensorId> tensor : graph.node(id).outputs) {
      if (!tensor) continue;
      is_constant.set(*tensor);
      found.push_back(*tensor);
    }
  }
  return found;
}

// What the baselines are applied to.
struct BaselineInput {
  const Graph& graph;
  std::vector<NodeId> order;
  IdVector<NodeId, Bytes> scratch;
  const StorageFacts* storage = nullptr;  // of a NetDef
};

BaselineOptions baseline_options(const BaselineSpec& spec, const BaselineInput& input, const Arguments& arguments,
                                 Bytes alignment) {
  BaselineOptions options{.baseline = std::string(spec.name), .alignment = alignment};
  options.workspaces.shared = input.scratch;
  read_multistream(arguments, options);
  if (input.storage != nullptr) {
    options.devices = input.storage->devices;
    options.keep = input.storage->unshared;
  }
  if (spec.system == "Caffe2" && input.storage != nullptr) options.colocated = input.storage->colocated;
  if (spec.system == "Caffe2" && input.storage == nullptr) options.keep = foreign_to_caffe2(input.graph);
  return options;
}

ComparisonLine compare_with(const BaselineSpec& spec, const BaselineInput& input, const BaselineOptions& options) {
  ComparisonLine line{
      .name = std::string(spec.name), .system = std::string(spec.system), .is_discontinued = spec.is_discontinued};
  if (spec.needs_gradients) {
    line.refusal =
        input.storage != nullptr
            ? "does not apply: only names say which blobs are gradients; use 'lowtide share --rule " + line.name + "'"
            : "does not apply: a model file does not say which tensors are gradients; a caller of the "
              "library can list them";
    return line;
  }
  const Result<BaselineOutcome> outcome = apply_baseline(input.graph, input.order, options);
  if (!outcome) {
    line.refusal = outcome.error().message;
    return line;
  }
  if (!outcome->violations.empty())
    stop_bug("the result of " + line.name + " is wrong: " + outcome->violations.front().message);
  Bytes workspace = outcome->workspace.total;
  if (!spec.places_scratch) {
    for (Bytes size : input.scratch) workspace = std::max(workspace, size);
  }
  line.original_failure = outcome->original_failure;
  line.run_order = to_string(outcome->sharing.execution);
  line.bytes = outcome->bytes + workspace;
  line.naive = outcome->naive + workspace;
  if (outcome->best) line.best = *outcome->best + workspace;
  line.is_best = outcome->proven_optimal;
  line.shared_buffers = outcome->shared_buffers;
  line.blobs = outcome->blobs;
  line.blobs_left = outcome->blobs_left;
  line.reused = outcome->reused;
  return line;
}

// The peak by Lowtide's rules for sharing, if the nodes run in the order of ONNX Runtime.
Bytes peak_in_its_order(const Graph& graph, const Target& target, const IdVector<NodeId, Bytes>& scratch) {
  const std::vector<NodeId> order = onnxruntime_order(graph);
  ChosenKernels kernels;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    kernels.push_back(target.catalogue->kernels(graph, id).front());
    kernels[id].scratch = scratch[id];
  }
  const AliasOptions options{.alignment = first_alignment(target.machine)};
  return largest(load_profile(alias_classes(graph, kernels, order, options), kernels, order, options));
}

// The prediction is for the graph of the file, and the order for the graph that Lowtide runs.
Result<RuntimeComparison> runtime_comparison(const ModelRequest& request, const LoadedModel& loaded,
                                             const Target& target, const IdVector<NodeId, Bytes>& scratch) {
  LOWTIDE_TRY(const OnnxRuntimeMemory memory, predict_session(request, loaded.model));
  const Bytes in_its_order = peak_in_its_order(loaded.lowered.graph, target, scratch);
  const Graph& graph = loaded.model.graph;
  RuntimeComparison runtime{.in_its_order = in_its_order,
                            .live = memory.live,
                            .scratch = memory.scratch,
                            .pattern = memory.pattern,
                            .has_load_time_nodes = !loaded.lowered.load.nodes().empty()};
  if (memory.peak_node) {
    const NodeId node = *memory.peak_node;
    runtime.peak_node = {.name = graph.node(node).name, .op = graph.op(node).type};
  }
  for (const OnnxRuntimeBytes& bytes : memory.bytes) {
    const std::optional<ArenaGrowth> growth = bytes.options.growth;
    runtime.lines.push_back({.has_arena = growth.has_value(),
                             .extend_strategy = growth ? std::string(to_string(*growth)) : "",
                             .has_pattern = bytes.options.memory_pattern,
                             .load = bytes.load,
                             .first_run = bytes.first_run,
                             .second_run = bytes.second_run});
  }
  return runtime;
}

// A Caffe2 net keeps its own operators and names for the baselines, and has no kernels with scratch.
BaselineInput baseline_input(const LoadedModel& loaded, const Plan& plan, bool as_planned) {
  const Graph& lowered = loaded.lowered.graph;
  if (!loaded.model.storage) return {lowered, order_of(lowered, plan, as_planned), scratch_of(lowered, plan)};
  const Graph& graph = loaded.model.graph;
  const bool has_same_ids = !loaded.lowered.origins.has_value();
  return {graph, order_of(graph, plan, as_planned && has_same_ids), IdVector<NodeId, Bytes>(graph.nodes().size()),
          &*loaded.model.storage};
}

// Grappler has no offsets, and makes another graph of that which it gets.
ComparisonLine grappler_line(const ImportedModel& model) {
  return {.name = "grappler",
          .system = "TensorFlow's Grappler",
          .run_order = "dataflow",
          .refusal = model.format.starts_with("graphdef")
                         ? "does not apply: it writes another graph; see 'lowtide rewrite'"
                         : "does not apply: it takes graphs of TensorFlow"};
}

Comparison compare(const ModelRequest& request, const LoadedModel& loaded, const Plan& plan, const Target& target,
                   const Arguments& arguments) {
  const Graph& graph = loaded.lowered.graph;
  const Bytes arena = arena_bytes(plan);
  const Bytes bound = bound_of(plan).bytes;
  Comparison comparison{.arena = arena,
                        .bound = bound,
                        .is_proven = counts_all(plan.claims) && arena == bound,
                        .uncounted = plan.claims.uncounted};
  const IdVector<NodeId, Bytes> scratch = scratch_of(graph, plan);
  const BaselineInput input = baseline_input(loaded, plan, arguments.has("--same-order"));
  Result<RuntimeComparison> runtime = runtime_comparison(request, loaded, target, scratch);
  comparison.onnxruntime = runtime ? *std::move(runtime) : RuntimeComparison{.refusal = runtime.error().message};
  bool has_grappler = false;
  for (const BaselineSpec& spec : baselines()) {
    if (spec.is_discontinued && !std::exchange(has_grappler, true)) {
      comparison.lines.push_back(grappler_line(loaded.model));
    }
    comparison.lines.push_back(
        compare_with(spec, input, baseline_options(spec, input, arguments, first_alignment(plan.machine))));
  }
  return comparison;
}

// What --times and --places-of add.
struct Details {
  std::optional<StyledText> times;
  Json json_times;
  Json places;
};

// The planner of --places-of; nullopt without the option.
std::optional<BaselineSpec> read_places_of(const Arguments& arguments) {
  const std::optional<std::string> name = arguments.value("--places-of");
  if (!name) return std::nullopt;
  if (!arguments.has("--json")) stop_usage("--places-of adds a list to the output of --json; add --json");
  for (const BaselineSpec& spec : baselines()) {
    if (spec.name != *name) continue;
    if (!spec.needs_gradients) return spec;
    stop_usage("'" + *name + "' takes the names of gradients; see 'lowtide share --rule " + *name + "'");
  }
  std::string names;
  for (const BaselineSpec& spec : baselines()) names += (names.empty() ? "" : ", ") + std::string(spec.name);
  stop_usage("no planner matches '" + *name + "'; there are " + names);
}

Details details_of(const BaselineInput& input, const std::optional<BaselineSpec>& detailed, Bytes alignment,
                   const Arguments& arguments) {
  Details details;
  if (const auto times = read_profiled_times(arguments, input.graph, input.order)) {
    details.times = text_of_times(input.graph, *times);
    details.json_times = json_of_times(input.graph, input.order, *times);
  }
  if (!detailed) return details;
  const BaselineOptions options = baseline_options(*detailed, input, arguments, alignment);
  const BaselineOutcome outcome = take(apply_baseline(input.graph, input.order, options), options.baseline);
  if (!outcome.violations.empty()) {
    stop_bug("the result of " + options.baseline + " is wrong: " + outcome.violations.front().message);
  }
  details.places = json_of_places(input.graph, outcome);
  return details;
}

Json json_of_line(const ComparisonLine& line) {
  Json json;
  json["baseline"] = line.name;
  json["system"] = line.system;
  json["discontinued"] = line.is_discontinued;
  json["refusal"] = line.refusal ? Json(json_text(*line.refusal)) : Json(nullptr);
  if (line.refusal) return json;
  json["original_failure"] = line.original_failure ? Json(json_text(*line.original_failure)) : Json(nullptr);
  json["runs_in"] = line.run_order;
  json["bytes"] = line.bytes.count();
  json["naive_bytes"] = line.naive.count();
  json["best_bytes"] = line.best ? Json(line.best->count()) : Json(nullptr);
  json["proven_optimal"] = line.is_best;
  json["shared_buffers"] = line.shared_buffers;
  json["blobs"] = line.blobs;
  json["blobs_left"] = line.blobs_left ? Json(*line.blobs_left) : Json(nullptr);
  json["reused"] = line.reused;
  json["verified"] = true;
  return json;
}

Json json_of_runtime(const RuntimeComparison& runtime) {
  Json json;
  json["refusal"] = runtime.refusal ? Json(json_text(*runtime.refusal)) : Json(nullptr);
  if (runtime.refusal) return json;
  json["in_its_order_bytes"] = runtime.in_its_order.count();
  json["live_bytes"] = runtime.live.count();
  json["scratch_bytes"] = runtime.scratch.count();
  json["pattern_bytes"] = runtime.pattern.count();
  json["options"] = Json::array();
  for (const RuntimeLine& line : runtime.lines) {
    json["options"].push_back(
        {{"enable_cpu_mem_arena", line.has_arena},
         {"arena_extend_strategy", line.extend_strategy.empty() ? Json(nullptr) : Json(line.extend_strategy)},
         {"enable_mem_pattern", line.has_pattern},
         {"load_bytes", line.load.count()},
         {"first_run_bytes", line.first_run.count()},
         {"second_run_bytes", line.second_run.count()}});
  }
  return json;
}

}  // namespace

ExitCode run_compare(const Arguments& arguments, Console& console) {
  const std::optional<BaselineSpec> detailed = read_places_of(arguments);
  BaselineOptions limits;
  read_multistream(arguments, limits);  // stops for wrong numbers before anything is read
  const Target target = read_target(arguments);
  ModelRequest request = read_model_request(arguments, target);
  request.bindings.keeps_declared_extents = true;
  const LoadedModel loaded = load_model(request, console);
  remark_unknown_operators(target, loaded.lowered.graph, console);

  const Stopwatch watch;
  std::optional<LearnedRuns> learned;
  Details details;
  const Comparison comparison = [&] {
    const Progress progress(console, "comparing");
    const PlannedGraph planned = take(plan_graph(loaded.lowered.graph, target), request.path);
    if (!planned.violations.empty()) stop_bug("the plan of Lowtide is wrong: " + planned.violations.front().message);
    const BaselineInput input = baseline_input(loaded, planned.plan, arguments.has("--same-order"));
    learned = compare_runs(arguments, {request, loaded, planned.plan, input.order}, target);
    details = details_of(input, detailed, first_alignment(planned.plan.machine), arguments);
    return compare(request, loaded, planned.plan, target, arguments);
  }();
  const std::optional<MicroFigures> micro =
      loaded.model.format == "tflite" ? micro_figures(request.path) : std::nullopt;
  if (!arguments.has("--json")) {
    StyledText shown = comparison_summary(loaded.facts, comparison);
    if (micro) shown.end_line().append(text_of(*micro));
    if (learned) shown.end_line().append(learned_runs_summary(*learned));
    if (details.times) shown.end_line().append(*details.times);
    console.result(shown);
    return ExitCode::done;
  }
  Json json = json_head("compare");
  json["model"] = json_of(loaded.facts);
  json["bytes"] = {{"arena", comparison.arena.count()}, {"bound", comparison.bound.count()}};
  json["uncounted"] = json_of(comparison.uncounted);
  json["onnxruntime"] = json_of_runtime(comparison.onnxruntime);
  json["tflite_micro"] = micro ? json_of(*micro) : Json(nullptr);
  json["baselines"] = Json::array();
  for (const ComparisonLine& line : comparison.lines) json["baselines"].push_back(json_of_line(line));
  json["learned"] = learned ? json_of(*learned) : Json(nullptr);
  json["times"] = std::move(details.json_times);
  json["places"] = std::move(details.places);
  json["notes"] = json_of(loaded.model.notes);
  json["seconds"] = {{"import", loaded.seconds}, {"compare", watch.seconds()}};
  print_json(console, json);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
