// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/origins.h"

namespace lowtide {

// A graph that GraphRewriter made.
struct Rewritten {
  Graph graph;
  Origins origins;
};

// Makes a new graph from a graph. It replaces, adds and removes nodes, and keeps everything else.
//
//   GraphRewriter rewriter(graph);                             // x -> Conv "c" -> t -> Relu "r" -> y
//   rewriter.replace_node(r, {.name = "r", .type = "ConvRelu", .inputs = {x, w}, .outputs = {y}});
//   rewriter.merge_node(c, r);                                 // removes c, and t with it
//   Result<Rewritten> rewritten = std::move(rewriter).finish();
//   rewritten->origins.nodes[NodeId(0)]                        // {c, r}
//   rewritten->graph.tensor(...).name                          // "y", as before
//
// Ids during the rewrite: nodes and tensors of the graph keep their ids, and added ones get the ids after them.
// finish() numbers everything again. Each function requires that its ids exist and that its node is not removed. It
// throws InvariantViolation otherwise, except set_known_integers, add_output, add_state_update and node, which do not
// check.
class GraphRewriter {
 public:
  // O(graph). Copies all nodes and tensors; shares bodies. Requires: `graph` outlives the rewriter.
  explicit GraphRewriter(const Graph& graph);

  // Adds a tensor. `origins` are ids of the original graph. If the name is empty, finish() generates one from the name
  // of the first origin, with the lowest number that makes it unique: "y.1". Requires: `role` is not output.
  TensorId add_tensor(GraphBuilder::TensorSpec spec, std::vector<TensorId> origins, Role role = Role::temporary);
  // See GraphBuilder::set_known_integers.
  void set_known_integers(TensorId tensor, std::vector<std::int64_t> content);

  // Adds a node. `origins` are ids of the original graph. In the order as given, the node comes directly after the last
  // of its origins and of the nodes that it reads from.
  NodeId add_node(GraphBuilder::NodeSpec spec, std::vector<NodeId> origins);

  // Replaces `node` by another node, which keeps the id, the origins and the position. So nodes that wait for `node`
  // wait for the new node.
  void replace_node(NodeId node, GraphBuilder::NodeSpec spec);

  // Removes a node. Nodes that have it as a control input then wait for the nodes that it waited for or read from. A
  // temporary tensor that is left without producer and reader is also removed.
  void remove_node(NodeId node);

  // Removes `node`, because `into` now does its work. `into` gets the origins of `node`. Nodes that wait for `node`
  // wait for `into`.
  void merge_node(NodeId node, NodeId into);

  // All current uses of `tensor` become uses of `by`: inputs, captures of bodies, graph outputs, and next tensors of
  // state updates. Nodes that are added later may still read `tensor`. O(uses + graph outputs + state updates).
  void replace_uses(TensorId tensor, TensorId by);

  // Replaces the body at `position` by a rewritten body. Its captures are derived from the origins of its tensors.
  // `added_captures` are pairs (tensor of this graph, tensor of the rewritten body) for captured tensors that the
  // rewrite added.
  void replace_body(NodeId node, std::size_t position, Rewritten body,
                    const std::vector<std::pair<TensorId, TensorId>>& added_captures = {});

  // Removes all pure nodes that no graph output, state update or other node needs, and all constants and captured
  // tensors that no node reads. Nodes with bodies are not pure. O(graph).
  void remove_unused();

  void add_output(TensorId tensor);
  void add_state_update(TensorId state, TensorId next);

  // The current spec of a node.
  [[nodiscard]] const GraphBuilder::NodeSpec& node(NodeId id) const { return nodes_[id].spec; }

  // Builds and validates the graph. Without edits it is equal to the original. Errors (invalid): everything that
  // GraphBuilder refuses, such as a cycle, a second producer, a read tensor without producer, or a name that is used
  // twice; an output of the original that has another dtype or shape; a captured tensor whose type differs from that of
  // the tensor in the body, or that does not stand for exactly one tensor. O((nodes + edges) log nodes); no recursion.
  [[nodiscard]] Result<Rewritten> finish() &&;

  // Does the same if a function above changed the graph, and returns nullopt otherwise. remove_unused() changes it only
  // if it removes something, and replace_uses() only if both tensors differ. Errors: those of finish(). O(graph) if the
  // graph stays as it is.
  [[nodiscard]] Result<std::optional<Rewritten>> finish_if_changed() &&;

 private:
  struct NodeEntry {
    GraphBuilder::NodeSpec spec;
    std::vector<NodeId> origins;
    bool is_removed = false;
    std::optional<NodeId> merged_into;
    std::map<std::size_t, Origins> bodies;  // by position; only of bodies that were replaced
  };
  struct TensorEntry {
    GraphBuilder::TensorSpec spec;
    Role role = Role::temporary;
    std::vector<TensorId> origins;
    std::optional<std::vector<std::int64_t>> known_integers;
    bool may_be_removed = false;  // if nothing uses it
    bool is_removed = false;
  };

  NodeEntry& present(NodeId node);
  void note_reads(NodeId node);
  void refuse(const std::string& message);
  [[nodiscard]] std::vector<TensorId> reads_of(const NodeEntry& entry) const;
  [[nodiscard]] std::vector<TensorId> needed_at_end() const;
  [[nodiscard]] Flags<NodeId> needed_nodes() const;
  [[nodiscard]] IdVector<TensorId, std::optional<NodeId>> producers() const;
  [[nodiscard]] std::vector<NodeId> waits_of(NodeId node,
                                             const IdVector<TensorId, std::optional<NodeId>>& producer) const;
  [[nodiscard]] std::vector<NodeId> ordered_nodes(const IdVector<TensorId, std::optional<NodeId>>& producer) const;
  void remove_tensors_without_use(const IdVector<TensorId, std::optional<NodeId>>& producer);
  void generate_names();
  void check_outputs();
  void check_capture(const Body& body, TensorId outer, TensorId inner);

  const Graph& graph_;
  IdVector<NodeId, NodeEntry> nodes_;
  IdVector<TensorId, TensorEntry> tensors_;
  IdVector<TensorId, std::vector<NodeId>> readers_;  // may list nodes that no longer read the tensor
  std::vector<TensorId> outputs_;
  std::vector<StateUpdate> updates_;
  bool is_changed_ = false;
  std::optional<Error> error_;
};

}  // namespace lowtide
