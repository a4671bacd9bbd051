// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/graphdef_of_graph.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "lowtide/base/unique_names.h"
#include "lowtide/base/utf8.h"
#include "lowtide/earlier/graphdef/attribute_values.h"
#include "lowtide/earlier/graphdef/def_names.h"
#include "lowtide/earlier/graphdef/def_types.h"
#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/kept_facts.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/graphdef/op_kinds.h"

namespace lowtide {
namespace graphdef_internal {
namespace {

class DefMaker {
 public:
  explicit DefMaker(const Graph& graph) : graph_(graph), is_unsized_(unsized_tensors(graph)) {}

  GraphDefOfGraph make() && {
    plan_names();
    find_written();
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (!graph_.tensor(id).producer) add_source(id);
    }
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) add_node(id);
    add_outputs();
    find_other_losses();
    return {with_nodes({}, std::move(nodes_)), {lost_.begin(), lost_.end()}};
  }

 private:
  void plan_names();
  void find_written();
  void add_source(TensorId id);
  void add_node(NodeId id);
  void add_inputs(NodeId id, DefNode& to) const;
  std::optional<NodeId> read_through(NodeId reader, std::size_t input, TensorId state) const;
  void add_operator(NodeId id, DefNode& to) const;
  void add_attributes(NodeId id, DefNode& to);
  void add_names(const std::vector<std::string>& names, DefNode& to) const;
  void add_outputs();
  void find_other_losses();
  bool needs_handle(TensorId state) const;

  std::string name_of_tensor(TensorId id) const {
    const std::optional<NodeId> producer = graph_.tensor(id).producer;
    if (!producer) return names_[at_of_source_[id]];
    return name_of_port(name_of_node(*producer), port_of_[id]);
  }
  const std::string& name_of_node(NodeId id) const { return names_[sources_ + id.index()]; }

  const Graph& graph_;
  const IdVector<TensorId, std::uint8_t> is_unsized_;
  std::size_t sources_ = 0;
  IdVector<TensorId, std::size_t> at_of_source_;  // in names_ and nodes_, of tensors without a producer
  IdVector<TensorId, std::size_t> port_of_;       // of the others
  std::vector<std::string> names_;                // of the sources, then of the nodes
  std::vector<DefNode> nodes_;                    // in the same order
  std::set<TensorId> written_;                    // states that a node writes
  std::set<std::string> lost_;
};

void DefMaker::plan_names() {
  std::vector<std::string> wanted;
  at_of_source_ = IdVector<TensorId, std::size_t>(graph_.tensors().size(), 0);
  port_of_ = IdVector<TensorId, std::size_t>(graph_.tensors().size(), 0);
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
    if (graph_.tensor(id).producer) continue;
    at_of_source_[id] = wanted.size();
    wanted.push_back(graph_.tensor(id).name);
  }
  sources_ = wanted.size();
  for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
    wanted.push_back(wanted_name(graph_, id));
    const std::vector<std::optional<TensorId>>& outputs = graph_.node(id).outputs;
    for (std::size_t port = 0; port < outputs.size(); ++port) {
      if (outputs[port]) port_of_[*outputs[port]] = port;
    }
  }
  names_ = unique_names(wanted, valid_node_name);
}

void DefMaker::find_written() {
  for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
    const std::vector<std::optional<TensorId>>& inputs = graph_.node(id).inputs;
    if (!is_own_node(graph_, id)) continue;
    const std::size_t count = std::min(inputs.size(), count_written(graph_.op(id).type));
    for (std::size_t input = 0; input < count; ++input) {
      if (inputs[input]) written_.insert(*inputs[input]);
    }
  }
  for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
    const Node& node = graph_.node(id);
    if (!is_own_node(graph_, id) || !is_view_of_input(graph_.op(id).type) || node.inputs.empty()) continue;
    const bool is_written = node.inputs.front() && written_.contains(*node.inputs.front());
    if (is_written && !node.outputs.empty() && node.outputs.front()) written_.insert(*node.outputs.front());
  }
}

// The variable itself is this input, and not its content.
bool takes_handle(std::string_view op, std::size_t input) {
  return input < std::max<std::size_t>(1, count_written(op)) &&
         (op.starts_with("Resource") || op.ends_with("VariableOp") || op == "VarIsInitializedOp");
}

