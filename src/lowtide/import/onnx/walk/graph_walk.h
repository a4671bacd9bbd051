// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"
#include "lowtide/import/onnx/walk/findings.h"
#include "lowtide/import/onnx/walk/graph_values.h"

namespace lowtide::import_internal {

// A graph whose nodes have all been visited.
struct WalkedGraph {
  Graph graph;
  std::vector<NamedCapture> captures;
  std::vector<TensorFact> outputs;
  Findings findings;
};

// Turns one GraphProto into a Graph. It visits the nodes in topological order, asks infer_node for the facts of their
// outputs, and passes both to a GraphBuilder. A body is walked when its node is inferred, with the facts of its inputs.
// It finds the names of the outer graphs through `around`.
class GraphWalk {
 public:
  // `around`: the walk over the graph that contains this body, or nullptr. Both must outlive this object.
  GraphWalk(WalkContext& context, const onnx::GraphProto& graph, GraphWalk* around)
      : context_(context),
        graph_(graph),
        values_(context, graph, around == nullptr ? nullptr : &around->values_),
        has_open_input_(around != nullptr && around->has_open_input_) {}

  // Visits all nodes. `inputs` has one fact per input of the graph. An unknown size is a finding, not an error.
  [[nodiscard]] Result<void> visit_all(std::span<const TensorFact> inputs);
  // Makes the graph. Requires: visit_all() succeeded. Does not use the GraphProto, which may have been destroyed.
  [[nodiscard]] Result<WalkedGraph> finish();
  // What has been found so far.
  [[nodiscard]] const Findings& findings() { return values_.findings(); }

 private:
  struct WalkedBody {
    std::vector<TensorFact> inputs;  // the inputs that it was walked with
    WalkedGraph result;
  };
  struct FailedBody {
    Error error;
    bool is_of_sizes = false;
  };
  // The bodies of one node, by attribute. A body that failed is not walked again.
  struct NodeBodies {
    std::map<int, WalkedBody> walked;
    std::map<int, FailedBody> failed;
  };

  Result<void> add_inputs(std::span<const TensorFact> inputs);
  Result<void> add_initializers();
  Result<void> visit(std::uint32_t index);
  Result<void> add_constant_node(std::uint32_t index);
  using Inputs = std::vector<const TensorFact*>;  // nullptr for an omitted input
  Result<std::vector<TensorFact>> infer(std::uint32_t index, NodeBodies& bodies);
  Result<std::vector<TensorFact>> infer_with_bodies(const onnx::NodeProto& node, const Inputs& inputs,
                                                    NodeBodies& bodies);
  Result<std::vector<TensorFact>> walk_body(const onnx::NodeProto& node, int attribute,
                                            std::span<const TensorFact> inputs, NodeBodies& bodies);
  Result<void> add_node(std::uint32_t index, std::vector<TensorFact> facts, NodeBodies&& bodies);
  void make_captured_tensors(std::uint32_t index, const NodeBodies& bodies);
  std::vector<Body> take_bodies(const onnx::NodeProto& node, NodeBodies&& bodies);
  Result<void> merge_output(std::uint32_t name, const onnx::TypeProto* declared, TensorFact& fact);
  Result<void> merge_body_input(std::uint32_t name, const onnx::TypeProto& declared, TensorFact& fact);
  Result<void> add_outputs();
  [[nodiscard]] UnknownSize::Cause cause_of_unknown(std::uint32_t index, const NodeBodies& bodies) const;

  [[nodiscard]] std::string place_of(std::uint32_t node) const;
  [[nodiscard]] std::string shown(std::uint32_t name) const { return values_.shown(name); }
  [[nodiscard]] const Wiring& wiring() const { return values_.wiring(); }

  WalkContext& context_;
  const onnx::GraphProto& graph_;
  GraphValues values_;
  bool has_open_input_;                           // of a body or one around it: a size of an input is not known
  std::vector<const onnx::TypeProto*> declared_;  // by name; nullptr if no type is declared
  std::vector<TensorFact> outputs_;               // of a body
};

}  // namespace lowtide::import_internal
