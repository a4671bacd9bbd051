// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/net_input.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/net_file.h"
#include "lowtide/netdef/net_of_graph.h"

namespace lowtide::cli_internal {
namespace {

struct Converted {
  std::string bytes;
  std::vector<std::string> lost;  // what the new file does not have
};

// The format of the output: --to, or else by its name.
std::string format_of_output(const Arguments& arguments) {
  if (const std::optional<std::string> to = arguments.value("--to")) return *to;
  const std::string& path = arguments.positional("OUT");
  if (path.ends_with(".pbtxt") || path.ends_with(".prototxt")) return "netdef_text";
  if (path.ends_with(".pb")) return "netdef";
  if (path.ends_with(".graph")) return "graph";
  stop_usage("the name " + shown_path(path) +
             " does not end in .pb, .pbtxt, .prototxt or .graph; give the format with --to");
}

void note_lost_of_net(const NetGraph& net, std::vector<std::string>& lost) {
  if (!net.facts.colocated.empty()) lost.emplace_back("which results have one name");
  if (net.facts.device_names.size() > 1) lost.emplace_back("devices");
  if (net.facts.has_free) lost.emplace_back("Free operators");
  for (const Node& node : net.graph.nodes()) {
    if (node.bodies.empty()) continue;
    lost.emplace_back("nets inside operators");
    break;
  }
}

Converted graph_from(const NetInput& input, const std::string& path, const ImportOptions& bindings) {
  if (input.graph) {
    Converted converted{.bytes = print_graph(*input.graph), .lost = {}};
    if (input.format == "onnx") converted.lost.emplace_back("the content of constants, and metadata");
    return converted;
  }
  const ImportedNet net = take(import_net_file(path, bindings));
  Converted converted{.bytes = print_graph(net.graph.graph), .lost = {}};
  note_lost_of_net(net.graph, converted.lost);
  converted.lost.emplace_back("engines and other fields of operators");
  return converted;
}

Converted net_from(const NetInput& input, const std::string& path, NetForm form) {
  if (input.net) return {.bytes = take(write_net(input.net->net, form), path), .lost = {}};
  std::set<std::string> foreign;
  for (const Operator& op : input.graph->operators()) {
    if (op.domain != "caffe2") foreign.insert(quoted(full_name(op), 60));
  }
  if (!foreign.empty()) {
    throw Stop(ExitCode::bad_input,
               shown_path(path) + ": these operators have no meaning in Caffe2: " + listed(foreign));
  }
  Converted converted{.bytes = take(write_net(net_of_graph(*input.graph), form), path), .lost = {"sizes"}};
  return converted;
}

}  // namespace

ExitCode run_convert(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional("IN");
  const std::string& destination = arguments.positional("OUT");
  const std::string format = format_of_output(arguments);
  std::vector<std::string> inputs = {path};
  for (const char* option : {"--init-net", "--shapes"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  const OutputFiles files({destination}, inputs, false);
  const ImportOptions bindings = read_bindings(arguments);
  // The options are those of the format that needs them, so a NetDef that is only rewritten needs no sizes.
  const NetInput input = read_net_input(path, bindings);
  const Converted converted = format == "graph"
                                  ? graph_from(input, path, bindings)
                                  : net_from(input, path, format == "netdef" ? NetForm::binary : NetForm::text);
  if (!converted.lost.empty()) {
    console.remark(
        StyledText("note: ", Style::dim).add("the new file does not have: " + listed(converted.lost)).end_line());
  }
  files.write(destination, converted.bytes, console);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
