// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/walk/graph_walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/attributes.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
namespace {

using onnx::NodeProto;

bool is_constant_node(const NodeProto& node) {
  return node.op_type() == "Constant" && normalized_domain(node.domain()).empty();
}

// Whether what is declared and what is made differ in sizes alone.
bool differs_in_sizes(const Result<TensorFact>& declared, const TensorFact& made) {
  if (!declared || declared->is_tensor != made.is_tensor) return false;
  return !declared->known.dtype || declared->known.dtype == made.known.dtype;
}

bool begins_here(const UnknownSize& unknown) { return unknown.origin == UnknownSize::Origin::node; }

}  // namespace

Result<void> GraphWalk::visit_all(std::span<const TensorFact> inputs) {
  if (static_cast<int>(inputs.size()) != graph_.input_size()) {
    return Error{ErrorCode::invalid,
                 "has " + counted(static_cast<std::size_t>(graph_.input_size()), "input") + ", but its node gives it " +
                     std::to_string(inputs.size()),
                 place_of_graph(graph_.name())};
  }
  Result<Wiring> wiring = Wiring::make(graph_, context_.free_names);
  if (!wiring) return wiring.error();
  wiring_ = *std::move(wiring);
  if (!wiring_.was_sorted) findings_.sorted_graphs.push_back(quoted(graph_.name()));
  values_.resize(wiring_.names.size());
  declared_.resize(wiring_.names.size(), nullptr);
  for (std::size_t name = 0; name < values_.size(); ++name) values_[name].reads_left = wiring_.names[name].reads;
  for (const auto* declarations : {&graph_.value_info(), &graph_.output()}) {
    for (const onnx::ValueInfoProto& value : *declarations) {
      if (const std::optional<std::uint32_t> name = wiring_.find(value.name())) declared_[*name] = &value.type();
    }
  }
  LOWTIDE_RETURN_IF_ERROR(add_inputs(inputs));
  LOWTIDE_RETURN_IF_ERROR(add_initializers());
  for (std::uint32_t index : wiring_.order) LOWTIDE_RETURN_IF_ERROR(visit(index));
  LOWTIDE_RETURN_IF_ERROR(add_outputs());
  // Building a large graph needs the memory.
  values_ = {};
  declared_ = {};
  wiring_ = {};
  return {};
}

Result<WalkedGraph> GraphWalk::finish() {
  Result<Graph> graph = std::move(builder_).build();
  if (!graph) return graph.error();
  return WalkedGraph{*std::move(graph), std::move(captures_), std::move(outputs_), std::move(findings_)};
}

Result<void> GraphWalk::add_inputs(std::span<const TensorFact> inputs) {
  Origin origin{.role = Role::input};
  origin.unknown = around_ == nullptr ? UnknownSize::Origin::input : UnknownSize::Origin::inherited;
  for (int at = 0; at < graph_.input_size(); ++at) {
    const onnx::ValueInfoProto& input = graph_.input(at);
    const std::uint32_t name = wiring_.index_of.at(input.name());
    if (wiring_.names[name].source != Source::input) continue;  // has a standard value
    TensorFact fact = inputs[static_cast<std::size_t>(at)];
    const Result<void> merged = merge_declared(input.type(), context_.dims, fact);
    if (!merged) return located(merged.error(), place_of_graph(graph_.name()), "input " + quoted(input.name()));
    const Result<void> added = add_tensor(name, std::move(fact), origin);
    if (!added) return located(added.error(), place_of_graph(graph_.name()));
  }
  return {};
}

