// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/rewrite.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

template <typename Item>
void sort_unique(std::vector<Item>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

template <typename A, typename B>
bool same_type(const A& a, const B& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

}  // namespace

GraphRewriter::GraphRewriter(const Graph& graph)
    : graph_(graph), outputs_(graph.outputs()), updates_(graph.state_updates()) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    const Role role = tensor.producer ? Role::temporary : tensor.role;
    add_tensor({tensor.name, tensor.dtype, tensor.shape, tensor.is_captured, tensor.constant}, {id}, role);
    if (const auto* content = graph.known_integers(id)) tensors_[id].known_integers = *content;
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    add_node(GraphBuilder::spec_of(graph, id), {id});
  }
  is_changed_ = false;
}

GraphRewriter::NodeEntry& GraphRewriter::present(NodeId node) {
  LOWTIDE_CHECK(nodes_.contains(node) && !nodes_[node].is_removed, "a node that is edited exists and is not removed");
  return nodes_[node];
}

std::vector<TensorId> GraphRewriter::reads_of(const NodeEntry& entry) const {
  std::vector<TensorId> reads;
  for (const std::optional<TensorId>& input : entry.spec.inputs) {
    if (input) reads.push_back(*input);
  }
  for (const Body& body : entry.spec.bodies) {
    for (const auto& [outer, inner] : body.captures) reads.push_back(outer);
  }
  sort_unique(reads);
  return reads;
}

void GraphRewriter::note_reads(NodeId node) {
  const NodeEntry& entry = nodes_[node];
  for (TensorId tensor : reads_of(entry)) {
    LOWTIDE_CHECK(tensors_.contains(tensor), "a node reads tensors that exist");
    readers_[tensor].push_back(node);
  }
  for (const std::optional<TensorId>& output : entry.spec.outputs) {
    LOWTIDE_CHECK(!output || tensors_.contains(*output), "a node writes tensors that exist");
  }
  for (NodeId before : entry.spec.control_inputs)
    LOWTIDE_CHECK(nodes_.contains(before), "a node waits for nodes that exist");
  for (NodeId origin : entry.origins)
    LOWTIDE_CHECK(graph_.nodes().contains(origin), "an origin is a node of the graph");
}

std::vector<TensorId> GraphRewriter::needed_at_end() const {
  std::vector<TensorId> needed = outputs_;
  for (const StateUpdate& update : updates_) needed.push_back(update.next);
  return needed;
}

void GraphRewriter::refuse(const std::string& message) {
  if (!error_) error_ = Error{ErrorCode::invalid, message, "graph " + quoted(graph_.name())};
}

TensorId GraphRewriter::add_tensor(GraphBuilder::TensorSpec spec, std::vector<TensorId> origins, Role role) {
  LOWTIDE_CHECK(role != Role::output, "add_output gives the role output");
  sort_unique(origins);
  readers_.push_back({});
  is_changed_ = true;
  return tensors_.push_back({.spec = std::move(spec), .role = role, .origins = std::move(origins)});
}

void GraphRewriter::set_known_integers(TensorId tensor, std::vector<std::int64_t> content) {
  tensors_[tensor].known_integers = std::move(content);
  is_changed_ = true;
}

void GraphRewriter::add_output(TensorId tensor) {
  outputs_.push_back(tensor);
  is_changed_ = true;
}

void GraphRewriter::add_state_update(TensorId state, TensorId next) {
  updates_.push_back({state, next});
  is_changed_ = true;
}

NodeId GraphRewriter::add_node(GraphBuilder::NodeSpec spec, std::vector<NodeId> origins) {
  sort_unique(origins);
  const NodeId id = nodes_.push_back({.spec = std::move(spec), .origins = std::move(origins)});
  note_reads(id);
  is_changed_ = true;
  return id;
}

void GraphRewriter::replace_node(NodeId node, GraphBuilder::NodeSpec spec) {
  present(node).spec = std::move(spec);
  nodes_[node].bodies.clear();
  note_reads(node);
  is_changed_ = true;
}

void GraphRewriter::remove_node(NodeId node) {
  present(node).is_removed = true;
  is_changed_ = true;
}

void GraphRewriter::merge_node(NodeId node, NodeId into) {
  LOWTIDE_CHECK(node != into, "a node is merged into another one");
  std::vector<NodeId>& origins = present(into).origins;
  origins.insert(origins.end(), present(node).origins.begin(), present(node).origins.end());
  sort_unique(origins);
  nodes_[node].merged_into = into;
  remove_node(node);
}

