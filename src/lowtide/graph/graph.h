// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/attribute.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/graph/operator_traits.h"
#include "lowtide/graph/shape.h"

namespace lowtide {

using NodeId = Id<struct NodeTag>;
using TensorId = Id<struct TensorTag>;
using OperatorId = Id<struct OperatorTag>;

class Graph;

// What a tensor is to the caller; explicit, never derived from a name.
//   input      given by the caller, never written
//   output     produced by a node and handed to the caller: its bytes must hold until the end
//   constant   known before the run, never written (weights, folded shapes)
//   state      kept from run to run
//   temporary  everything else
// A graph output that is directly an input or a constant keeps that role.
enum class Role : std::uint8_t { input, output, constant, state, temporary };

[[nodiscard]] std::string_view to_string(Role role);
[[nodiscard]] std::optional<Role> role_from_string(std::string_view text);

struct Operator {
  std::string domain;  // "" for the standard ONNX domain
  std::string type;    // "Conv"
  OperatorTraits traits;
};

struct Tensor {
  std::string name;  // as in the source file, any bytes; unique in its graph, not empty
  DType dtype = DType::f32;
  Role role = Role::temporary;
  bool is_captured = false;    // in a body: a tensor of a graph around it, role input or constant
  bool is_next_state = false;  // some state tensor has its content after the run (StateUpdate)
  Shape shape;
  Bytes size;                      // dense row-major; an upper bound where shape.has_upper_bounds()
  std::optional<NodeId> producer;  // has one exactly if role is output or temporary
};

// A graph that a node runs: a branch of an If, the body of a Loop or Scan.
struct Body {
  std::string name;  // of the attribute: "then_branch", "body"
  std::shared_ptr<const Graph> graph;
  // Tensors of the graph around that the body (or a body inside it) reads: outer, inner. Sorted by outer id.
  std::vector<std::pair<TensorId, TensorId>> captures;
};

struct Node {
  std::string name;  // as in the source file; may be empty or repeated
  OperatorId op;
  std::vector<std::optional<TensorId>> inputs;   // nothing: an optional input left out
  std::vector<std::optional<TensorId>> outputs;  // nothing: an optional output left out
  std::vector<NodeId> control_inputs;            // must run before this node, without data
  std::vector<Attribute> attributes;
  std::vector<Body> bodies;
};

// After a run, `state` holds what `next` holds at the end of it. The old content may be read until it is replaced.
struct StateUpdate {
  TensorId state;  // role state
  TensorId next;   // another tensor of the same type and size; not a state that is updated itself
  friend bool operator==(const StateUpdate&, const StateUpdate&) = default;
};

// An immutable operator graph. Made by GraphBuilder, which validates; so of every Graph holds:
//   - every id is in range; names of tensors are unique
//   - a tensor has at most one producer and is in its outputs; constants, inputs and state have none
//   - nodes are in a topological order ("the order as given"): producers before readers
//   - sizes are those of dtype and shape, and their sum is below limits::kMaxTotalBytes
class Graph {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const IdVector<NodeId, Node>& nodes() const { return nodes_; }
  [[nodiscard]] const IdVector<TensorId, Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id]; }
  [[nodiscard]] const Operator& op(NodeId id) const { return operators_[nodes_[id].op]; }
  [[nodiscard]] const IdVector<OperatorId, Operator>& operators() const { return operators_; }

  // In the caller's order. `outputs` may name an input or constant, or the same tensor twice.
  [[nodiscard]] const std::vector<TensorId>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<TensorId>& outputs() const { return outputs_; }

  // What replaces the content of state tensors after a run; each state at most once, sorted by state.
  [[nodiscard]] const std::vector<StateUpdate>& state_updates() const { return state_updates_; }
  // Whether the bytes of a tensor must hold until the end of the run.
  [[nodiscard]] bool is_needed_at_end(TensorId id) const {
    return tensors_[id].role == Role::output || tensors_[id].is_next_state;
  }

  // What a step of a node reads: its inputs that are present, in order and with repetitions; then the captures of its
  // bodies that are not among them, ascending. O(inputs + captures).
  [[nodiscard]] std::vector<TensorId> operands(NodeId id) const;
  // What a node reads, each tensor once, in ascending id: its inputs and the captures of its bodies.
  [[nodiscard]] std::span<const TensorId> reads(NodeId id) const { return slice(reads_, read_begin_, id.index()); }
  // Nodes that read a tensor, each once, in ascending id.
  [[nodiscard]] std::span<const NodeId> readers(TensorId id) const {
    return slice(readers_, reader_begin_, id.index());
  }

  // Integer content known before the run (row-major), for small tensors only: axes, shapes, split sizes.
  // nullptr if unknown.
  [[nodiscard]] const std::vector<std::int64_t>* known_integers(TensorId id) const;

  // Nodes and tensors of this graph and of all bodies inside it.
  [[nodiscard]] std::int64_t total_nodes() const { return total_nodes_; }
  [[nodiscard]] std::int64_t total_tensors() const { return total_tensors_; }
  // How deep bodies nest: 0 without bodies; at most limits::kMaxBodyNesting.
  [[nodiscard]] int body_nesting() const { return body_nesting_; }

 private:
  friend class GraphBuilder;
  Graph() = default;

  template <typename T>
  static std::span<const T> slice(const std::vector<T>& pool, const std::vector<std::uint32_t>& begin, std::size_t at) {
    return {pool.data() + begin[at], pool.data() + begin[at + 1]};
  }

  std::string name_;
  IdVector<NodeId, Node> nodes_;
  IdVector<TensorId, Tensor> tensors_;
  IdVector<OperatorId, Operator> operators_;
  std::vector<TensorId> inputs_;
  std::vector<TensorId> outputs_;
  std::vector<StateUpdate> state_updates_;
  std::vector<TensorId> reads_;            // pool; reads of node i: [read_begin_[i], read_begin_[i + 1])
  std::vector<std::uint32_t> read_begin_;  // nodes + 1
  std::vector<NodeId> readers_;
  std::vector<std::uint32_t> reader_begin_;                            // tensors + 1
  std::vector<std::pair<TensorId, std::vector<std::int64_t>>> known_;  // sorted by id
  std::int64_t total_nodes_ = 0;
  std::int64_t total_tensors_ = 0;
  int body_nesting_ = 0;
};

}  // namespace lowtide