Result<void> GraphWalk::add_initializers() {
  const Origin origin{.role = Role::constant};
  const auto add = [&](const std::string& text, Result<TensorFact> fact) -> Result<void> {
    const std::string place = place_of_graph(graph_.name()) + ": initializer " + quoted(text);
    if (!fact) return located(fact.error(), place);
    const std::uint32_t name = wiring_.index_of.at(text);
    if (declared_[name] != nullptr) {
      const Result<void> merged = merge_declared(*declared_[name], context_.dims, *fact);
      if (!merged) return located(merged.error(), place);
    }
    const Result<void> added = add_tensor(name, *std::move(fact), origin);
    if (!added) return located(added.error(), place_of_graph(graph_.name()));
    return {};
  };
  for (const onnx::ValueInfoProto& input : graph_.input()) {
    const std::uint32_t name = wiring_.index_of.at(input.name());
    if (wiring_.names[name].source == Source::input) continue;
    declared_[name] = &input.type();
    if (context_.ir_version >= 4) findings_.standard_values.push_back(quoted(input.name()));
  }
  for (const onnx::TensorProto& tensor : graph_.initializer()) {
    LOWTIDE_RETURN_IF_ERROR(add(tensor.name(), fact_from_tensor(tensor, context_.content)));
  }
  for (const onnx::SparseTensorProto& tensor : graph_.sparse_initializer()) {
    LOWTIDE_RETURN_IF_ERROR(add(tensor.values().name(), fact_from_sparse(tensor)));
  }
  return {};
}

Result<void> GraphWalk::visit(std::uint32_t index) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  if (--context_.node_visits_left < 0) {
    return Error{ErrorCode::over_limit,
                 "the bodies of nested loops would have to be inferred too often (node_visits_left)", place_of(index)};
  }
  if (is_constant_node(node)) return add_constant_node(index);
  LOWTIDE_RETURN_IF_ERROR(require(wiring_.inputs(index), place_of(index)));
  if (!wiring_.captured(index).empty()) LOWTIDE_RETURN_IF_ERROR(require(wiring_.captured(index), place_of(index)));
  NodeBodies bodies;
  Result<std::vector<TensorFact>> facts = infer(index, bodies);
  if (!facts) return located(facts.error(), place_of(index));
  LOWTIDE_CHECK(facts->size() == static_cast<std::size_t>(node.output_size()), "a fact for each output of a node");
  LOWTIDE_RETURN_IF_ERROR(add_node(index, *std::move(facts), std::move(bodies)));
  release(wiring_.inputs(index));
  release(wiring_.captured(index));
  return {};
}

// A Constant is a constant, not a node: its output is as if it were an initializer.
Result<void> GraphWalk::add_constant_node(std::uint32_t index) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  Result<TensorFact> fact = fact_from_constant_node(node, context_.content);
  if (!fact) return located(fact.error(), place_of(index));
  const std::uint32_t name = wiring_.outputs(index)[0];  // check_operators: one output, not left out
  const Result<void> merged = merge_output(name, declared_[name], *fact);
  if (!merged) return located(merged.error(), place_of(index), "output " + shown(name));
  const Result<void> added = add_tensor(name, *std::move(fact), {.role = Role::constant});
  if (!added) return located(added.error(), place_of(index));
  return {};
}

Result<void> GraphWalk::add_node(std::uint32_t index, std::vector<TensorFact> facts, NodeBodies&& bodies) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  const std::span<const std::uint32_t> outputs = wiring_.outputs(index);
  GraphBuilder::NodeSpec spec{node.name(), normalized_domain(node.domain()), node.op_type()};
  for (std::uint32_t name : wiring_.inputs(index)) {
    spec.inputs.push_back(name == Wiring::kLeftOut ? std::nullopt : std::optional(tensor_of(name)));
  }
  make_captured_tensors(index, bodies);
  std::string place;  // made only where something refers to it
  Origin origin{.role = Role::temporary};
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (outputs[at] == Wiring::kLeftOut) {
      spec.outputs.push_back(std::nullopt);
      continue;
    }
    const Result<void> merged = merge_output(outputs[at], declared_[outputs[at]], facts[at]);
    if (!merged) return located(merged.error(), place_of(index), "output " + shown(outputs[at]));
    if (around_ != nullptr && is_made_around(wiring_.names[outputs[at]].text)) {
      return Error{ErrorCode::invalid, "makes " + shown(outputs[at]) + ", a name that a graph around has already",
                   place_of(index)};
    }
    if (!is_sized(facts[at]) || !facts[at].known.dtype || facts[at].known.dtype == DType::string) {
      if (place.empty()) place = place_of(index);
      origin.maker = place;
      origin.unknown = origin_of_unknown(index, bodies);
    }
    const Result<void> added = add_tensor(outputs[at], std::move(facts[at]), origin);
    if (!added) return located(added.error(), place_of(index));
    spec.outputs.push_back(values_[outputs[at]].tensor);
  }
  Result<std::vector<Attribute>> attributes = attributes_of(node);
  if (!attributes) return located(attributes.error(), place_of(index));
  spec.attributes = *std::move(attributes);
  spec.bodies = take_bodies(node, std::move(bodies));
  builder_.add_node(std::move(spec));
  return {};
}