void GraphRewriter::check_capture(const Body& body, TensorId outer, TensorId inner) {
  const GraphBuilder::TensorSpec& around = tensors_[outer].spec;
  const Tensor& inside = body.graph->tensor(inner);
  if (same_type(around, inside)) return;
  refuse("body " + quoted(body.name) + " captures " + quoted(around.name) + " of type " +
         print_tensor_type(around.dtype, around.shape) + " as " + quoted(inside.name) + " of type " +
         print_tensor_type(inside.dtype, inside.shape) + "; let a node convert it");
}

void GraphRewriter::replace_uses(TensorId tensor, TensorId by) {
  LOWTIDE_CHECK(tensors_.contains(tensor) && tensors_.contains(by), "tensors whose uses are replaced exist");
  if (tensor == by) return;
  is_changed_ = true;
  for (NodeId reader : std::exchange(readers_[tensor], {})) {
    if (nodes_[reader].is_removed) continue;
    GraphBuilder::NodeSpec& spec = nodes_[reader].spec;
    std::replace(spec.inputs.begin(), spec.inputs.end(), std::optional(tensor), std::optional(by));
    for (Body& body : spec.bodies) {
      for (auto& [outer, inner] : body.captures) {
        if (outer != tensor) continue;
        outer = by;
        check_capture(body, outer, inner);
      }
    }
    readers_[by].push_back(reader);
  }
  std::replace(outputs_.begin(), outputs_.end(), tensor, by);
  for (StateUpdate& update : updates_) update.next = update.next == tensor ? by : update.next;
}

void GraphRewriter::replace_body(NodeId node, std::size_t position, Rewritten body,
                                 const std::vector<std::pair<TensorId, TensorId>>& added_captures) {
  LOWTIDE_CHECK(position < present(node).spec.bodies.size(), "a body that is replaced exists");
  Body& current = nodes_[node].spec.bodies[position];
  const std::vector<std::pair<TensorId, TensorId>> old_captures = std::exchange(current.captures, added_captures);
  current.graph = std::make_shared<const Graph>(std::move(body.graph));
  for (TensorId inner : all_ids<TensorId>(current.graph->tensors().size())) {
    if (!current.graph->tensor(inner).is_captured) continue;
    for (const auto& [outer, before] : old_captures) {
      if (body.origins.tensors[inner] == std::vector{before}) current.captures.emplace_back(outer, inner);
    }
    const auto is_for_it = [&](const auto& capture) { return capture.second == inner; };
    const auto count = std::count_if(current.captures.begin(), current.captures.end(), is_for_it);
    if (count == 1) continue;
    refuse("the captured tensor " + quoted(current.graph->tensor(inner).name) + " of body " + quoted(current.name) +
           " stands for " + std::to_string(count) + " tensors of this graph; it must stand for one");
  }
  for (const auto& [outer, inner] : current.captures) check_capture(current, outer, inner);
  is_changed_ = true;
  const auto [origins, is_first] = nodes_[node].bodies.try_emplace(position, body.origins);
  if (!is_first) origins->second = compose(origins->second, body.origins);
  note_reads(node);
}

// Marks all nodes that are not pure, and the nodes that these, the graph outputs and the state updates need.
Flags<NodeId> GraphRewriter::needed_nodes() const {
  const IdVector<TensorId, std::optional<NodeId>> producer = producers();
  Flags<NodeId> is_needed(nodes_.size());
  std::vector<NodeId> open;
  const auto need = [&](std::optional<NodeId> node) {
    if (node && !nodes_[*node].is_removed && is_needed.insert(*node)) open.push_back(*node);
  };
  for (TensorId tensor : needed_at_end()) need(producer[tensor]);
  for (NodeId id : all_ids<NodeId>(nodes_.size())) {
    const GraphBuilder::NodeSpec& spec = nodes_[id].spec;
    if (!operator_traits(spec.domain, spec.type).is_pure || !spec.bodies.empty()) need(id);
  }
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (TensorId read : reads_of(nodes_[id])) need(producer[read]);
  }
  return is_needed;
}