bool DefMaker::needs_handle(TensorId state) const {
  const std::span<const NodeId> readers = graph_.readers(state);
  return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
    const std::vector<std::optional<TensorId>>& inputs = graph_.node(reader).inputs;
    if (!is_own_node(graph_, reader)) return false;
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      if (inputs[input] == state && takes_handle(graph_.op(reader).type, input)) return true;
    }
    return false;
  });
}

// The names of the graph where they differ from those that the GraphDef implies.
void DefMaker::add_names(const std::vector<std::string>& names, DefNode& to) const {
  bool is_implied = names.front() == to.name;
  for (std::size_t port = 0; port + 1 < names.size(); ++port) {
    is_implied = is_implied && (names[port + 1].empty() || names[port + 1] == name_of_port(to.name, port));
  }
  if (is_implied) return;
  for (const std::string& name : names) add_to_list(to, kept::kNames, name);
}

void DefMaker::add_source(TensorId id) {
  const Tensor& tensor = graph_.tensor(id);
  DefNode node{.name = names_[at_of_source_[id]], .op = "Placeholder", .device = {}, .inputs = {}, .attributes = {}};
  if (tensor.role == Role::constant) node.op = "Const";
  if (tensor.role == Role::state) node.op = needs_handle(id) ? "VarHandleOp" : "VariableV2";
  if (!add_source_types(node, graph_, id, is_unsized_[id] != 0)) lost_.insert("the content of constants");
  if (is_unsized_[id] != 0) lost_.insert("sizes that are not known");
  add_names({node.name, tensor.name}, node);
  nodes_.push_back(std::move(node));
}

// The node whose result the reader takes for the content of a variable. The reader waits for it, such as for an Assign.
std::optional<NodeId> DefMaker::read_through(NodeId reader, std::size_t input, TensorId state) const {
  if (!is_own_node(graph_, reader) || takes_handle(graph_.op(reader).type, input)) return std::nullopt;
  std::optional<NodeId> last;
  for (NodeId before : graph_.node(reader).control_inputs) {
    const std::vector<std::optional<TensorId>>& inputs = graph_.node(before).inputs;
    if (!is_own_node(graph_, before) || kind_of_op(graph_.op(before).type) != NodeKind::same_state) continue;
    if (inputs.front() == state && (!last || *last < before)) last = before;
  }
  return last;
}

void DefMaker::add_inputs(NodeId id, DefNode& to) const {
  const Node& node = graph_.node(id);
  std::vector<std::int64_t> positions;
  std::set<NodeId> waited;
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (!node.inputs[at]) continue;
    positions.push_back(static_cast<std::int64_t>(at));
    const std::optional<NodeId> through = read_through(id, at, *node.inputs[at]);
    if (through) waited.insert(*through);
    to.inputs.push_back(through ? name_of_node(*through) : name_of_tensor(*node.inputs[at]));
  }
  if (positions.size() < node.inputs.size()) {
    positions.push_back(static_cast<std::int64_t>(node.inputs.size()));
    set_integers(to, kept::kInputs, positions);
  }
  std::set<std::string> captured;
  for (const Body& body : node.bodies) {
    for (const auto& [outer, inner] : body.captures) {
      const std::optional<NodeId> producer = graph_.tensor(outer).producer;
      captured.insert(producer ? name_of_node(*producer) : name_of_tensor(outer));
    }
  }
  for (NodeId before : node.control_inputs) {
    captured.erase(name_of_node(before));
    if (waited.insert(before).second) to.inputs.push_back("^" + name_of_node(before));
  }
  for (const std::string& name : captured) to.inputs.push_back("^" + name);
}

// Writes the domain and the type of an operator that graph_of_graphdef would not recognize.
void DefMaker::add_operator(NodeId id, DefNode& to) const {
  const Operator& op = graph_.op(id);
  const Node& node = graph_.node(id);
  if (!is_own_node(graph_, id)) {
    set_text(to, kept::kDomain, op.domain);
    set_text(to, kept::kType, op.type);
    return;
  }
  const bool is_once = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](const auto& input) { return input && written_.contains(*input); });
  const auto is_open = [&](const auto& tensor) { return tensor && is_unsized_[*tensor] != 0; };
  const bool has_open = std::any_of(node.inputs.begin(), node.inputs.end(), is_open) ||
                        std::any_of(node.outputs.begin(), node.outputs.end(), is_open);
  const std::string_view implied = has_open ? "tensorflow.unsized" : is_once ? "tensorflow.once" : "tensorflow";
  if (op.domain != implied) set_text(to, kept::kDomain, op.domain);
}

