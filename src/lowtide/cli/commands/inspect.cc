// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "lowtide/analysis/device_figures.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/report/device_table.h"
#include "lowtide/report/inspection.h"
#include "lowtide/report/node_table.h"

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
  const LoadedModel loaded = load_model(request, console);
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
