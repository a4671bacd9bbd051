// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/cli/read_file.h"
#include "lowtide/graphdef/graph_of_graphdef.h"
#include "lowtide/graphdef/node_list.h"
#include "lowtide/grappler/grappler.h"
#include "lowtide/proto/raw_field.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {
namespace {

GrapplerOptions read_grappler_options(const Arguments& arguments) {
  GrapplerOptions options;
  if (const auto level = arguments.value("--level")) options.level = from_string<GrapplerLevel>(*level).value();
  options.target_scope = arguments.value("--scope").value_or("");
  options.feeds = arguments.values("--feed");
  options.fetches = arguments.values("--fetch");
  return options;
}

std::string counted_nodes(std::size_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

StyledText summary_of_rewriting(const GrapplerResult& result, std::size_t before) {
  StyledText text("Grappler", Style::strong);
  text.add(": " + counted_nodes(before) + ", and " + std::to_string(nodes_of_graphdef(result.graphdef).size()) +
           " after the rewriting")
      .end_line();
  text.add("  " + counted_nodes(result.recomputed.size()) + " run again, in " + std::to_string(result.groups) +
           (result.groups == 1 ? " group" : " groups"))
      .end_line();
  text.add("  " + std::to_string(result.relaxed.size()) + " assignments need no memory for transfers").end_line();
  text.add(
          "  The passes for AddN and for swapping change nothing here, because devices are taken to have enough "
          "memory.",
          Style::dim)
      .end_line();
  return text;
}

Json json_of_rewriting(const GrapplerResult& result, const GrapplerOptions& options, std::size_t before) {
  Json json = json_head("rewrite");
  json["level"] = std::string(to_string(options.level));
  json["nodes_before"] = before;
  json["nodes"] = nodes_of_graphdef(result.graphdef).size();
  json["groups"] = result.groups;
  const auto texts = [](const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const std::string& name : names) list.push_back(json_text(name));
    return list;
  };
  json["recomputed"] = texts(result.recomputed);
  json["relaxed"] = texts(result.relaxed);
  return json;
}

}  // namespace

ExitCode run_rewrite(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional("GRAPH");
  std::vector<std::string> destinations;
  if (const auto output = arguments.value("--output")) destinations.push_back(*output);
  const OutputFiles files(destinations, {path}, arguments.has("--json"));
  if (files.uses_stdout()) console.keep_stdout_free();
  const std::string bytes = take(read_text_file(path, limits::kMaxFileBytes));
  const std::string shown = name_of_file(path);
  if (!is_graphdef(bytes)) {
    throw Stop(ExitCode::bad_input, shown + ": the file is no GraphDef; 'rewrite' takes graphs of TensorFlow");
  }
  const ProtoMessage graphdef = take(read_graphdef(bytes), shown);
  const GrapplerOptions options = read_grappler_options(arguments);
  const GrapplerResult result = take(run_grappler(graphdef, options), shown);
  const std::size_t before = nodes_of_graphdef(graphdef).size();
  if (!destinations.empty()) {
    files.write(destinations.front(), take(write_graphdef(result.graphdef, is_proto_text(bytes)), shown), console);
  }
  if (arguments.has("--json")) {
    print_json(console, json_of_rewriting(result, options, before));
  } else {
    console.result(summary_of_rewriting(result, before));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
