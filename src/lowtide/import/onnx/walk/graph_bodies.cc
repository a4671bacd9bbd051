// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// How a walk asks what is known of a node's outputs, and walks the bodies that the answer needs.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/walk/graph_walk.h"

namespace lowtide::import_internal {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using Facts = std::vector<TensorFact>;

bool is_if(const NodeProto& node) {
  return node.op_type() == "If" && normalized_domain(node.domain()).empty() && node.input_size() == 1;
}

std::optional<int> attribute_named(const NodeProto& node, const std::string& name) {
  for (int at = 0; at < node.attribute_size(); ++at) {
    if (node.attribute(at).name() == name) return at;
  }
  return std::nullopt;
}

// The branch of an If that its condition, known before the run, never takes. Exporters leave such branches behind, with
// shapes that could not work; like all that never runs, they are no part of the graph.
std::optional<int> branch_never_taken(const NodeProto& node, const TensorFact& condition) {
  const KnownContent* content = condition.known.content.get();
  if (content == nullptr || content->elements.size() != 1) return std::nullopt;
  if (content->elements[0].knowledge != Knowledge::exact) return std::nullopt;
  return attribute_named(node, content->elements[0].integer != 0 ? "else_branch" : "then_branch");
}

}  // namespace

Result<Facts> GraphWalk::infer(std::uint32_t index, NodeBodies& bodies) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  Inputs inputs;
  inputs.reserve(wiring_.inputs(index).size());
  for (std::uint32_t name : wiring_.inputs(index)) {
    inputs.push_back(name == Wiring::kLeftOut ? nullptr : &values_[name].fact);
  }
  Result<Facts> facts = ask(node, inputs, bodies);
  if (!facts || !is_if(node)) return facts;
  if (const std::optional<int> branch = branch_never_taken(node, *inputs[0])) {
    bodies.walked.erase(*branch);
    findings_.dead_branches.push_back(quoted(node.name()));
    return facts;
  }
  // infer_node has an answer though a branch failed: no run survives that branch, so every run takes the other one. A
  // branch that is malformed, whatever the sizes, is refused all the same.
  for (const auto& [branch, failed] : bodies.failed) {
    if (!failed.is_of_sizes) return failed.error;
    findings_.impossible_branches.push_back(quoted(node.attribute(branch).name()) + " of " + quoted(node.name()) +
                                            " (" + failed.error.describe() + ")");
  }
  context_.is_error_of_sizes = false;  // that error has ended here
  return facts;
}

Result<Facts> GraphWalk::ask(const NodeProto& node, const Inputs& inputs, NodeBodies& bodies) {
  const InferBody infer_body = [&](const GraphProto& body, std::span<const TensorFact> given) {
    int attribute = 0;
    while (attribute < node.attribute_size() && &node.attribute(attribute).g() != &body) ++attribute;
    LOWTIDE_CHECK(attribute < node.attribute_size(), "a body is inferred under its own address");
    return walk_body(node, attribute, given, bodies);
  };
  Result<Facts> facts = infer_node(node, inputs, context_.opsets.of(node), infer_body);
  if (!facts) {
    const bool is_of_a_body = !bodies.failed.empty();
    context_.is_error_of_sizes =
        is_of_a_body ? bodies.failed.begin()->second.is_of_sizes : facts.error().code == ErrorCode::invalid;
    return facts;
  }
  // A body that the answer did not need is part of the graph all the same.
  for (int at = 0; at < node.attribute_size(); ++at) {
    if (!node.attribute(at).has_g() || bodies.walked.contains(at) || bodies.failed.contains(at)) continue;
    const Facts nothing(static_cast<std::size_t>(node.attribute(at).g().input_size()));
    const Result<Facts> walked = walk_body(node, at, nothing, bodies);
    if (!walked) return walked.error();
  }
  return facts;
}

// In the order in which the names stand in the wiring. Only what a walked body still holds is captured: `bodies` no
// longer has the branches that never run.
void GraphWalk::make_captured_tensors(std::uint32_t index, const NodeBodies& bodies) {
  std::vector<std::uint32_t> used;
  for (const auto& [attribute, body] : bodies.walked) {
    for (const NamedCapture& capture : body.result.captures) used.push_back(capture.outer_name);
  }
  std::sort(used.begin(), used.end());
  for (std::uint32_t name : wiring_.captured(index)) {
    if (std::binary_search(used.begin(), used.end(), name)) tensor_of(name);
  }
}

std::vector<Body> GraphWalk::take_bodies(const NodeProto& node, NodeBodies&& bodies) {
  std::vector<Body> taken;
  for (auto& [attribute, body] : bodies.walked) {
    findings_.append(std::move(body.result.findings));
    std::vector<std::pair<TensorId, TensorId>> captures;
    captures.reserve(body.result.captures.size());
    for (const NamedCapture& capture : body.result.captures) {
      captures.emplace_back(tensor_of(capture.outer_name), capture.inner);
    }
    std::sort(captures.begin(), captures.end());
    taken.push_back({node.attribute(attribute).name(), std::make_shared<const Graph>(std::move(body.result.graph)),
                     std::move(captures)});
  }
  return taken;
}

// The last walk over a body is the one that counts.
Result<Facts> GraphWalk::walk_body(const NodeProto& node, int attribute, std::span<const TensorFact> inputs,
                                   NodeBodies& bodies) {
  if (const auto failed = bodies.failed.find(attribute); failed != bodies.failed.end()) return failed->second.error;
  const auto known = bodies.walked.find(attribute);
  if (known != bodies.walked.end() &&
      std::equal(inputs.begin(), inputs.end(), known->second.inputs.begin(), known->second.inputs.end(), same_fact)) {
    return known->second.result.outputs;
  }
  context_.is_error_of_sizes = false;
  GraphWalk walk(context_, node.attribute(attribute).g(), this);
  const Result<void> visited = walk.visit_all(inputs);
  Result<WalkedGraph> walked = visited.ok() ? walk.finish() : Result<WalkedGraph>(visited.error());
  if (!walked) {
    bodies.failed.insert_or_assign(attribute, FailedBody{walked.error(), context_.is_error_of_sizes});
    return walked.error();
  }
  Facts outputs = walked->outputs;
  bodies.walked.insert_or_assign(attribute, WalkedBody{{inputs.begin(), inputs.end()}, *std::move(walked)});
  return outputs;
}

}  // namespace lowtide::import_internal
