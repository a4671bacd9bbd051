// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "model.h"

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "call.h"
#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/import.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/description.h"
#if __has_include("lowtide/earlier/formats/earlier_formats.h")
#include "lowtide/earlier/formats/earlier_formats.h"
#endif
#if __has_include("lowtide/tflite/model_import/tflite_format.h")
#include "lowtide/tflite/model_import/tflite_format.h"
#endif

namespace lowtide::python {
namespace {

constexpr std::int64_t kBoundCheckEffort = 10'000'000'000;  // as `lowtide plan --check-bound`

[[noreturn]] void refuse(const std::string& message) { throw Failure({ErrorCode::invalid, message, ""}); }

void check_range(std::string_view name, std::int64_t number, std::int64_t least, std::int64_t most) {
  if (number >= least && number <= most) return;
  refuse(std::string(name) + " is " + std::to_string(number) + "; give a number from " + std::to_string(least) +
         " to " + std::to_string(most));
}

// What an installed Lowtide reads beside ONNX.
std::span<const ModelFormat> model_formats() {
  static const std::vector<ModelFormat> formats = [] {
    std::vector<ModelFormat> all;
    [[maybe_unused]] const auto add = [&](std::span<const ModelFormat> some) {
      all.insert(all.end(), some.begin(), some.end());
    };
#if __has_include("lowtide/tflite/model_import/tflite_format.h")
    add(tflite_formats());
#endif
#if __has_include("lowtide/earlier/formats/earlier_formats.h")
    add(earlier_formats());
#endif
    return all;
  }();
  return formats;
}

// Plans the work at load time in the order of the file, because a loader follows it.
LoadTimeFacts load_time_facts(const Graph& load) {
  PlanOptions options{.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  options.skip = {PlanStage::refine, PlanStage::check_bound, PlanStage::verify};
  const PlannedGraph planned = take(plan_graph(load, dense_target(), options));
  LoadTimeFacts facts{.nodes = load.total_nodes(), .peak = planned.plan.claims.load};
  for (TensorId id : load.outputs()) facts.results += load.tensor(id).size;
  return facts;
}

ExecutionModel execution_of(const Request& request) {
  const std::optional<ExecutionModel> run = from_string<ExecutionModel>(request.run);
  if (!run || *run == ExecutionModel::sequence) {
    refuse("run is " + lowtide::quoted(request.run, 60) + "; give 'streams', 'waves' or 'dataflow'");
  }
  if (*run == ExecutionModel::waves && request.streams == 1) {
    refuse("run is 'waves', but streams is 1; give the number of steps per wave as streams");
  }
  if (*run == ExecutionModel::dataflow && request.streams != 1) {
    refuse("streams has no effect with run='dataflow', which runs any number of steps at once; omit it");
  }
  return *run;
}

}  // namespace

ImportOptions import_options(const Request& request) {
  ImportOptions options{.dims = request.dims,
                        .shapes = request.shapes,
                        .at_most = request.at_most,
                        .overrides = {request.overrides.begin(), request.overrides.end()},
                        .formats = model_formats()};
  for (const auto& [name, extents] : request.given) options.given.push_back({{name, extents}});
  for (const auto& [name, type] : request.given_types) {
    if (const std::optional<DType> dtype = from_string<DType>(type)) options.given_types.emplace(name, *dtype);
  }
  return options;
}

// Whether a target file states that its kernels of quantized models work on integers.
static bool wants_integers(const Request& request) {
  return request.target_text && take(parse_target(*request.target_text, request.target)).has_integer_kernels;
}

LowerOptions lower_options_of(const Request& request) {
  const bool is_cpu = request.target == "cpu" && !request.target_text;
  LowerOptions options = is_cpu ? options_for_kernels(take(cpu_target()).formats) : LowerOptions{};
  if (wants_integers(request)) options.passes = options.passes | integer_passes();
  if (!request.load_time) options.passes.erase(PassId::load_time);
  if (request.inputs_in_arena) options.passes.insert(PassId::inputs_in_arena);
  if (request.outputs_at_caller) options.passes.insert(PassId::outputs_at_caller);
  return options;
}

LoadedModel load_model(const Request& request) {
  ImportedModel model = take(import_model(request.model, import_options(request)));
  take(check_overrides(model.graph, model.default_inputs, import_options(request).overrides));
  LowerOptions lowering = lower_options_of(request);
  lowering.table = &model.constants;
  const std::optional<Bytes> budget = request.budget ? std::optional(Bytes(*request.budget)) : std::nullopt;
  const FormatChoice choice{.budget = BudgetRequest::of(budget),
                            .target = std::make_shared<const Target>(target_of(request))};
  Lowered lowered = take(lower_for_machine(model.graph, lowering, choice));
  return {std::move(model), std::move(lowered)};
}

Target target_of(const Request& request) {
  if (request.target_text) return take(parse_target(*request.target_text, request.target));
  if (request.target == "cpu") {
    return take(cpu_target({.threads = request.threads.value_or(request.streams > 1 ? 2 : 1)}));
  }
  return dense_target();
}

PlanOptions plan_options(const Request& request) {
  PlanOptions options;
  check_range("streams", request.streams, 1, limits::kMaxStreams);
  if (request.budget) {
    check_range("budget", *request.budget, 1, limits::kMaxArenaBytes);
    options.budget = Bytes(*request.budget);
  }
  for (const std::optional<std::int64_t>& effort : {request.effort, request.order_effort}) {
    if (effort && *effort < 0) refuse("an effort is " + std::to_string(*effort) + "; give 0 or a positive number");
  }
  options.order = request.order;
  options.views = request.views;
  options.parts = request.parts;
  options.in_place = request.in_place;
  options.allocate_effort = request.effort.value_or(options.allocate_effort);
  options.order_effort = request.order_effort.value_or(options.order_effort);
  options.run = execution_of(request);
  options.streams = static_cast<std::uint32_t>(request.streams);
  if (request.check_bound) options.bound_check_effort = kBoundCheckEffort;
  options.tool = request.tool;
  options.dims = request.written_dims;
  return options;
}

ModelFacts facts_of(const LoadedModel& loaded, const Request& request) {
  const Graph& graph = loaded.lowered.graph;
  const bool has_caller = request.inputs_in_arena && !loaded.model.graph.inputs().empty();  // its node is not counted
  ModelFacts facts{.path = request.model,
                   .format = loaded.model.format,
                   .sha256 = loaded.model.sha256,
                   .nodes = loaded.model.nodes,
                   .planned_nodes = graph.total_nodes() - (has_caller ? 1 : 0),
                   .body_nodes = graph.total_nodes() - static_cast<std::int64_t>(graph.nodes().size()),
                   .tensors = graph.total_tensors()};
  if (!loaded.lowered.load.nodes().empty()) facts.load_time = load_time_facts(loaded.lowered.load);
  return facts;
}

}  // namespace lowtide::python
