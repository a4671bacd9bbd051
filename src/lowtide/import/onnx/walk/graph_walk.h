// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/builder.h"
#include "lowtide/import/onnx/inference/infer_node.h"
#include "lowtide/import/onnx/proto/constants.h"
#include "lowtide/import/onnx/proto/opsets.h"
#include "lowtide/import/onnx/proto/types.h"
#include "lowtide/import/onnx/walk/findings.h"
#include "lowtide/import/onnx/walk/wiring.h"

namespace lowtide::import_internal {

// What all walks over one model share.
struct WalkContext {
  const OpsetScopes& opsets;
  int ir_version;
  Dims dims;              // symbols that are bound
  ContentBudget content;  // known content that is held at a time
  FreeNames free_names;

  // Bodies may be inferred more than once (a Loop, until the sizes of what it carries are stable), which multiplies
  // along nested loops; and contents are computed. What is left of the work that a model of this size may cause:
  std::int64_t node_visits_left;
  std::int64_t content_work_left;  // elements

  // Whether the error that is on its way is an operator's, whose sizes do not fit each other: then the graph cannot
  // run. What else is wrong, such as a declared size, proves nothing of the kind.
  bool is_error_of_sizes = false;
};

// A tensor that a body takes from the graph around it.
struct NamedCapture {
  std::uint32_t outer_name = 0;  // in the wiring of the graph around
  TensorId inner;
};

// A graph whose nodes have all been visited.
struct WalkedGraph {
  Graph graph;
  std::vector<NamedCapture> captures;
  std::vector<TensorFact> outputs;
  Findings findings;
};

// Turns one GraphProto into a Graph: visits its nodes in topological order, asks infer_node for the facts of their
// outputs, and gives both to a GraphBuilder. A body is walked when the node that holds it is inferred, with what is
// known of its inputs then; it sees the names of the graphs around through `around`.
class GraphWalk {
 public:
  // `around`: the walk over the graph that holds this body, or nullptr. Both outlive this.
  GraphWalk(WalkContext& context, const onnx::GraphProto& graph, GraphWalk* around)
      : context_(context), graph_(graph), around_(around), builder_(graph.name()) {}

  // Visits everything. `inputs`: one fact for each input of the graph. What is not known is a finding, not an error.
  [[nodiscard]] Result<void> visit_all(std::span<const TensorFact> inputs);
  // Makes the graph. Require: visit_all was content. The GraphProto is not used any more, and may be gone.
  [[nodiscard]] Result<WalkedGraph> finish();

 private:
  // A name that has been made. What is captured becomes a tensor when something that may run uses it: a branch that
  // never runs asks for facts, too, and what only such a branch captures is no part of the graph.
  struct Value {
    TensorFact fact;
    std::optional<TensorId> tensor;
    std::uint32_t reads_left = 0;  // at 0 the fact is forgotten
    bool is_made = false;
    bool is_constant = false;
  };
  struct WalkedBody {
    std::vector<TensorFact> inputs;  // that it was walked with
    WalkedGraph result;
  };
  struct FailedBody {
    Error error;
    bool is_of_sizes = false;
  };
  // Of one node, by attribute. A body that failed once is not walked again.
  struct NodeBodies {
    std::map<int, WalkedBody> walked;
    std::map<int, FailedBody> failed;
  };

  Result<void> add_inputs(std::span<const TensorFact> inputs);
  Result<void> add_initializers();
  Result<void> visit(std::uint32_t index);
  Result<void> add_constant_node(std::uint32_t index);
  using Inputs = std::vector<const TensorFact*>;  // nullptr: left out
  Result<std::vector<TensorFact>> infer(std::uint32_t index, NodeBodies& bodies);
  Result<std::vector<TensorFact>> ask(const onnx::NodeProto& node, const Inputs& inputs, NodeBodies& bodies);
  Result<std::vector<TensorFact>> walk_body(const onnx::NodeProto& node, int attribute,
                                            std::span<const TensorFact> inputs, NodeBodies& bodies);
  Result<void> add_node(std::uint32_t index, std::vector<TensorFact> facts, NodeBodies&& bodies);
  void make_captured_tensors(std::uint32_t index, const NodeBodies& bodies);
  std::vector<Body> take_bodies(const onnx::NodeProto& node, NodeBodies&& bodies);
  Result<void> merge_output(std::uint32_t name, const onnx::TypeProto* declared, TensorFact& fact);
  Result<void> add_outputs();
  [[nodiscard]] UnknownSize::Origin origin_of_unknown(std::uint32_t index, const NodeBodies& bodies) const;

  // The value of a name: made in this graph, or captured from one around. nullptr: nothing makes it.
  Value* value_of(std::uint32_t name);
  // The tensor of a value in this graph, which is captured now if it has not been before. Requires: the value is made,
  // and its fact is not forgotten.
  TensorId tensor_of(std::uint32_t name);
  Result<void> require(std::span<const std::uint32_t> names, const std::string& place);
  bool is_made_around(std::string_view name) const;

  struct Origin {
    Role role = Role::temporary;
    UnknownSize::Origin unknown = UnknownSize::Origin::inherited;
    std::string_view maker;  // place; empty for an input
  };
  Result<void> add_tensor(std::uint32_t name, TensorFact fact, const Origin& origin);
  void note_findings(std::uint32_t name, const TensorFact& fact, const Origin& origin);
  void set_known_integers(TensorId tensor, const TensorFact& fact, Role role);
  Result<void> limit_content(TensorFact& fact);
  void release(std::span<const std::uint32_t> names);
  void forget_if_unread(Value& value);

  [[nodiscard]] std::string place_of(std::uint32_t node) const;
  [[nodiscard]] std::string shown(std::uint32_t name) const;

  WalkContext& context_;
  const onnx::GraphProto& graph_;
  GraphWalk* around_;
  GraphBuilder builder_;
  Wiring wiring_;
  std::vector<Value> values_;                     // by name
  std::vector<const onnx::TypeProto*> declared_;  // by name; nullptr: no type is declared
  std::vector<NamedCapture> captures_;
  std::vector<TensorFact> outputs_;  // of a body
  Findings findings_;
};

}  // namespace lowtide::import_internal
