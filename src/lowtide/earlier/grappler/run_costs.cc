// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/run_costs.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/grappler/placement.h"
#include "lowtide/earlier/grappler/simulate.h"
#include "lowtide/earlier/grappler/typed_graph.h"
#include "lowtide/earlier/grappler/variable_uses.h"

namespace lowtide {
namespace {

using grappler_internal::NodeIndex;
using grappler_internal::TypedGraph;
using grappler_internal::VariableUses;

constexpr double kMostRunBytes = 1152921504606846976.0;  // 2^60

std::set<NodeIndex> indices_of(const TypedGraph& graph, const std::vector<std::string>& names) {
  std::set<NodeIndex> all;
  for (const std::string& name : names) all.insert(graph.links.by_name.at(read_input(name).node));
  return all;
}

std::vector<NodeIndex> each_once(std::vector<NodeIndex> nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// Whether a node only reads the content of a variable, without a copy.
bool is_content_of_variable(const TypedGraph& graph, NodeIndex at) {
  const DefNode& node = graph.nodes[at];
  if (node.op != "Identity" || node.inputs.size() != 1 || read_input(node.inputs.front()).is_control) return false;
  const DefNode& source = graph.nodes[graph.links.inputs[at].front()];
  return (source.op == "Variable" || source.op == "VariableV2") && source.inputs.empty();
}

bool is_known(const OutputType& output) {
  return output.element_bytes > 0 && output.extents &&
         std::ranges::none_of(*output.extents, [](std::int64_t extent) { return extent < 0; });
}

// Its kernel or its variable has the memory for the whole run.
bool holds_memory(const DefNode& node) {
  return grappler_internal::is_persistent(node) && node.op != "ReadVariableOp" && node.op != "_ReadVariablesOp";
}

// Whether the output is the memory of a variable. If a variable is written while a ReadVariableOp of it is in use,
// TensorFlow copies it.
bool is_memory_of_variable(const TypedGraph& graph, const VariableUses& uses, NodeIndex at) {
  const std::optional<NodeIndex> variable = uses.variable_of[at];
  if (variable) return *variable != at;
  if (graph.nodes[at].op != "ReadVariableOp" || graph.links.inputs[at].empty()) return false;
  const std::optional<NodeIndex> read = uses.variable_of[graph.links.inputs[at].front()];
  return read && !uses.is_written[*read];
}

double output_bytes(const TypedGraph& graph, const VariableUses& uses, NodeIndex at) {
  if (is_memory_of_variable(graph, uses, at)) return 0;
  if (grappler_internal::gives_reference(graph.nodes[at]) && graph.nodes[at].op != "TemporaryVariable" &&
      !grappler_internal::is_persistent(graph.nodes[at])) {
    return 0;
  }
  double bytes = 0;
  for (const OutputType& output : graph.outputs[at]) bytes += grappler_internal::bytes_of(output);
  return bytes;
}

}  // namespace

Result<RunEnds> with_placeholders(const std::vector<DefNode>& nodes, const RunEnds& ends) {
  std::set<std::string, std::less<>> names;
  for (const DefNode& node : nodes) names.insert(node.name);
  for (const auto& [list, verb] : {std::pair(&ends.feeds, "fed"), std::pair(&ends.fetches, "fetched")}) {
    for (const std::string& one : *list) {
      const std::string_view name = read_input(one).node;
      if (names.contains(name) && !read_input(one).is_control) continue;
      return Error{ErrorCode::invalid, "the graph has no node " + quoted(name, 60) + " that could be " + verb, ""};
    }
  }
  std::set<std::string> fed;
  for (const std::string& feed : ends.feeds) fed.emplace(read_input(feed).node);
  for (const DefNode& node : nodes) {
    if (node.op.starts_with("Placeholder")) fed.insert(node.name);
  }
  return RunEnds{.feeds = {fed.begin(), fed.end()}, .fetches = ends.fetches};
}

Result<std::vector<DefNode>> with_shapes(std::vector<DefNode> nodes,
                                         const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  std::size_t found = 0;
  for (DefNode& node : nodes) {
    const auto shape = shapes.find(node.name);
    if (shape == shapes.end()) continue;
    if (!node.op.starts_with("Placeholder") && !node.op.starts_with("Variable")) {
      return Error{ErrorCode::invalid, "the shape of this node is given, but only Placeholders and variables have one",
                   shown_node(node.name, node.op)};
    }
    const std::optional<std::vector<std::int64_t>> own = attribute_shape(node, "shape");
    // Old files have no extents for an unknown rank.
    if (own && !own->empty() && extents_contradict(*own, shape->second)) {
      return Error{ErrorCode::invalid,
                   "the shape " + shown_extents(shape->second) + " is given, but that of the node is " +
                       shown_extents(*own) + "; a given shape may only set what is open",
                   shown_node(node.name, node.op)};
    }
    set_shape(node, "shape", shape->second);
    ++found;
  }
  if (found == shapes.size()) return nodes;
  for (const auto& [name, shape] : shapes) {
    if (std::ranges::find(nodes, name, &DefNode::name) != nodes.end()) continue;
    return Error{ErrorCode::invalid, "the shape of " + quoted(name, 60) + " is given, but the graph has no such node",
                 ""};
  }
  return nodes;
}

Result<std::vector<CostedNodeOfRun>> cost_nodes(const std::vector<DefNode>& nodes, const Cluster& cluster,
                                                const RunEnds& ends) {
  LOWTIDE_TRY(const TypedGraph graph, grappler_internal::type_nodes(nodes));
  const std::set<NodeIndex> fed = indices_of(graph, ends.feeds);
  const std::set<NodeIndex> fetched = indices_of(graph, ends.fetches);
  const VariableUses uses = grappler_internal::find_variable_uses(graph);
  const std::vector<bool> is_needed =
      grappler_internal::needed_nodes(graph, std::vector<NodeIndex>(fetched.begin(), fetched.end()));
  const grappler_internal::Placement placement(cluster);
  std::vector<CostedNodeOfRun> all;
  double total = 0;
  for (NodeIndex at = 0; at < nodes.size(); ++at) {
    if (!is_needed[at]) continue;
    CostedNodeOfRun one{.node = at, .reads = {}, .waits = {}};
    bool reads_variable = false;
    for (std::size_t input = 0; input < nodes[at].inputs.size(); ++input) {
      const NodeIndex source = graph.links.inputs[at][input];
      const bool is_control = read_input(nodes[at].inputs[input]).is_control;
      (is_control ? one.waits : one.reads).push_back(source);
      const std::optional<NodeIndex> variable = is_control ? std::nullopt : uses.variable_of[source];
      if (!variable || !uses.is_written[*variable]) continue;
      one.contents.push_back(*variable);
      reads_variable = reads_variable || *variable == source;
    }
    one.contents = each_once(std::move(one.contents));
    one.writes = uses.writes[at];
    one.reads = each_once(std::move(one.reads));
    one.waits = each_once(std::move(one.waits));
    const double bytes = output_bytes(graph, uses, at);
    total += bytes;
    if (total > kMostRunBytes) {
      return Error{ErrorCode::over_limit, "the tensors up to this node have more than 2^60 bytes",
                   shown_node(nodes[at].name, nodes[at].op)};
    }
    const bool holds = holds_memory(nodes[at]);
    one.is_resident = ((holds || fed.contains(at)) && nodes[at].inputs.empty()) || is_content_of_variable(graph, at);
    (holds && !one.is_resident ? one.held_bytes : one.bytes) = static_cast<std::int64_t>(bytes);
    one.device = placement.device_of(nodes[at].device);
    one.nanoseconds = nanoseconds_on(grappler_internal::work_of(graph.costed(at)), cluster.devices[one.device]);
    one.is_sized = std::ranges::all_of(graph.outputs[at], is_known);
    one.may_run_again = !one.is_resident && !holds && !reads_variable && is_pure_operator(nodes[at].op);
    one.is_fetched = fetched.contains(at);
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<std::uint32_t> node_on_unknown_device(const std::vector<DefNode>& nodes,
                                                    const std::vector<CostedNodeOfRun>& costed,
                                                    const Cluster& cluster) {
  const grappler_internal::Placement placement(cluster);
  for (const CostedNodeOfRun& one : costed) {
    const std::string& device = nodes[one.node].device;
    if (!device.empty() && !placement.has(device)) return one.node;
  }
  return std::nullopt;
}

Result<SimulatedRun> simulate_run(const std::vector<DefNode>& nodes, const Cluster& cluster, const RunEnds& ends) {
  LOWTIDE_TRY(const TypedGraph graph, grappler_internal::type_nodes(nodes));
  LOWTIDE_TRY(const grappler_internal::Simulation simulation,
              grappler_internal::simulate(graph, cluster, ends.feeds, ends.fetches));
  SimulatedRun run{.peak_bytes = {}, .nanoseconds = simulation.nanoseconds};
  for (const grappler_internal::DevicePeak& peak : simulation.peaks) run.peak_bytes.push_back(peak.bytes);
  return run;
}

}  // namespace lowtide
