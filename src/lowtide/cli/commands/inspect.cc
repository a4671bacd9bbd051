// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/device_figures.h"
#include "lowtide/analysis/node_figures.h"
#include "lowtide/analysis/plain_figures.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/report/device_table.h"
#include "lowtide/report/inspection.h"
#include "lowtide/report/node_table.h"
#include "lowtide/report/open_inspection.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {
namespace {

Json json_of_tensors(const Graph& graph, const std::vector<TensorId>& tensors) {
  Json list = Json::array();
  for (TensorId id : tensors) {
    const Tensor& tensor = graph.tensor(id);
    list.push_back({{"name", json_text(tensor.name)},
                    {"dtype", std::string(to_string(tensor.dtype))},
                    {"shape", tensor.shape.extents()},
                    {"bytes", tensor.size.count()}});
  }
  return list;
}

// What one operator and the whole graph have in common.
Json json_of_totals(const FigureTotals& totals) {
  return {{"nodes", totals.nodes},
          {"read_bytes", totals.read.sum},
          {"scratch_bytes", totals.scratch.count()},
          {"constants_bytes", totals.constants.count()},
          {"macs", totals.macs.sum},
          {"nodes_without_macs", totals.macs.left_out}};
}

Json json_of_operator(const OperatorTotals& one) {
  Json json{{"op", json_text(one.op)}, {"bytes", one.totals.written.sum}};
  json.update(json_of_totals(one.totals));
  return json;
}

Json json_of_nodes(const GraphFigures& figures) {
  Json list = Json::array();
  for (const NodeFigures& row : figures.nodes) {
    const Graph& graph = *row.graph;
    Json json{{"step", row.node.value()}, {"outer", nullptr}, {"inside", nullptr}};
    if (row.outer) {
      const NodeFigures& outer = figures.nodes[row.outer->row];
      json["outer"] = row.outer->row;
      json["inside"] = json_text(outer.graph->node(outer.node).bodies[row.outer->position].name);
    }
    json["name"] = json_text(graph.node(row.node).name);
    json["op"] = json_text(full_name(graph.op(row.node)));
    json["read_bytes"] = row.read.count();
    json["written_bytes"] = row.written.count();
    json["scratch_bytes"] = row.scratch ? Json(row.scratch->count()) : Json(nullptr);
    json["constants_bytes"] = row.constants.count();
    json["macs"] = row.macs ? Json(*row.macs) : Json(nullptr);
    list.push_back(std::move(json));
  }
  return list;
}

// The figures of each device of a net of Caffe2. Other models have none.
std::vector<DeviceFigures> devices_of(const ImportedModel& model) {
  if (!model.storage) return {};
  return device_figures(model.graph, model.storage->devices, model.storage->colocated);
}

Json json_of_devices(const ImportedModel& model) {
  Json list = Json::array();
  for (const DeviceFigures& device : devices_of(model)) {
    Json json{{"name", json_text(model.storage->device_names[device.device])},
              {"nodes", device.nodes},
              {"bytes", device.written.count()},
              {"load_as_given", device.load_as_given.count()}};
    json["operators"] = Json::array();
    for (const OperatorBytes& one : device.operators) {
      json["operators"].push_back({{"op", json_text(one.op)}, {"nodes", one.nodes}, {"bytes", one.bytes.count()}});
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json json_of_inspection(const LoadedModel& loaded, const Inspection& inspection, std::size_t top, bool lists_nodes) {
  const Graph& graph = loaded.lowered.graph;
  Json json = json_head("inspect");
  json["model"] = json_of(loaded.facts);
  json["model"]["inputs"] = json_of_tensors(graph, graph.inputs());
  json["model"]["outputs"] = json_of_tensors(graph, graph.outputs());
  json["bytes"] = {{"constants", inspection.plain.constants.count()},
                   {"inputs", inspection.plain.inputs.count()},
                   {"outputs", inspection.plain.outputs.count()},
                   {"temporaries_sum", inspection.plain.temporaries_sum.count()},
                   {"load_as_given", inspection.plain.load_as_given.count()},
                   {"bound", inspection.bound.bytes.count()},
                   {"working_set", inspection.working_set.count()}};
  add_weights(json, inspection.weights);
  json["bound_name"] = std::string(inspection.bound.name);
  json["operators"] = Json::array();
  for (const OperatorTotals& one : inspection.figures.operators) json["operators"].push_back(json_of_operator(one));
  json["totals"] = json_of_totals(inspection.figures.totals);
  json["totals"]["written_bytes"] = inspection.figures.totals.written.sum;
  if (loaded.model.storage) json["devices"] = json_of_devices(loaded.model);
  if (lists_nodes) json["nodes"] = json_of_nodes(inspection.figures);
  json["peak"] = json_of(peaks_of(inspection.as_given, inspection.labels), top);
  json["notes"] = json_of(loaded.model.notes);
  return json;
}

// "f32[batch,3,h,w]" of each tensor, in which open sizes have their symbols.
std::vector<std::string> open_types(const Graph& graph, const OpenSizes& open) {
  std::vector<std::string> types;
  for (const Tensor& tensor : graph.tensors())
    types.push_back(std::string(to_string(tensor.dtype)) + to_string(tensor.shape));
  for (const OpenSizes::OpenTensor& one : open.tensors) {
    std::string& type = types[one.tensor.index()];
    type = std::string(to_string(graph.tensor(one.tensor).dtype));
    if (!one.extents) type += ", rank unknown";
    if (!one.extents) continue;
    std::string extents;
    for (const std::string& extent : *one.extents) extents += (extents.empty() ? "" : ",") + extent;
    type += "[" + extents + "]";
  }
  return types;
}

// The operators by the weights that they read, then by their nodes. Other figures need sizes.
std::vector<OperatorTotals> operators_by_weights(const Graph& graph) {
  std::vector<OperatorTotals> operators = graph_figures(graph, dense_target()).operators;
  std::stable_sort(operators.begin(), operators.end(), [](const OperatorTotals& a, const OperatorTotals& b) {
    if (a.totals.constants != b.totals.constants) return a.totals.constants > b.totals.constants;
    return a.totals.nodes > b.totals.nodes;
  });
  return operators;
}

// Shapes have numbers and symbols. What follows from sizes is null.
Json json_of_open_tensors(const Graph& graph, const std::vector<TensorId>& tensors, const OpenSizes& open) {
  Json list = json_of_tensors(graph, tensors);
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    const auto found = std::ranges::lower_bound(open.tensors, tensors[at], {}, &OpenSizes::OpenTensor::tensor);
    if (found == open.tensors.end() || found->tensor != tensors[at]) continue;
    Json& shape = list[at]["shape"];
    shape = found->extents ? Json::array() : Json(nullptr);
    for (const std::string& extent : found->extents.value_or(std::vector<std::string>())) {
      const std::optional<std::int64_t> number = parse_number(extent);
      shape.push_back(number ? Json(*number) : json_text(extent));
    }
    list[at]["bytes"] = nullptr;
  }
  return list;
}

Json json_of_open(const ModelFacts& facts, const ImportedModel& model, Bytes constants) {
  Json json = json_head("inspect");
  json["model"] = json_of(facts);
  json["model"]["inputs"] = json_of_open_tensors(model.graph, model.graph.inputs(), *model.open);
  json["model"]["outputs"] = json_of_open_tensors(model.graph, model.graph.outputs(), *model.open);
  json["bytes"] = {{"constants", constants.count()}};
  json["operators"] = Json::array();
  for (const OperatorTotals& one : operators_by_weights(model.graph)) {
    json["operators"].push_back(
        {{"op", json_text(one.op)}, {"nodes", one.totals.nodes}, {"constants_bytes", one.totals.constants.count()}});
  }
  json["open"] = {{"tensors", model.open->tensors.size()}, {"reason", json_text(model.open->reason)}};
  json["notes"] = json_of(model.notes);
  return json;
}

// Shows what is known of a model whose sizes are open. `error`: why it cannot be inspected as a whole.
ExitCode inspect_open(const Arguments& arguments, const ModelRequest& request, const Error& error,
                      const SummaryOptions& options, Console& console) {
  ImportOptions bindings = request.bindings;
  bindings.keeps_open_sizes = true;
  const Result<ImportedModel> model = import_model(request.path, bindings);
  const bool needs_sizes = arguments.has("--operators") || arguments.has("--csv");
  if (!model || !model->open || needs_sizes) take(Result<void>(error));
  const Graph& graph = model->graph;
  const ModelFacts facts{.path = request.path,
                         .format = model->format,
                         .sha256 = model->sha256,
                         .nodes = model->nodes,
                         .planned_nodes = graph.total_nodes(),
                         .body_nodes = graph.total_nodes() - static_cast<std::int64_t>(graph.nodes().size()),
                         .tensors = graph.total_tensors()};
  const Bytes constants = plain_figures(graph).constants;
  console.notes(model->notes);
  if (arguments.has("--json")) {
    print_json(console, json_of_open(facts, *model, constants));
    return ExitCode::done;
  }
  OpenInspection shown{.constants = constants,
                       .operators = operators_by_weights(graph),
                       .open = model->open->tensors.size(),
                       .reason = model->open->reason.substr(model->open->reason.find('\n') + 1)};
  const std::vector<std::string> types = open_types(graph, *model->open);
  for (const TensorId id : graph.inputs()) shown.inputs.push_back({graph.tensor(id).name, types[id.index()]});
  for (const TensorId id : graph.outputs()) shown.outputs.push_back({graph.tensor(id).name, types[id.index()]});
  console.result(open_inspection_summary(facts, shown, options));
  return ExitCode::done;
}

OutputFiles check_outputs(const ModelRequest& request, const Arguments& arguments) {
  std::vector<std::string> destinations;
  if (const std::optional<std::string> csv = arguments.value("--csv")) destinations.push_back(*csv);
  std::vector<std::string> inputs = {request.path};
  for (const char* option : {"--target", "--init-net", "--shapes"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  return {destinations, inputs, arguments.has("--json")};
}

}  // namespace

ExitCode run_inspect(const Arguments& arguments, Console& console) {
  const std::optional<std::int64_t> rows = read_count(arguments, "--top", 0);
  const auto top = static_cast<std::size_t>(rows.value_or(8));
  const bool wide = arguments.has("--wide");
  const bool lists_nodes = arguments.has("--operators");
  const Target target = read_target(arguments);
  const ModelRequest request = read_model_request(arguments, target);
  const OutputFiles files = check_outputs(request, arguments);
  if (files.uses_stdout()) console.keep_stdout_free();
  Result<LoadedModel> tried = try_load_model(request, console);
  if (!tried && tried.error().code == ErrorCode::unresolved) {
    return inspect_open(arguments, request, tried.error(), {.top = top, .wide = wide}, console);
  }
  const LoadedModel loaded = take(std::move(tried));
  files.protect(weight_files(request.path, loaded.model.constants));
  remark_unknown_operators(target, loaded.lowered.graph, console);

  const Stopwatch watch;
  const Inspection inspection = [&] {
    const Progress progress(console, "inspecting");
    return inspect_graph(loaded.lowered.graph, target);
  }();
  if (const std::optional<std::string> csv = arguments.value("--csv"))
    files.write(*csv, node_table_csv(inspection.figures), console);
  if (arguments.has("--json")) {
    Json json = json_of_inspection(loaded, inspection, top, lists_nodes);
    json["seconds"] = {{"import", loaded.seconds}, {"inspect", watch.seconds()}};
    print_json(console, json);
    return ExitCode::done;
  }
  StyledText shown = inspection_summary(loaded.facts, inspection, {.top = top, .wide = wide});
  if (loaded.model.storage && loaded.model.storage->device_names.size() > 1) {
    shown.end_line().append(device_table(devices_of(loaded.model), loaded.model.storage->device_names, top));
  }
  if (lists_nodes) {
    const std::optional<std::size_t> most = rows ? std::optional(top) : std::nullopt;
    shown.end_line().append(node_table(inspection.figures, {.top = most, .wide = wide}));
  }
  console.result(shown);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
