// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/builder.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/cycle.h"

namespace lowtide {
namespace {

std::string place_of(const std::string& graph, NodeId id, const Node& node) {
  return "graph " + quoted(graph) + ": node " + std::to_string(id.value()) + " " + quoted(node.name);
}

Error invalid_tensor(const std::string& graph, const Tensor& tensor, const std::string& message) {
  return Error{ErrorCode::invalid, message, "graph " + quoted(graph) + ": tensor " + quoted(tensor.name)};
}

bool has_producer_role(Role role) { return role == Role::output || role == Role::temporary; }

// The distinct tensors that a node reads, including captures.
void collect_reads(const Node& node, std::vector<TensorId>& out) {
  out.clear();
  for (const std::optional<TensorId>& input : node.inputs) {
    if (input) out.push_back(*input);
  }
  for (const Body& body : node.bodies) {
    for (const auto& [outer, inner] : body.captures) out.push_back(outer);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

// Sorts nodes with Kahn's algorithm. The ready node with the lowest id comes first, so nodes that are already sorted
// keep their order. Requires: `edges` are sorted, and `waiting` is the number of edges to each node. Afterwards,
// `waiting` counts only the edges from nodes that were not sorted.
std::vector<NodeId> lowest_first(const std::vector<std::pair<NodeId, NodeId>>& edges,
                                 IdVector<NodeId, std::uint32_t>& waiting) {
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId id : all_ids<NodeId>(waiting.size())) {
    if (waiting[id] == 0) ready.push(id);
  }
  std::vector<NodeId> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    auto edge = std::lower_bound(edges.begin(), edges.end(), std::pair(id, NodeId()));
    for (; edge != edges.end() && edge->first == id; ++edge) {
      if (--waiting[edge->second] == 0) ready.push(edge->second);
    }
  }
  return order;
}

}  // namespace

TensorId GraphBuilder::add_tensor(TensorSpec spec, Role role) {
  LOWTIDE_CHECK(role != Role::output, "set_outputs gives the role output");
  LOWTIDE_CHECK(!spec.constant || (role == Role::constant && !spec.is_captured),
                "only a constant of this graph has bytes in the table of constants");
  Tensor tensor;
  tensor.name = std::move(spec.name);
  tensor.dtype = spec.dtype;
  tensor.role = role;
  tensor.is_captured = spec.is_captured;
  tensor.shape = std::move(spec.shape);
  tensor.constant = spec.constant;
  const TensorId id = graph_.tensors_.push_back(std::move(tensor));
  if (role == Role::input && !spec.is_captured) graph_.inputs_.push_back(id);
  return id;
}

TensorId GraphBuilder::add_copy(const Graph& graph, TensorId tensor, Role role) {
  const Tensor& of = graph.tensor(tensor);
  const std::optional<ConstantId> constant = role == Role::constant ? of.constant : std::nullopt;
  const TensorId copy = add_tensor({of.name, of.dtype, of.shape, of.is_captured, constant}, role);
  if (const auto* content = graph.known_integers(tensor)) set_known_integers(copy, *content);
  return copy;
}

GraphBuilder::NodeSpec GraphBuilder::spec_of(const Graph& graph, NodeId node) {
  const Node& of = graph.node(node);
  const Operator& op = graph.op(node);
  return {of.name, op.domain, op.type, of.inputs, of.outputs, of.control_inputs, of.attributes, of.bodies};
}

NodeId GraphBuilder::add_node(NodeSpec spec) {
  const auto [entry, is_new] = operator_ids_.try_emplace({spec.domain, spec.type}, OperatorId());
  if (is_new) {
    entry->second = graph_.operators_.push_back({spec.domain, spec.type, operator_traits(spec.domain, spec.type)});
  }
  Node node;
  node.name = std::move(spec.name);
  node.op = entry->second;
  node.inputs = std::move(spec.inputs);
  node.outputs = std::move(spec.outputs);
  node.control_inputs = std::move(spec.control_inputs);
  node.attributes = std::move(spec.attributes);
  node.bodies = std::move(spec.bodies);
  return graph_.nodes_.push_back(std::move(node));
}

void GraphBuilder::set_outputs(std::vector<TensorId> outputs) { graph_.outputs_ = std::move(outputs); }

void GraphBuilder::add_state_update(TensorId state, TensorId next) { graph_.state_updates_.push_back({state, next}); }

void GraphBuilder::set_known_integers(TensorId tensor, std::vector<std::int64_t> content) {
  LOWTIDE_CHECK(graph_.tensors_.contains(tensor), "the tensor with known content exists");
  graph_.known_.emplace_back(tensor, std::move(content));
}

Result<Graph> GraphBuilder::build() && {
  LOWTIDE_TRY(Built built, std::move(*this).build_with_ids());
  return std::move(built.graph);
}

Result<GraphBuilder::Built> GraphBuilder::build_with_ids() && {
  graph_.name_ = name_;
  LOWTIDE_RETURN_IF_ERROR(check_ids());
  LOWTIDE_RETURN_IF_ERROR(check_names());
  LOWTIDE_RETURN_IF_ERROR(size_tensors());
  LOWTIDE_TRY(auto node_ids, sort_nodes());
  LOWTIDE_RETURN_IF_ERROR(link_producers());
  for (TensorId output : graph_.outputs_) {
    if (graph_.tensors_[output].role == Role::temporary) graph_.tensors_[output].role = Role::output;
  }
  LOWTIDE_RETURN_IF_ERROR(check_sources());
  LOWTIDE_RETURN_IF_ERROR(link_state_updates());
  link_readers();
  std::sort(graph_.known_.begin(), graph_.known_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  LOWTIDE_RETURN_IF_ERROR(count_bodies());
  return Built{std::move(graph_), std::move(node_ids)};
}

// Several nodes may run the same body. Its nodes and tensors count once for each of them.
Result<void> GraphBuilder::count_bodies() {
  graph_.total_nodes_ = static_cast<std::int64_t>(graph_.nodes_.size());
  graph_.total_tensors_ = static_cast<std::int64_t>(graph_.tensors_.size());
  for (NodeId id : all_ids<NodeId>(graph_.nodes_.size())) {
    for (const Body& body : graph_.nodes_[id].bodies) {
      graph_.total_nodes_ += body.graph->total_nodes();
      graph_.total_tensors_ += body.graph->total_tensors();
      graph_.body_nesting_ = std::max(graph_.body_nesting_, body.graph->body_nesting() + 1);
      if (graph_.body_nesting_ > limits::kMaxBodyNesting) {
        return Error{ErrorCode::over_limit,
                     "bodies are nested " + std::to_string(graph_.body_nesting_) + " deep, above the limit of " +
                         std::to_string(limits::kMaxBodyNesting) + " (kMaxBodyNesting)",
                     place_of(name_, id, graph_.nodes_[id])};
      }
      if (graph_.total_nodes_ > limits::kMaxNodes || graph_.total_tensors_ > limits::kMaxTensors) {
        return Error{ErrorCode::over_limit,
                     "with its bodies, the graph has at least " + std::to_string(graph_.total_nodes_) + " nodes and " +
                         std::to_string(graph_.total_tensors_) + " tensors; the limits are " +
                         std::to_string(limits::kMaxNodes) + " (kMaxNodes) and " + std::to_string(limits::kMaxTensors) +
                         " (kMaxTensors)",
                     place_of(name_, id, graph_.nodes_[id])};
      }
    }
  }
  return {};
}

Result<void> GraphBuilder::check_ids() const {
  const auto in_range = [&](const std::optional<TensorId>& id) { return !id || graph_.tensors_.contains(*id); };
  bool ok = std::all_of(graph_.outputs_.begin(), graph_.outputs_.end(), in_range);
  for (const StateUpdate& update : graph_.state_updates_) ok = ok && in_range(update.state) && in_range(update.next);
  for (const Node& node : graph_.nodes_) {
    ok = ok && std::all_of(node.inputs.begin(), node.inputs.end(), in_range) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), in_range) &&
         std::all_of(node.control_inputs.begin(), node.control_inputs.end(),
                     [&](NodeId id) { return graph_.nodes_.contains(id); });
    for (const Body& body : node.bodies) {
      ok = ok && body.graph != nullptr &&
           std::all_of(body.captures.begin(), body.captures.end(), [&](const auto& capture) {
             return graph_.tensors_.contains(capture.first) && body.graph->tensors().contains(capture.second);
           });
    }
  }
  if (!ok)
    return Error{ErrorCode::invalid, "a node, output or state update has an id that does not exist",
                 "graph " + quoted(name_)};
  return {};
}

