// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/limits.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/progress.h"
#include "lowtide/cli/read_file.h"
#include "lowtide/import/order_json.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/report/order_summary.h"

namespace lowtide::cli_internal {
namespace {

// Alignment 1 keeps the sizes of the file as they are.
Target plain_target() {
  Target target = dense_target();
  target.machine.regions[0].alignment = Bytes(1);
  return target;
}

Json json_of_order(const std::string& path, const ImportedOrderGraph& file, const OrderedGraph& ordered,
                   double import_seconds, double seconds) {
  Json json = json_head("order");
  json["path"] = json_text(path);
  json["nodes"] = file.graph.nodes().size();
  json["load_as_given"] = ordered.load_as_given.count();
  json["load"] = ordered.load.count();
  json["bound"] = ordered.bound.count();
  json["bound_name"] = ordered.bound_name;
  json["gap"] = json_of_gap(ordered.load, ordered.bound);
  json["proven_optimal"] = ordered.is_optimal();
  json["strategy"] = ordered.strategy;
  json["tried"] = Json::array();
  for (const auto& [name, load] : ordered.tried) json["tried"].push_back({{"strategy", name}, {"load", load.count()}});
  json["seconds"] = {{"import", import_seconds}, {"order", seconds}};
  json["notes"] = json_of(file.notes);
  json["order"] = Json::array();
  for (NodeId id : ordered.order) json["order"].push_back(file.index[id]);
  return json;
}

ImportedOrderGraph read_graph(const std::string& path) {
  if (path != "-") return take(import_order_graph(path));
  return take(parse_order_graph(take(read_text_file(path, limits::kMaxFileBytes))), "stdin");
}

}  // namespace

ExitCode run_order(const Arguments& arguments, Console& console) {
  OrderOptions options;
  options.order = arguments.value("--order").value_or(options.order);
  options.effort = read_count(arguments, "--effort", 0).value_or(options.effort);
  const std::string& file_name = arguments.positional("FILE");
  const std::string path = name_of_file(file_name);

  const Stopwatch reading;
  const ImportedOrderGraph file = read_graph(file_name);
  for (const std::string& note : file.notes) console.remark(StyledText("note: " + note).end_line());
  const double import_seconds = reading.seconds();

  const Stopwatch watch;
  const OrderedGraph ordered = [&] {
    const Progress progress(console, "ordering");
    return take(order_graph(file.graph, plain_target(), options), path);
  }();
  if (arguments.has("--json")) {
    print_json(console, json_of_order(file_name, file, ordered, import_seconds, watch.seconds()));
  } else {
    console.result(order_summary(path, file.graph, ordered));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
