// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide {

// Collects tensors and nodes in any order, and builds a validated Graph from them.
//
//   GraphBuilder builder("tiny");
//   const TensorId x = builder.add_tensor({.name = "x", .dtype = DType::f32, .shape = Shape({4})}, Role::input);
//   const TensorId y = builder.add_tensor({.name = "y", .dtype = DType::f32, .shape = Shape({4})});
//   builder.add_node({.name = "relu", .type = "Relu", .inputs = {x}, .outputs = {y}});
//   builder.set_outputs({y});
//   Result<Graph> graph = std::move(builder).build();
class GraphBuilder {
 public:
  struct TensorSpec {
    std::string name;
    DType dtype = DType::f32;
    Shape shape;
    bool is_captured = false;            // Tensor::is_captured
    std::optional<ConstantId> constant;  // Tensor::constant
  };
  struct NodeSpec {
    std::string name;
    std::string domain;
    std::string type;
    std::vector<std::optional<TensorId>> inputs;
    std::vector<std::optional<TensorId>> outputs;
    std::vector<NodeId> control_inputs;
    std::vector<Attribute> attributes;
    std::vector<Body> bodies;
  };

  // A node of another graph, with the ids of that graph. O(size of the node).
  [[nodiscard]] static NodeSpec spec_of(const Graph& graph, NodeId node);

  explicit GraphBuilder(std::string name) : name_(std::move(name)) {}

  // Requires: `role` is not output, because set_outputs gives that role; only a constant that is not captured has
  // TensorSpec::constant. The graph's inputs keep the order of these calls.
  TensorId add_tensor(TensorSpec spec, Role role = Role::temporary);
  // Adds a tensor of another graph, with its known content. If it is still a constant, it keeps Tensor::constant.
  // Requires of `role` what add_tensor requires.
  TensorId add_copy(const Graph& graph, TensorId tensor, Role role);
  // The id is the number of earlier calls. If build() must sort the nodes, build_with_ids() returns the new ids.
  NodeId add_node(NodeSpec spec);
  // Sets the graph outputs, in the order of the caller, in place of those set before.
  void set_outputs(std::vector<TensorId> outputs);
  // After a run, `state` holds the content of `next`.
  void add_state_update(TensorId state, TensorId next);
  // Sets content that is known before the run, row-major. Requires: one number per element of the tensor.
  void set_known_integers(TensorId tensor, std::vector<std::int64_t> content);

  // Checks all statements that hold for every Graph (graph.h). Nodes that are not in topological order are sorted. The
  // ready node that was added first comes first. Ids follow the sorted order.
  //
  // Errors (invalid): a tensor name that is empty or used twice; a tensor with two producers; a node that writes an
  // input, constant or state; a temporary without a producer; a cycle, whose nodes the message names; an id out of
  // range; an update of a tensor that is not a state; two updates of one state; an update by a tensor of another type,
  // or by an updated state; an updated state as graph output. Errors (over_limit): sizes, names, nesting of bodies, and
  // the number of nodes and tensors over all bodies. O((nodes + edges) log nodes); no recursion.
  [[nodiscard]] Result<Graph> build() &&;

  // Like build(), but also returns the id of each node in the graph, indexed by the id that add_node returned.
  struct Built;
  [[nodiscard]] Result<Built> build_with_ids() &&;

 private:
  Result<void> check_ids() const;
  Result<void> link_producers();
  Result<void> size_tensors();
  Result<void> check_names() const;
  Result<IdVector<NodeId, NodeId>> sort_nodes();
  Result<void> check_sources() const;
  Result<void> link_state_updates();
  void link_readers();
  Result<void> count_bodies();

  std::string name_;
  Graph graph_;
  std::map<std::pair<std::string, std::string>, OperatorId> operator_ids_;
};

struct GraphBuilder::Built {
  Graph graph;
  IdVector<NodeId, NodeId> node_ids;
};

}  // namespace lowtide