Result<void> GraphBuilder::check_names() const {
  std::unordered_set<std::string_view> seen;
  seen.reserve(graph_.tensors_.size());
  for (const Tensor& tensor : graph_.tensors_) {
    if (tensor.name.empty()) return invalid_tensor(name_, tensor, "a tensor has an empty name");
    if (static_cast<std::int64_t>(tensor.name.size()) > limits::kMaxNameBytes) {
      return Error{ErrorCode::over_limit,
                   "the name has " + std::to_string(tensor.name.size()) + " bytes, above the limit of " +
                       std::to_string(limits::kMaxNameBytes) + " (kMaxNameBytes)",
                   "graph " + quoted(name_) + ": tensor " + quoted(tensor.name)};
    }
    if (!seen.insert(tensor.name).second) return invalid_tensor(name_, tensor, "two tensors have this name");
  }
  return {};
}

Result<void> GraphBuilder::size_tensors() {
  if (static_cast<std::int64_t>(graph_.nodes_.size()) > limits::kMaxNodes ||
      static_cast<std::int64_t>(graph_.tensors_.size()) > limits::kMaxTensors) {
    return Error{ErrorCode::over_limit,
                 std::to_string(graph_.nodes_.size()) + " nodes and " + std::to_string(graph_.tensors_.size()) +
                     " tensors; the limits are " + std::to_string(limits::kMaxNodes) + " (kMaxNodes) and " +
                     std::to_string(limits::kMaxTensors) + " (kMaxTensors)",
                 "graph " + quoted(name_)};
  }
  std::int64_t total = 0;
  for (Tensor& tensor : graph_.tensors_) {
    Result<Bytes> size = dense_size(tensor.dtype, tensor.shape);
    if (!size) {
      return Error{size.error().code, size.error().message,
                   "graph " + quoted(name_) + ": tensor " + quoted(tensor.name)};
    }
    tensor.size = *size;
    total += size->count();  // no overflow: each size is below 2^47, and the limit is below 2^62
    if (total > limits::kMaxTotalBytes) {
      return Error{ErrorCode::over_limit,
                   "the tensors up to this one have " + std::to_string(total) + " bytes, above the limit of " +
                       std::to_string(limits::kMaxTotalBytes) + " (kMaxTotalBytes)",
                   "graph " + quoted(name_) + ": tensor " + quoted(tensor.name)};
    }
  }
  return {};
}

