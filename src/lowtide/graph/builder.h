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

// Collects tensors and nodes in any order and makes a Graph of them, or says what is wrong.
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
    bool is_captured = false;
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

  explicit GraphBuilder(std::string name) : name_(std::move(name)) {}

  // `role` is input, constant, state or temporary; role output follows from set_outputs.
  // Inputs are kept in the order of their calls.
  TensorId add_tensor(TensorSpec spec, Role role = Role::temporary);
  NodeId add_node(NodeSpec spec);
  void set_outputs(std::vector<TensorId> outputs);
  // After a run, `state` holds what `next` holds.
  void add_state_update(TensorId state, TensorId next);
  // Content known before the run. Require: as many numbers as the tensor has elements.
  void set_known_integers(TensorId tensor, std::vector<std::int64_t> content);

  // Validates everything that Graph promises. Nodes that do not come in topological order are sorted: the
  // lowest given position first among those that are ready; ids then follow the sorted order. Errors (invalid):
  // duplicate or empty tensor name, two producers, a producer of an input or constant, a tensor that is read or
  // handed out but has no producer, a cycle (named), an id out of range, an update of what is no state, of one state twice,
  // by a tensor of another type, or by a state that is updated itself, or an updated state as output; (over_limit): sizes,
  // counts over all bodies, nesting of bodies, names. O((nodes + edges) log nodes); no recursion.
  [[nodiscard]] Result<Graph> build() &&;

 private:
  Result<void> check_ids() const;
  Result<void> link_producers();
  Result<void> size_tensors();
  Result<void> check_names() const;
  Result<void> sort_nodes();
  Result<void> check_sources() const;
  Result<void> link_state_updates();
  void link_readers();
  Result<void> count_bodies();

  std::string name_;
  Graph graph_;
  std::map<std::pair<std::string, std::string>, OperatorId> operator_ids_;
};

}  // namespace lowtide
