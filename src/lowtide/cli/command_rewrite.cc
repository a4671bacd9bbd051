// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
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

StyledText summary_of_rewriting(const GrapplerResult& result, std::int64_t before) {
  const auto recomputed = static_cast<std::int64_t>(result.recomputed.size());
  StyledText text("Grappler", Style::strong);
  text.add(": " + with_count(before, "node") + ", and " + std::to_string(count_nodes(result.graphdef)) +
           " after the rewriting")
      .end_line();
  text.add("  " + with_count(recomputed, "node") + (recomputed == 1 ? " runs" : " run") + " again, in " +
           with_count(result.groups, "group"))
      .end_line();
  text.add("  Assignments that need no memory for transfers: " + std::to_string(result.relaxed.size())).end_line();
  text.add("  Devices are taken to have enough memory, so nothing is swapped and no AddN is split.", Style::dim)
      .end_line();
  return text;
}

Json json_of_rewriting(const GrapplerResult& result, const GrapplerOptions& options, std::int64_t before) {
  Json json = json_head("rewrite");
  json["level"] = std::string(to_string(options.level));
  json["nodes_before"] = before;
  json["nodes"] = count_nodes(result.graphdef);
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
    throw Stop(ExitCode::bad_input, shown + ": the file is not a GraphDef; 'rewrite' takes graphs of TensorFlow");
  }
  const ProtoMessage graphdef = take(read_graphdef(bytes), shown);
  const GrapplerOptions options = read_grappler_options(arguments);
  const GrapplerResult result = take(run_grappler(graphdef, options), shown);
  const std::int64_t before = count_nodes(graphdef);
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