Result<void> GraphBuilder::link_producers() {
  for (NodeId id : all_ids<NodeId>(graph_.nodes_.size())) {
    for (const std::optional<TensorId>& output : graph_.nodes_[id].outputs) {
      if (!output) continue;
      Tensor& tensor = graph_.tensors_[*output];
      if (!has_producer_role(tensor.role)) {
        return Error{
            ErrorCode::invalid,
            "writes " + quoted(tensor.name) + ", but no node may write " + with_article(to_string(tensor.role)),
            place_of(name_, id, graph_.nodes_[id])};
      }
      if (tensor.producer) {
        return Error{ErrorCode::invalid,
                     "writes " + quoted(tensor.name) + ", which node " + std::to_string(tensor.producer->value()) +
                         " " + quoted(graph_.nodes_[*tensor.producer].name) + " writes too; a tensor has one producer",
                     place_of(name_, id, graph_.nodes_[id])};
      }
      tensor.producer = id;
    }
  }
  return {};
}

// Returns the new id of each node.
Result<IdVector<NodeId, NodeId>> GraphBuilder::sort_nodes() {
  const std::size_t count = graph_.nodes_.size();
  IdVector<NodeId, NodeId> new_id(count);
  for (NodeId id : all_ids<NodeId>(count)) new_id[id] = id;
  IdVector<TensorId, std::optional<NodeId>> writer(graph_.tensors_.size());
  for (NodeId id : all_ids<NodeId>(count)) {
    for (const std::optional<TensorId>& output : graph_.nodes_[id].outputs) {
      if (output) writer[*output] = id;  // two writers are refused by link_producers
    }
  }
  std::vector<std::pair<NodeId, NodeId>> edges;
  IdVector<NodeId, std::uint32_t> waiting(count, 0);
  std::vector<TensorId> reads;
  bool sorted = true;
  const auto add_edge = [&](NodeId before, NodeId after) {
    edges.emplace_back(before, after);
    ++waiting[after];
    sorted = sorted && before < after;
  };
  for (NodeId id : all_ids<NodeId>(count)) {
    collect_reads(graph_.nodes_[id], reads);
    for (TensorId tensor : reads) {
      if (writer[tensor]) add_edge(*writer[tensor], id);
    }
    for (NodeId before : graph_.nodes_[id].control_inputs) add_edge(before, id);
  }
  if (sorted) return new_id;

  std::sort(edges.begin(), edges.end());
  const std::vector<NodeId> order = lowest_first(edges, waiting);
  if (order.size() != count) {
    const std::vector<NodeId> cycle = graph_internal::find_cycle(edges, waiting);
    return Error{ErrorCode::invalid,
                 "depends on its own result, through a cycle of " + std::to_string(cycle.size()) +
                     (cycle.size() == 1 ? " node: " : " nodes: ") + graph_internal::cycle_text(cycle, graph_.nodes_),
                 place_of(name_, cycle.front(), graph_.nodes_[cycle.front()])};
  }
  IdVector<NodeId, Node> nodes;
  nodes.reserve(count);
  for (NodeId old : order) new_id[old] = nodes.push_back(std::move(graph_.nodes_[old]));
  for (Node& node : nodes) {
    for (NodeId& before : node.control_inputs) before = new_id[before];
  }
  graph_.nodes_ = std::move(nodes);
  return new_id;
}

