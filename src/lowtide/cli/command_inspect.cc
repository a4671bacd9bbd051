// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/progress.h"
#include "lowtide/report/inspection.h"

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

Json json_of_inspection(const LoadedModel& loaded, const Inspection& inspection, std::size_t top, double seconds) {
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
  json["bound_name"] = std::string(inspection.bound.name);
  json["operators"] = Json::array();
  for (const OperatorBytes& op : inspection.operators) {
    json["operators"].push_back({{"op", json_text(op.op)}, {"nodes", op.nodes}, {"bytes", op.outputs.count()}});
  }
  json["peak"] = json_of(peaks_of(inspection.as_given, inspection.labels), top);
  json["notes"] = json_of(loaded.model.notes);
  json["seconds"] = {{"import", loaded.seconds}, {"inspect", seconds}};
  return json;
}

}  // namespace

ExitCode run_inspect(const Arguments& arguments, Console& console) {
  const auto top = static_cast<std::size_t>(read_count(arguments, "--top", 0).value_or(8));
  const Target target = read_target(arguments);
  const LoadedModel loaded = load_model(read_model_request(arguments), console);

  const Stopwatch watch;
  const Inspection inspection = [&] {
    const Progress progress(console, "inspecting");
    return inspect_graph(loaded.lowered.graph, target);
  }();
  if (arguments.has("--json")) {
    print_json(console, json_of_inspection(loaded, inspection, top, watch.seconds()));
  } else {
    console.result(inspection_summary(loaded.facts, inspection, {.top = top, .wide = arguments.has("--wide")}));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