// Declared sizes inside a body are often left over from other sizes, and runtimes run such a body by what its operators
// say. So does this: a body left out for a stale word would be missing from the plan.
Result<void> GraphWalk::merge_output(std::uint32_t name, const onnx::TypeProto* declared, TensorFact& fact) {
  if (declared == nullptr) return {};
  if (around_ == nullptr) return merge_declared(*declared, context_.dims, fact);
  TensorFact merged = fact;
  Result<void> outcome = merge_declared(*declared, context_.dims, merged);
  if (outcome.ok()) {
    fact = std::move(merged);
  } else if (differs_in_sizes(fact_from_type(*declared, context_.dims), fact)) {
    findings_.stale_sizes.push_back(shown(name) + " of " + place_of_graph(graph_.name()) + " " +
                                    outcome.error().message);
  } else {
    return outcome;
  }
  return {};
}

// Where an unknown size of a node's output begins: here, or before, or in a body.
UnknownSize::Origin GraphWalk::origin_of_unknown(std::uint32_t index, const NodeBodies& bodies) const {
  const auto is_known = [&](std::uint32_t name) { return name == Wiring::kLeftOut || is_sized(values_[name].fact); };
  const auto inputs = wiring_.inputs(index);
  const auto captured = wiring_.captured(index);
  bool is_first =
      std::all_of(inputs.begin(), inputs.end(), is_known) && std::all_of(captured.begin(), captured.end(), is_known);
  for (const auto& [attribute, body] : bodies.walked) {
    const std::vector<UnknownSize>& unknown = body.result.findings.unknown;
    is_first = is_first && std::none_of(unknown.begin(), unknown.end(), begins_here);
  }
  return is_first ? UnknownSize::Origin::node : UnknownSize::Origin::inherited;
}

Result<void> GraphWalk::add_outputs() {
  std::vector<TensorId> tensors;
  for (const onnx::ValueInfoProto& output : graph_.output()) {
    const std::uint32_t name = wiring_.index_of.at(output.name());
    Value* value = value_of(name);
    if (value == nullptr) {
      return Error{ErrorCode::invalid,
                   "output " + quoted(output.name()) +
                       " of the graph is never made: no node, input or initializer has this name",
                   place_of_graph(graph_.name())};
    }
    if (wiring_.names[name].source != Source::node) {  // else its node was checked
      TensorFact fact = value->fact;
      const Result<void> merged = merge_output(name, &output.type(), fact);
      if (!merged) return located(merged.error(), place_of_graph(graph_.name()), "output " + quoted(output.name()));
    }
    tensors.push_back(tensor_of(name));
    if (around_ != nullptr) outputs_.push_back(value->fact);
  }
  builder_.set_outputs(std::move(tensors));
  return {};
}

std::string GraphWalk::place_of(std::uint32_t node) const {
  return place_of_node(graph_.name(), node, graph_.node(static_cast<int>(node)));
}

std::string GraphWalk::shown(std::uint32_t name) const { return quoted(wiring_.names[name].text); }

}  // namespace lowtide::import_internal