void GraphRewriter::remove_unused() {
  const Flags<NodeId> is_needed = needed_nodes();
  for (NodeId id : all_ids<NodeId>(nodes_.size())) {
    if (is_needed.test(id) || nodes_[id].is_removed) continue;
    nodes_[id].is_removed = true;
    is_changed_ = true;
  }
  for (TensorEntry& tensor : tensors_) tensor.may_be_removed = tensor.role == Role::constant || tensor.spec.is_captured;
}

// The producer of each tensor. A removed producer counts only if no other node writes the tensor.
IdVector<TensorId, std::optional<NodeId>> GraphRewriter::producers() const {
  IdVector<TensorId, std::optional<NodeId>> producer(tensors_.size());
  for (bool is_removed : {true, false}) {
    for (NodeId id : all_ids<NodeId>(nodes_.size())) {
      if (nodes_[id].is_removed != is_removed) continue;
      for (const std::optional<TensorId>& output : nodes_[id].spec.outputs) {
        if (output) producer[*output] = id;
      }
    }
  }
  return producer;
}

// The nodes that a node waits for by control inputs. A removed node is replaced by the node that it was merged into, or
// by the nodes that it waited for and read from.
std::vector<NodeId> GraphRewriter::waits_of(NodeId node,
                                            const IdVector<TensorId, std::optional<NodeId>>& producer) const {
  const std::vector<NodeId>& given = nodes_[node].spec.control_inputs;
  if (std::none_of(given.begin(), given.end(), [&](NodeId id) { return nodes_[id].is_removed; })) return given;
  std::vector<NodeId> waits;
  std::vector<NodeId> open = given;
  std::unordered_set<NodeId> seen;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == node || !seen.insert(id).second) continue;
    if (!nodes_[id].is_removed) {
      waits.push_back(id);
    } else if (nodes_[id].merged_into) {
      open.push_back(*nodes_[id].merged_into);
    } else {
      open.insert(open.end(), nodes_[id].spec.control_inputs.begin(), nodes_[id].spec.control_inputs.end());
      for (TensorId read : reads_of(nodes_[id])) {
        if (producer[read]) open.push_back(*producer[read]);
      }
    }
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

// The nodes that were not removed, in the order in which the builder gets them.
std::vector<NodeId> GraphRewriter::ordered_nodes(const IdVector<TensorId, std::optional<NodeId>>& producer) const {
  IdVector<NodeId, NodeId> position(nodes_.size());  // the original node that this node comes directly after
  std::vector<NodeId> order;
  for (NodeId id : all_ids<NodeId>(nodes_.size())) {
    position[id] = id;
    if (!graph_.nodes().contains(id)) {
      const std::vector<NodeId>& origins = nodes_[id].origins;
      position[id] = origins.empty() ? NodeId(0) : origins.back();
      for (TensorId read : reads_of(nodes_[id])) {
        if (producer[read] && *producer[read] < id) position[id] = std::max(position[id], position[*producer[read]]);
      }
    }
    if (!nodes_[id].is_removed) order.push_back(id);
  }
  std::sort(order.begin(), order.end(),
            [&](NodeId a, NodeId b) { return std::tuple(position[a], a) < std::tuple(position[b], b); });
  return order;
}

void GraphRewriter::remove_tensors_without_use(const IdVector<TensorId, std::optional<NodeId>>& producer) {
  Flags<TensorId> is_used(tensors_.size());
  for (NodeId id : all_ids<NodeId>(nodes_.size())) {
    if (nodes_[id].is_removed) continue;
    for (TensorId read : reads_of(nodes_[id])) is_used.set(read);
  }
  for (TensorId tensor : needed_at_end()) is_used.set(tensor);
  for (TensorId id : all_ids<TensorId>(tensors_.size())) {
    TensorEntry& tensor = tensors_[id];
    const bool is_produced = producer[id] && !nodes_[*producer[id]].is_removed;
    tensor.is_removed = !is_used.test(id) && !is_produced && (tensor.may_be_removed || tensor.role == Role::temporary);
  }
}

void GraphRewriter::generate_names() {
  std::unordered_set<std::string> taken;
  for (const TensorEntry& tensor : tensors_) taken.insert(tensor.spec.name);
  std::unordered_map<std::string, std::uint32_t> next_number;
  for (TensorEntry& tensor : tensors_) {
    if (!tensor.spec.name.empty()) continue;
    std::string base = tensor.origins.empty() ? "tensor" : graph_.tensor(tensor.origins[0]).name;
    base.resize(std::min<std::size_t>(base.size(), limits::kMaxNameBytes - 11));  // leaves space for the number
    std::uint32_t& number = next_number[base];
    do {
      tensor.spec.name = base + "." + std::to_string(++number);
    } while (!taken.insert(tensor.spec.name).second);
  }
}

