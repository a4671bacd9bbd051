// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/verify/plan/subject.h"

namespace lowtide {
namespace {

using verify_internal::Findings;

std::string operator_name(const Operator& op) { return op.domain.empty() ? op.type : op.domain + "::" + op.type; }

std::string type_of(DType dtype, const Shape& shape) { return std::string(to_string(dtype)) + to_string(shape); }

// The names of one graph, then those of the bodies inside it.
class LabelCheck {
 public:
  LabelCheck(const Graph& graph, const Labels& labels, Findings& findings)
      : graph_(graph), labels_(labels), findings_(findings) {}

  // Recursion over bodies, whose nesting each Graph bounds.
  void check() {
    if (labels_.nodes.size() != graph_.nodes().size() || labels_.tensors.size() != graph_.tensors().size()) {
      return wrong({}, "the plan names " + std::to_string(labels_.nodes.size()) + " nodes and " +
                           std::to_string(labels_.tensors.size()) + " tensors; the graph has " +
                           std::to_string(graph_.nodes().size()) + " and " + std::to_string(graph_.tensors().size()));
    }
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (findings_.is_full()) return;
      check_node(id);
    }
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (findings_.is_full()) return;
      check_tensor(id);
    }
    check_bodies();
  }

 private:
  void wrong(std::vector<TensorId> tensors, std::string message) {
    findings_.add({.kind = ViolationKind::wrong_model, .tensors = std::move(tensors), .message = std::move(message)});
  }

  void differ(const std::string& what, std::vector<TensorId> tensors, const std::string& said,
              const std::string& found) {
    wrong(std::move(tensors), "the plan says that " + what + " is " + said + "; in the graph it is " + found);
  }

  void check_node(NodeId id) {
    const NodeLabel& said = labels_.nodes[id];
    const std::string node = "node " + std::to_string(id.value());
    const std::string op = operator_name(graph_.op(id));
    if (said.name != graph_.node(id).name)
      differ("the name of " + node, {}, quoted(said.name), quoted(graph_.node(id).name));
    if (said.op != op) differ("the operator of " + node, {}, quoted(said.op), quoted(op));
  }

  void check_tensor(TensorId id) {
    const TensorLabel& said = labels_.tensors[id];
    const Tensor& tensor = graph_.tensor(id);
    const std::string name = "tensor " + std::to_string(id.value());
    if (said.name != tensor.name) differ("the name of " + name, {id}, quoted(said.name), quoted(tensor.name));
    if (said.dtype != tensor.dtype || said.shape != tensor.shape) {
      differ("the type of " + name, {id}, type_of(said.dtype, said.shape), type_of(tensor.dtype, tensor.shape));
    }
    if (said.role != tensor.role) {
      differ("the role of " + name, {id}, std::string(to_string(said.role)), std::string(to_string(tensor.role)));
    }
    if (said.size != tensor.size && said.dtype == tensor.dtype && said.shape == tensor.shape) {
      differ("the size of " + name, {id}, std::to_string(said.size.count()) + " bytes",
             std::to_string(tensor.size.count()) + " bytes");
    }
  }

  // Labels list the bodies by node, and those of one node in the order of the node.
  void check_bodies() {
    std::size_t next = 0;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      for (const Body& body : graph_.node(id).bodies) {
        if (findings_.is_full()) return;
        const std::string name = "body " + quoted(body.name) + " of node " + std::to_string(id.value());
        if (next == labels_.bodies.size() || labels_.bodies[next].node != id || labels_.bodies[next].body != body.name)
          return wrong({}, "the plan does not name the nodes and tensors of " + name);
        findings_.enter_body("node " + std::to_string(id.value()) + " " + quoted(graph_.node(id).name) + ": " +
                             quoted(body.name));
        LabelCheck(*body.graph, labels_.bodies[next].labels, findings_).check();
        findings_.leave_body();
        ++next;
      }
    }
    if (next < labels_.bodies.size()) {
      wrong({}, "the plan names body " + quoted(labels_.bodies[next].body) + " of node " +
                    std::to_string(labels_.bodies[next].node.value()) + ", which the graph does not have");
    }
  }

  const Graph& graph_;
  const Labels& labels_;
  Findings& findings_;
};

}  // namespace

std::vector<Violation> verify_labels(const Graph& graph, const Labels& labels, const VerifyOptions& options) {
  Findings findings(options);
  LabelCheck(graph, labels, findings).check();
  return std::move(findings).take();
}

}  // namespace lowtide