void DefMaker::add_attributes(NodeId id, DefNode& to) {
  const bool is_own = is_own_node(graph_, id);
  std::set<std::string_view> known;
  for (const Attribute& attribute : graph_.node(id).attributes) {
    if (attribute.name.starts_with(kept::kPrefix) || attribute.name == "_output_shapes") continue;
    if (!known.insert(attribute.name).second || !is_utf8(attribute.name)) {
      lost_.insert("attributes whose names are not UTF-8 or not unique");
      continue;
    }
    ValueOfAttribute value = value_of_attribute(attribute);
    if (!value.is_exact) lost_.insert("digits of reals behind those of 32 bits");
    if (!value.value) {
      lost_.insert("attributes that the graph only describes");
      // An operator that TensorFlow runs would be refused with a text in place of something else.
      if (is_own) continue;
      set_text(to, attribute.name, std::get<OpaqueAttribute>(attribute.value).description);
      continue;
    }
    ProtoMessage entry;
    add_text(entry, entry_field::kKey, attribute.name);
    add_message(entry, entry_field::kValue, *std::move(value.value));
    to.attributes.push_back(std::move(entry));
  }
}

void DefMaker::add_node(NodeId id) {
  const Node& node = graph_.node(id);
  const bool is_own = is_own_node(graph_, id);
  DefNode to{.name = name_of_node(id),
             .op = name_of_def_op(graph_.op(id), is_own),
             .device = {},
             .inputs = {},
             .attributes = {}};
  add_attributes(id, to);
  add_inputs(id, to);
  if (is_own) add_missing_attributes(to, graph_, id);
  add_output_types(to, graph_, id, is_unsized_, is_own);
  add_operator(id, to);
  std::vector<std::string> names = {node.name};
  for (const std::optional<TensorId>& output : node.outputs) {
    names.push_back(output ? graph_.tensor(*output).name : "");
    if (output && is_unsized_[*output] != 0) lost_.insert("sizes that are not known");
  }
  add_names(names, to);
  if (!node.bodies.empty()) lost_.insert("the graphs inside operators");
  nodes_.push_back(std::move(to));
}

// The outputs of the graph, unless they are those that graph_of_graphdef finds.
void DefMaker::add_outputs() {
  std::set<TensorId> read;
  for (const Node& node : graph_.nodes()) {
    for (const std::optional<TensorId>& input : node.inputs) {
      if (input) read.insert(*input);
    }
  }
  std::vector<TensorId> unread;
  for (const Node& node : graph_.nodes()) {
    if (!node.outputs.empty() && node.outputs.front() && !read.contains(*node.outputs.front())) {
      unread.push_back(*node.outputs.front());
    }
  }
  if (unread == graph_.outputs() || nodes_.empty()) return;
  std::vector<std::vector<std::int64_t>> pairs(nodes_.size());
  for (std::size_t position = 0; position < graph_.outputs().size(); ++position) {
    const TensorId id = graph_.outputs()[position];
    const std::optional<NodeId> producer = graph_.tensor(id).producer;
    std::vector<std::int64_t>& to = pairs[producer ? sources_ + producer->index() : at_of_source_[id]];
    to.push_back(static_cast<std::int64_t>(producer ? port_of_[id] : 0));
    to.push_back(static_cast<std::int64_t>(position));
  }
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    if (!pairs[at].empty()) set_integers(nodes_[at], kept::kOutputs, pairs[at]);
  }
  if (graph_.outputs().empty()) set_integers(nodes_.front(), kept::kOutputs, {});
}

void DefMaker::find_other_losses() {
  if (!graph_.name().empty()) lost_.insert("the name of the graph");
  if (!graph_.state_updates().empty()) lost_.insert("which tensors are the next content of a state");
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
    if (graph_.tensor(id).producer && graph_.known_integers(id) != nullptr) {
      lost_.insert("the known content of results");
    }
  }
}

}  // namespace
}  // namespace graphdef_internal

GraphDefOfGraph graphdef_of_graph(const Graph& graph) { return graphdef_internal::DefMaker(graph).make(); }

}  // namespace lowtide