void GraphRewriter::check_outputs() {
  for (std::size_t at = 0; at < graph_.outputs().size(); ++at) {
    const TensorId before = graph_.outputs()[at];
    if (same_type(tensors_[before].spec, tensors_[outputs_[at]].spec)) continue;
    const auto type_of = [&](TensorId id) {
      return print_tensor_type(tensors_[id].spec.dtype, tensors_[id].spec.shape);
    };
    refuse("output " + std::to_string(at) + " is " + quoted(tensors_[before].spec.name) + " of type " +
           type_of(before) + ", and would become " + type_of(outputs_[at]) + "; let a node convert it back");
  }
}

Result<Rewritten> GraphRewriter::finish() && {
  const IdVector<TensorId, std::optional<NodeId>> producer = producers();
  remove_tensors_without_use(producer);
  generate_names();
  check_outputs();
  if (error_) return *error_;

  GraphBuilder builder(graph_.name());
  Origins origins;
  IdVector<TensorId, TensorId> new_tensor(tensors_.size());
  for (TensorId id : all_ids<TensorId>(tensors_.size())) {
    TensorEntry& tensor = tensors_[id];
    if (tensor.is_removed) continue;
    new_tensor[id] = builder.add_tensor(std::move(tensor.spec), tensor.role);
    if (tensor.known_integers) builder.set_known_integers(new_tensor[id], std::move(*tensor.known_integers));
    origins.tensors.push_back(std::move(tensor.origins));
  }
  const std::vector<NodeId> order = ordered_nodes(producer);
  IdVector<NodeId, NodeId> new_node(nodes_.size());
  for (std::size_t at = 0; at < order.size(); ++at) new_node[order[at]] = NodeId(static_cast<std::uint32_t>(at));
  for (NodeId id : order) {
    GraphBuilder::NodeSpec spec = nodes_[id].spec;
    for (auto* list : {&spec.inputs, &spec.outputs}) {
      for (std::optional<TensorId>& tensor : *list) tensor = tensor ? std::optional(new_tensor[*tensor]) : std::nullopt;
    }
    spec.control_inputs = waits_of(id, producer);
    for (NodeId& before : spec.control_inputs) before = new_node[before];
    for (Body& body : spec.bodies) {
      for (auto& [outer, inner] : body.captures) outer = new_tensor[outer];
      std::sort(body.captures.begin(), body.captures.end());
    }
    builder.add_node(std::move(spec));
  }
  std::vector<TensorId> outputs;
  for (TensorId output : outputs_) outputs.push_back(new_tensor[output]);
  builder.set_outputs(std::move(outputs));
  for (const StateUpdate& update : updates_)
    builder.add_state_update(new_tensor[update.state], new_tensor[update.next]);

  LOWTIDE_TRY(GraphBuilder::Built built, std::move(builder).build_with_ids());
  origins.nodes = IdVector<NodeId, std::vector<NodeId>>(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    const NodeId id = built.node_ids[NodeId(static_cast<std::uint32_t>(at))];
    NodeEntry& entry = nodes_[order[at]];
    origins.nodes[id] = std::move(entry.origins);
    for (auto& [position, body] : entry.bodies) origins.bodies.push_back({id, position, std::move(body)});
  }
  std::sort(origins.bodies.begin(), origins.bodies.end(), [](const Origins::OfBody& a, const Origins::OfBody& b) {
    return std::pair(a.node, a.position) < std::pair(b.node, b.position);
  });
  return Rewritten{std::move(built.graph), std::move(origins)};
}

Result<std::optional<Rewritten>> GraphRewriter::finish_if_changed() && {
  if (!is_changed_) {
    remove_tensors_without_use(producers());
    if (std::ranges::none_of(tensors_, &TensorEntry::is_removed)) return std::optional<Rewritten>();
  }
  Result<Rewritten> rewritten = std::move(*this).finish();
  if (!rewritten) return rewritten.error();
  return std::optional(*std::move(rewritten));
}

}  // namespace lowtide
