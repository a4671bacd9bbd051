// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/commands/earlier/net_input.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/earlier/formats/net_file.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/graphdef_of_graph.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/netdef/net_of_graph.h"
#include "lowtide/export/onnx_of_graph.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"

namespace lowtide::cli_internal {
namespace {

struct Converted {
  std::string bytes;
  std::vector<std::string> lost;  // what the new file does not have
};

// The format that --to names, or else the name of the file. "pb" and "pb_text" are NetDef or GraphDef, by what the
// input is.
std::string format_of_output(const Arguments& arguments) {
  if (const std::optional<std::string> to = arguments.value("--to")) return *to;
  const std::string& path = arguments.positional("OUT");
  if (path.ends_with(".pbtxt") || path.ends_with(".prototxt")) return "pb_text";
  if (path.ends_with(".pb")) return "pb";
  if (path.ends_with(".graph")) return "graph";
  if (path.ends_with(".onnx")) return "onnx";
  stop_usage("the name " + shown_path(path) +
             " does not end in .pb, .pbtxt, .prototxt, .onnx or .graph; give the format with --to");
}

// The system that runs the operators of a domain.
std::string_view system_of(std::string_view domain) {
  if (domain == "caffe2" || domain == "caffe2.unsized") return "Caffe2";
  return domain == "tensorflow" || domain.starts_with("tensorflow.") ? "TensorFlow" : "ONNX";
}

// NetDef or GraphDef for a name that may be either. Other operators have no place in both.
std::string format_by_operators(const Graph& graph, const std::string& format, const std::string& path) {
  std::set<std::string_view> systems;
  for (const Operator& op : graph.operators()) systems.insert(system_of(op.domain));
  const std::string text = format == "pb_text" ? "_text" : "";
  if (systems.size() == 1 && *systems.begin() == "Caffe2") return "netdef" + text;
  if (systems.size() == 1 && *systems.begin() == "TensorFlow") return "graphdef" + text;
  stop_usage("the operators of " + shown_path(path) +
             " are neither all of Caffe2 nor all of TensorFlow; say with '--to "
             "netdef" +
             text + "' or '--to graphdef" + text + "' which format the new file has");
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

// The graph of an input of any format, and what the graph does not have of it.
struct GraphOfInput {
  Graph graph;
  std::vector<std::string> lost;
};

GraphOfInput graph_of_input(NetInput input, const std::string& path, const ImportOptions& bindings, Console& console) {
  if (input.graph) {
    GraphOfInput made{.graph = *std::move(input.graph), .lost = {}};
    if (input.format == "onnx") made.lost = {"metadata", "the content of constants"};
    if (input.format.starts_with("graphdef")) made.lost = {"devices", "the content of constants"};
    return made;
  }
  ImportedNet net = take(import_net_file(path, bindings));
  console.notes(net.graph.notes);
  std::vector<std::string> lost;
  note_lost_of_net(net.graph, lost);
  lost.emplace_back("engines and other fields of operators");
  return {.graph = std::move(net.graph.graph), .lost = std::move(lost)};
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

// An operator of Caffe2 without an attribute is another operator. Others are for inspection anyway.
void check_attributes(const Graph& graph, const std::string& path) {
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (system_of(graph.op(id).domain) != "Caffe2") continue;
    for (const Attribute& attribute : graph.node(id).attributes) {
      if (!std::holds_alternative<OpaqueAttribute>(attribute.value)) continue;
      throw Stop(ExitCode::bad_input, shown_path(path) + ": attribute " + quoted(attribute.name, 60) + " of " +
                                          shown_operator(graph, id) +
                                          " is not in this file in full, so a NetDef would have another operator");
    }
  }
}

Converted net_from(const Graph& graph, const std::string& path, NetForm form) {
  check_attributes(graph, path);
  Converted converted{.bytes = take(write_net(net_of_graph(graph), form), path), .lost = {"sizes"}};
  if (!graph.state_updates().empty()) {
    converted.lost.emplace_back("which tensors are the next content of a state");
  }
  if (waits_for_silent_operators(graph)) {
    converted.lost.emplace_back("control inputs from operators without results");
  }
  bool has_content = false;
  bool has_description = false;
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    has_content = has_content || graph.known_integers(id) != nullptr;
  }
  for (const Node& node : graph.nodes()) {
    has_description = has_description || std::ranges::any_of(node.attributes, [](const Attribute& attribute) {
                        return std::holds_alternative<OpaqueAttribute>(attribute.value);
                      });
  }
  if (has_content) converted.lost.emplace_back("known content of tensors");
  if (has_description) converted.lost.emplace_back("attributes that the graph only describes");
  return converted;
}

Converted graphdef_from(const Graph& graph, const std::string& path, bool is_text) {
  GraphDefOfGraph made = graphdef_of_graph(graph);
  return {.bytes = take(write_graphdef(made.graphdef, is_text), path), .lost = std::move(made.lost)};
}

Converted onnx_from(const Graph& graph) {
  OnnxOfGraph made = take(onnx_of_graph(graph));
  return {.bytes = std::move(made.bytes), .lost = std::move(made.lost)};
}

// Operators that the system of the new file cannot run.
void note_foreign(const Graph& graph, std::string_view system, Console& console) {
  constexpr std::size_t kShown = 8;
  std::set<std::string> foreign;
  for (const Operator& op : graph.operators()) {
    if (system_of(op.domain) != system) foreign.insert(quoted(full_name(op), 60));
  }
  if (foreign.empty()) return;
  console.note("the new file is for inspection only: " + listed_first(foreign, kShown) +
               (foreign.size() == 1 ? " has" : " have") + " no meaning in " + std::string(system));
}

Converted convert(const Graph& graph, const std::string& format, const std::string& path, Console& console) {
  const bool is_text = format.ends_with("_text");
  if (format.starts_with("netdef")) {
    note_foreign(graph, "Caffe2", console);
    return net_from(graph, path, is_text ? NetForm::text : NetForm::binary);
  }
  if (format.starts_with("graphdef")) {
    note_foreign(graph, "TensorFlow", console);
    return graphdef_from(graph, path, is_text);
  }
  if (format == "onnx") {
    note_foreign(graph, "ONNX", console);
    return onnx_from(graph);
  }
  return {.bytes = print_graph(graph), .lost = {}};
}

// A file in the other form of its format, without loss. nullopt: the new file has another format.
std::optional<std::string> other_form(const std::string& path, const std::string& format) {
  const bool is_pb = format.starts_with("pb");
  const bool is_text = format.ends_with("_text");
  if ((is_pb || format.starts_with("netdef")) && take(is_net_path(path))) {
    return take(write_net(take(read_net_file(path)).net, is_text ? NetForm::text : NetForm::binary), path);
  }
  if (!is_pb && !format.starts_with("graphdef")) return std::nullopt;
  constexpr std::int64_t kSniffedBytes = 65'536;
  if (!is_graphdef(take(read_beginning(path, kSniffedBytes)))) return std::nullopt;
  const std::string bytes = take(read_text_file(path, limits::kMaxFileBytes));
  const ProtoMessage graphdef = take(read_graphdef(bytes), name_of_file(path));
  return take(write_graphdef(graphdef, is_text), name_of_file(path));
}

}  // namespace

ExitCode run_convert(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional("IN");
  const std::string& destination = arguments.positional("OUT");
  std::string format = format_of_output(arguments);
  std::vector<std::string> inputs = {path};
  for (const char* option : {"--init-net", "--shapes"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  const OutputFiles files({destination}, inputs, false);
  const bool is_graph = path.ends_with(".graph");
  if (const std::optional<std::string> bytes = is_graph ? std::nullopt : other_form(path, format)) {
    files.write(destination, *bytes, console);
    return ExitCode::done;
  }
  const ImportOptions bindings = read_bindings(arguments);
  NetInput input = read_net_input(path, bindings);
  console.notes(input.notes);
  if (format == "onnx" && input.format == "onnx") {
    throw Stop(ExitCode::bad_input, shown_path(path) +
                                        " is a model of ONNX already; copy the file instead, because a "
                                        "graph does not have the content of its constants");
  }
  const GraphOfInput made = graph_of_input(std::move(input), path, bindings, console);
  if (format.starts_with("pb")) format = format_by_operators(made.graph, format, path);
  const Converted converted = convert(made.graph, format, path, console);
  std::vector<std::string> lost = made.lost;
  for (const std::string& one : converted.lost) {
    if (std::ranges::find(lost, one) == lost.end()) lost.push_back(one);
  }
  if (!lost.empty()) console.note("the new file does not have: " + listed(lost));
  files.write(destination, converted.bytes, console);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