Result<void> GraphBuilder::check_sources() const {
  std::vector<TensorId> reads;
  const auto has_source = [&](TensorId id) {
    const Tensor& tensor = graph_.tensors_[id];
    return tensor.producer.has_value() || !has_producer_role(tensor.role);
  };
  for (NodeId id : all_ids<NodeId>(graph_.nodes_.size())) {
    collect_reads(graph_.nodes_[id], reads);
    for (TensorId tensor : reads) {
      if (!has_source(tensor)) {
        return Error{ErrorCode::invalid,
                     "reads " + quoted(graph_.tensors_[tensor].name) +
                         ", which nothing produces: no node, input or constant has this name",
                     place_of(name_, id, graph_.nodes_[id])};
      }
    }
  }
  for (const Tensor& tensor : graph_.tensors_) {
    if (has_producer_role(tensor.role) && !tensor.producer) {
      return invalid_tensor(
          name_, tensor,
          tensor.role == Role::output ? "this graph output is never produced" : "nothing produces this tensor");
    }
  }
  return {};
}

Result<void> GraphBuilder::link_state_updates() {
  std::vector<StateUpdate>& updates = graph_.state_updates_;
  std::sort(updates.begin(), updates.end(), [](const StateUpdate& a, const StateUpdate& b) {
    return std::pair(a.state, a.next) < std::pair(b.state, b.next);
  });
  for (std::size_t at = 0; at < updates.size(); ++at) {
    const Tensor& state = graph_.tensors_[updates[at].state];
    Tensor& next = graph_.tensors_[updates[at].next];
    if (state.role != Role::state) {
      return invalid_tensor(
          name_, state,
          "is updated, but it is " + with_article(to_string(state.role)) + "; only a state can be updated");
    }
    if (at > 0 && updates[at - 1].state == updates[at].state) {
      return invalid_tensor(name_, state, "is updated twice; a state has one next value");
    }
    if (updates[at].state == updates[at].next || next.dtype != state.dtype || next.size != state.size) {
      return invalid_tensor(name_, state,
                            "has type " + std::string(to_string(state.dtype)) + to_string(state.shape) +
                                " and cannot be updated by " + quoted(next.name) + " of type " +
                                std::string(to_string(next.dtype)) + to_string(next.shape) +
                                "; name another tensor of the same type and size");
    }
    next.is_next_state = true;
  }
  for (const StateUpdate& update : updates) {
    const Tensor& state = graph_.tensors_[update.state];
    if (std::find(graph_.outputs_.begin(), graph_.outputs_.end(), update.state) != graph_.outputs_.end()) {
      return invalid_tensor(
          name_, state, "is updated and is a graph output; let an Identity node copy it, and make the copy the output");
    }
    if (!state.is_next_state) continue;
    return invalid_tensor(name_, state,
                          "is updated and is also the next tensor of another state; let an Identity node copy it, and "
                          "make the copy the next tensor");
  }
  return {};
}

void GraphBuilder::link_readers() {
  std::vector<std::uint32_t> count(graph_.tensors_.size() + 1, 0);
  std::vector<TensorId> reads;
  graph_.read_begin_.assign(1, 0);
  for (const Node& node : graph_.nodes_) {
    collect_reads(node, reads);
    graph_.reads_.insert(graph_.reads_.end(), reads.begin(), reads.end());
    graph_.read_begin_.push_back(static_cast<std::uint32_t>(graph_.reads_.size()));
    for (TensorId tensor : reads) ++count[tensor.index() + 1];
  }
  for (std::size_t at = 1; at < count.size(); ++at) count[at] += count[at - 1];
  graph_.reader_begin_ = count;
  graph_.readers_.resize(graph_.reads_.size());
  for (NodeId id : all_ids<NodeId>(graph_.nodes_.size())) {
    for (TensorId tensor : graph_.reads(id)) graph_.readers_[count[tensor.index()]++] = id;
  }
}

}  // namespace lowtide
