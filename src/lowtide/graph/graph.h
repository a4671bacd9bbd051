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
#include "lowtide/base/enum_names.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/attribute.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/graph/operator_traits.h"
#include "lowtide/graph/shape.h"

namespace lowtide {

using NodeId = Id<struct NodeTag>;
using TensorId = Id<struct TensorTag>;
using OperatorId = Id<struct OperatorTag>;

class Graph;

// What a tensor is for the caller. It is stated explicitly, never derived from a name.
//   input      given by the caller, never written
//   output     produced by a node and returned to the caller; its bytes must be kept until the end of the run
//   constant   known before the run, never written (weights, folded shapes)
//   state      kept from one run to the next
//   temporary  every other tensor
// A graph output that is an input or a constant keeps that role.
enum class Role : std::uint8_t { input, output, constant, state, temporary };

template <>
inline constexpr auto kEnumNames<Role> = enum_names<Role>({{Role::input, "input"},
                                                           {Role::output, "output"},
                                                           {Role::constant, "constant"},
                                                           {Role::state, "state"},
                                                           {Role::temporary, "temporary"}});

struct Operator {
  std::string domain;  // "" for the standard ONNX domain
  std::string type;    // "Conv"
  OperatorTraits traits;
};

// "Conv", or "domain::Type" outside the standard domain.
[[nodiscard]] inline std::string full_name(const Operator& op) {
  return op.domain.empty() ? op.type : op.domain + "::" + op.type;
}

struct Tensor {
  std::string name;  // as in the source file, any bytes; unique in its graph, not empty
  DType dtype = DType::f32;
  Role role = Role::temporary;
  bool is_captured = false;    // represents, in a body, a tensor of an outer graph
  bool is_next_state = false;  // a state takes over its content after the run (StateUpdate)
  Shape shape;
  Bytes size;                      // dense row-major; an upper bound if shape.has_upper_bounds()
  std::optional<NodeId> producer;  // present if and only if the role is output or temporary
  // Where the bytes of a constant are, in the ConstantTable of the model. Only a constant that is not captured can
  // have it. nullopt if the graph has no table, or if only known_integers() states the content.
  std::optional<ConstantId> constant;
};

// A graph that a node runs: a branch of an If, or the body of a Loop or Scan.
struct Body {
  std::string name;  // name of the attribute: "then_branch", "body"
  std::shared_ptr<const Graph> graph;
  // Tensors of the outer graph that the body, or a body inside it, reads: (outer, inner). Sorted.
  std::vector<std::pair<TensorId, TensorId>> captures;
};

struct Node {
  std::string name;  // as in the source file; may be empty or used by several nodes
  OperatorId op;
  std::vector<std::optional<TensorId>> inputs;   // nullopt: an omitted optional input
  std::vector<std::optional<TensorId>> outputs;  // nullopt: an omitted optional output
  std::vector<NodeId> control_inputs;            // nodes that must run before this one
  std::vector<Attribute> attributes;
  std::vector<Body> bodies;
};

// After a run, `state` holds the content that `next` has at the end of the run. Nodes of the run may read the old
// content of `state`.
struct StateUpdate {
  TensorId state;  // role state
  TensorId next;   // another tensor with the same dtype and size; not an updated state
  friend bool operator==(const StateUpdate&, const StateUpdate&) = default;
};

// An immutable operator graph. GraphBuilder makes and validates it, so these statements hold for every Graph:
//   - Every id is in range, and names of tensors are unique.
//   - A tensor has at most one producer, whose outputs contain it. Inputs, constants and states have none.
//   - Nodes are in a topological order: producers before readers. This is the order as given.
//   - The size of a tensor follows from its dtype and shape. All sizes add up to at most limits::kMaxTotalBytes.
class Graph {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const IdVector<NodeId, Node>& nodes() const { return nodes_; }
  [[nodiscard]] const IdVector<TensorId, Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id]; }
  [[nodiscard]] const Operator& op(NodeId id) const { return operators_[nodes_[id].op]; }
  [[nodiscard]] const IdVector<OperatorId, Operator>& operators() const { return operators_; }

  // In the caller's order. An output may be an input or constant, and a tensor may be listed twice.
  [[nodiscard]] const std::vector<TensorId>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<TensorId>& outputs() const { return outputs_; }

  // The tensors that replace the content of states after a run. Sorted by state, each state at most once.
  [[nodiscard]] const std::vector<StateUpdate>& state_updates() const { return state_updates_; }
  // Whether the bytes of a tensor must be kept until the end of the run.
  [[nodiscard]] bool is_needed_at_end(TensorId id) const {
    return tensors_[id].role == Role::output || tensors_[id].is_next_state;
  }

  // The tensors that a step of the node reads: the inputs that are present, in order and with repetitions, then the
  // captures of its bodies that are not among these inputs, ascending. O(inputs + captures).
  [[nodiscard]] std::vector<TensorId> operands(NodeId id) const;
  // The inputs of a node and the captures of its bodies, each tensor once, ascending.
  [[nodiscard]] std::span<const TensorId> reads(NodeId id) const { return slice(reads_, read_begin_, id.index()); }
  // The nodes that read a tensor, each once, ascending.
  [[nodiscard]] std::span<const NodeId> readers(TensorId id) const {
    return slice(readers_, reader_begin_, id.index());
  }

  // Integer content, row-major, of small tensors that are known before the run: axes, shapes, split sizes. Returns
  // nullptr if it is not known.
  [[nodiscard]] const std::vector<std::int64_t>* known_integers(TensorId id) const;

  // Number of nodes and tensors of this graph and of all bodies inside it.
  [[nodiscard]] std::int64_t total_nodes() const { return total_nodes_; }
  [[nodiscard]] std::int64_t total_tensors() const { return total_tensors_; }
  // Depth of nested bodies: 0 without bodies, at most limits::kMaxBodyNesting.
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
