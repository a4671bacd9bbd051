// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/net_input.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/cli/read_file.h"
#include "lowtide/graph/text.h"
#include "lowtide/graphdef/graph_of_graphdef.h"
#include "lowtide/graphdef/node_list.h"
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

Converted graph_from(const NetInput& input, const std::string& path, const ImportOptions& bindings, Console& console) {
  if (input.graph) {
    Converted converted{.bytes = print_graph(*input.graph), .lost = {}};
    if (input.format == "onnx") converted.lost.emplace_back("the content of constants, and metadata");
    if (input.format.starts_with("graphdef")) {
      converted.lost.emplace_back("the content of constants, devices, and attributes that are lists or messages");
    }
    return converted;
  }
  const ImportedNet net = take(import_net_file(path, bindings));
  console.notes(net.graph.notes);
  Converted converted{.bytes = print_graph(net.graph.graph), .lost = {}};
  note_lost_of_net(net.graph, converted.lost);
  converted.lost.emplace_back("engines and other fields of operators");
  return converted;
}

std::string shown_operator(const Graph& graph, NodeId id) {
  const std::string& name = graph.node(id).name;
  return "operator " + std::to_string(id.value()) + (name.empty() ? "" : " " + quoted(name, 60)) + " (" +
         quoted(graph.op(id).type, 60) + ")";
}

// Whether an operator runs after one that has no results. A NetDef names what to wait for by a result.
bool waits_for_silent_operators(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    for (NodeId before : node.control_inputs) {
      const std::vector<std::optional<TensorId>>& outputs = graph.node(before).outputs;
      if (std::none_of(outputs.begin(), outputs.end(), [](const auto& output) { return output.has_value(); })) {
        return true;
      }
    }
  }
  return false;
}

void check_operators(const Graph& graph, const std::string& path) {
  constexpr std::size_t kShown = 8;
  std::set<std::string> foreign;
  for (const Operator& op : graph.operators()) {
    if (op.domain != "caffe2") foreign.insert(quoted(full_name(op), 60));
  }
  if (!foreign.empty()) {
    const std::size_t rest = foreign.size() > kShown ? foreign.size() - kShown : 0;
    while (foreign.size() > kShown) foreign.erase(std::prev(foreign.end()));
    throw Stop(ExitCode::bad_input, shown_path(path) + ": these operators have no meaning in Caffe2: " +
                                        listed(foreign) + (rest > 0 ? " and " + std::to_string(rest) + " more" : "") +
                                        "; only a graph of operators 'caffe2::TYPE' can be a NetDef, and 'lowtide "
                                        "convert IN OUT.graph' writes the text form of any graph");
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    for (const Attribute& attribute : graph.node(id).attributes) {
      if (!std::holds_alternative<OpaqueAttribute>(attribute.value)) continue;
      throw Stop(ExitCode::bad_input, shown_path(path) + ": attribute " + quoted(attribute.name, 60) + " of " +
                                          shown_operator(graph, id) +
                                          " is not in this file in full, so a NetDef would have another operator");
    }
  }
}

Converted net_from(const NetInput& input, const std::string& path, NetForm form) {
  if (input.net) return {.bytes = take(write_net(input.net->net, form), path), .lost = {}};
  check_operators(*input.graph, path);
  Converted converted{.bytes = take(write_net(net_of_graph(*input.graph), form), path), .lost = {"sizes"}};
  const std::vector<StateUpdate>& updates = input.graph->state_updates();
  if (!updates.empty()) converted.lost.emplace_back("which tensors are the next content of a state");
  if (waits_for_silent_operators(*input.graph)) {
    converted.lost.emplace_back("control inputs from operators without results");
  }
  return converted;
}

// A GraphDef in its other form, without loss. nullopt: the file is something else.
std::optional<std::string> other_form_of_graphdef(const std::string& path, const std::string& format) {
  const bool is_asked = format.starts_with("graphdef");
  if (format == "graph") return std::nullopt;
  const std::string bytes = take(read_text_file(path, limits::kMaxFileBytes));
  if (!is_graphdef(bytes)) {
    if (!is_asked) return std::nullopt;
    throw Stop(ExitCode::bad_input, shown_path(path) + ": only a GraphDef can be written as a GraphDef");
  }
  const ProtoMessage graphdef = take(read_graphdef(bytes), name_of_file(path));
  return take(write_graphdef(graphdef, format.ends_with("_text")), name_of_file(path));
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
  if (const std::optional<std::string> bytes = other_form_of_graphdef(path, format)) {
    files.write(destination, *bytes, console);
    return ExitCode::done;
  }
  const ImportOptions bindings = read_bindings(arguments);
  // The options are those of the format that needs them, so a NetDef that is only rewritten needs no sizes.
  const NetInput input = read_net_input(path, bindings);
  const Converted converted = format == "graph"
                                  ? graph_from(input, path, bindings, console)
                                  : net_from(input, path, format == "netdef" ? NetForm::binary : NetForm::text);
  console.notes(input.notes);
  if (!converted.lost.empty()) console.note("the new file does not have: " + listed(converted.lost));
  files.write(destination, converted.bytes, console);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
