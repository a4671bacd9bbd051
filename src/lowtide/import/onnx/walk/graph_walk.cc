// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/walk/graph_walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/inference/classical_sizes.h"
#include "lowtide/import/onnx/inference/infer_node.h"
#include "lowtide/import/onnx/proto/attributes.h"
#include "lowtide/import/onnx/proto/operator_meaning.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using Facts = std::vector<TensorFact>;

bool is_constant_node(const NodeProto& node) {
  return node.op_type() == "Constant" && normalized_domain(node.domain()).empty();
}

// Whether the declared fact and the computed fact differ in sizes only.
bool differs_in_sizes(const Result<TensorFact>& declared, const TensorFact& made) {
  if (!declared || declared->is_tensor != made.is_tensor) return false;
  return !declared->known.dtype || declared->known.dtype == made.known.dtype;
}

bool is_if(const NodeProto& node) {
  return node.op_type() == "If" && normalized_domain(node.domain()).empty() && node.input_size() == 1;
}

std::optional<int> attribute_named(const NodeProto& node, const std::string& name) {
  for (int at = 0; at < node.attribute_size(); ++at) {
    if (node.attribute(at).name() == name) return at;
  }
  return std::nullopt;
}

// Returns the branch of an If that never runs, because its condition is known before the run. Exporters leave such
// branches behind, often with sizes that cannot occur. They are not part of the graph.
std::optional<int> branch_never_taken(const NodeProto& node, const TensorFact& condition) {
  const KnownContent* content = condition.known.content.get();
  if (content == nullptr || content->elements.size() != 1) return std::nullopt;
  if (content->elements[0].knowledge != Knowledge::exact) return std::nullopt;
  return attribute_named(node, content->elements[0].integer != 0 ? "else_branch" : "then_branch");
}

bool begins_here(const UnknownSize& unknown) { return unknown.cause == UnknownSize::Cause::node; }

}  // namespace

Result<void> GraphWalk::visit_all(std::span<const TensorFact> inputs) {
  if (static_cast<int>(inputs.size()) != graph_.input_size()) {
    return Error{ErrorCode::invalid,
                 "the body has " + with_count(graph_.input_size(), "input") + ", but its node passes " +
                     std::to_string(inputs.size()),
                 place_of_graph(graph_.name())};
  }
  LOWTIDE_RETURN_IF_ERROR(values_.wire());
  declared_.resize(wiring().names.size(), nullptr);
  for (const auto* declarations : {&graph_.value_info(), &graph_.output()}) {
    for (const onnx::ValueInfoProto& value : *declarations) {
      if (const std::optional<std::uint32_t> name = wiring().find(value.name())) declared_[*name] = &value.type();
    }
  }
  LOWTIDE_RETURN_IF_ERROR(add_inputs(inputs));
  LOWTIDE_RETURN_IF_ERROR(add_initializers());
  for (std::uint32_t index : wiring().order) LOWTIDE_RETURN_IF_ERROR(visit(index));
  LOWTIDE_RETURN_IF_ERROR(add_outputs());
  declared_ = {};
  values_.forget_names();
  return {};
}

Result<WalkedGraph> GraphWalk::finish() {
  LOWTIDE_TRY(Graph graph, std::move(values_.builder()).build());
  return WalkedGraph{std::move(graph), std::move(values_.captures()), std::move(outputs_),
                     std::move(values_.findings())};
}

Result<void> GraphWalk::add_inputs(std::span<const TensorFact> inputs) {
  GraphValues::Declaration declaration{.role = Role::input};
  declaration.unknown = !values_.is_body() ? UnknownSize::Cause::input : UnknownSize::Cause::inherited;
  for (int at = 0; at < graph_.input_size(); ++at) {
    const onnx::ValueInfoProto& input = graph_.input(at);
    const std::uint32_t name = wiring().index_of.at(input.name());
    if (wiring().names[name].source != Source::input) continue;  // the initializer is its default value
    TensorFact fact = inputs[static_cast<std::size_t>(at)];
    const Result<void> merged = values_.is_body() ? merge_body_input(name, input.type(), fact)
                                                  : merge_declared(input.type(), context_.dims, fact);
    if (!merged) return located(merged.error(), place_of_graph(graph_.name()), "input " + quoted(input.name()));
    LOWTIDE_RETURN_IF_ERROR(context_.bounds.apply(input.name(), &input.type(), fact));
    if (!is_sized(fact)) (values_.is_body() ? has_open_input_ : context_.has_open_input) = true;
    const Result<TensorId> added = values_.add_tensor(name, std::move(fact), declaration);
    if (!added) return located(added.error(), place_of_graph(graph_.name()));
  }
  return {};
}

Result<void> GraphWalk::add_initializers() {
  std::map<std::uint32_t, const onnx::TypeProto*> input_types;  // of initializers that are listed as inputs
  const auto add = [&](const auto& tensor, const std::string& text, Result<TensorFact> fact) -> Result<void> {
    const std::string place = place_of_graph(graph_.name()) + ": initializer " + quoted(text);
    if (!fact) return located(fact.error(), place);
    const std::uint32_t name = wiring().index_of.at(text);
    if (wiring().names[name].source == Source::input) return {};  // the caller gives another value
    if (const auto input = input_types.find(name); input != input_types.end()) {
      const Result<void> merged = merge_declared(*input->second, context_.dims, *fact);
      if (!merged) return located(merged.error(), place);
    }
    const Result<void> merged = merge_output(name, declared_[name], *fact);
    if (!merged) return located(merged.error(), place);
    const Result<std::optional<ConstantId>> source = context_.constants.add(tensor, text, *fact);
    if (!source) return located(source.error(), place);
    const Result<TensorId> added =
        values_.add_tensor(name, *std::move(fact), {.role = Role::constant, .constant = *source});
    if (!added) return located(added.error(), place_of_graph(graph_.name()));
    return {};
  };
  for (const onnx::ValueInfoProto& input : graph_.input()) {
    const std::uint32_t name = wiring().index_of.at(input.name());
    if (wiring().names[name].source == Source::input) continue;
    input_types[name] = &input.type();
    if (context_.ir_version >= 4) values_.findings().default_values.push_back(input.name());
  }
  for (const onnx::TensorProto& tensor : graph_.initializer()) {
    LOWTIDE_RETURN_IF_ERROR(add(tensor, tensor.name(), fact_from_tensor(tensor, context_.content)));
  }
  for (const onnx::SparseTensorProto& tensor : graph_.sparse_initializer()) {
    LOWTIDE_RETURN_IF_ERROR(add(tensor, tensor.values().name(), fact_from_sparse(tensor, context_.content.file())));
  }
  return {};
}

Result<void> GraphWalk::visit(std::uint32_t index) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  if (--context_.node_visits_left < 0) {
    return Error{ErrorCode::over_limit,
                 "the bodies of nested loops need too many visits to infer their sizes (node_visits_left)",
                 place_of(index)};
  }
  if (is_constant_node(node)) return add_constant_node(index);
  LOWTIDE_RETURN_IF_ERROR(values_.require(wiring().inputs(index), place_of(index)));
  if (!wiring().captured(index).empty())
    LOWTIDE_RETURN_IF_ERROR(values_.require(wiring().captured(index), place_of(index)));
  NodeBodies bodies;
  Result<Facts> facts = infer(index, bodies);
  if (!facts) return located(facts.error(), place_of(index));
  LOWTIDE_CHECK(facts->size() == static_cast<std::size_t>(node.output_size()),
                "infer_node returns one fact per output");
  LOWTIDE_RETURN_IF_ERROR(add_node(index, *std::move(facts), std::move(bodies)));
  values_.release(wiring().inputs(index));
  values_.release(wiring().captured(index));
  return {};
}

// A Constant node becomes a constant and not a node. Its output is treated like an initializer.
Result<void> GraphWalk::add_constant_node(std::uint32_t index) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  Result<TensorFact> fact = fact_from_constant_node(node, context_.content);
  if (!fact) return located(fact.error(), place_of(index));
  const std::uint32_t name = wiring().outputs(index)[0];  // check_operators: a Constant has one output
  const Result<void> merged = merge_output(name, declared_[name], *fact);
  if (!merged) return located(merged.error(), place_of(index), "output " + shown(name));
  const Result<std::optional<ConstantId>> source =
      context_.constants.add_value(node.attribute(0), wiring().names[name].text, *fact);
  if (!source) return located(source.error(), place_of(index));
  const Result<TensorId> added =
      values_.add_tensor(name, *std::move(fact), {.role = Role::constant, .constant = *source});
  if (!added) return located(added.error(), place_of(index));
  return {};
}

Result<void> GraphWalk::add_node(std::uint32_t index, Facts facts, NodeBodies&& bodies) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  const std::span<const std::uint32_t> outputs = wiring().outputs(index);
  GraphBuilder::NodeSpec spec{node.name(), normalized_domain(node.domain()), node.op_type()};
  for (std::uint32_t name : wiring().inputs(index)) {
    spec.inputs.push_back(name == Wiring::kLeftOut ? std::nullopt : std::optional(values_.tensor_of(name)));
  }
  make_captured_tensors(index, bodies);
  std::string place;  // made only if it is needed
  GraphValues::Declaration declaration{.role = Role::temporary};
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (outputs[at] == Wiring::kLeftOut) {
      spec.outputs.push_back(std::nullopt);
      continue;
    }
    const Result<void> merged = merge_output(outputs[at], declared_[outputs[at]], facts[at]);
    if (!merged) return located(merged.error(), place_of(index), "output " + shown(outputs[at]));
    LOWTIDE_RETURN_IF_ERROR(context_.bounds.apply(wiring().names[outputs[at]].text, declared_[outputs[at]], facts[at]));
    if (context_.has_open_input) values_.forget_useless_bounds(outputs[at], facts[at]);
    if (values_.is_body() && values_.is_made_around(wiring().names[outputs[at]].text)) {
      return Error{ErrorCode::invalid, "produces " + shown(outputs[at]) + ", but an outer graph already has this name",
                   place_of(index)};
    }
    if (!is_sized(facts[at]) || !facts[at].known.dtype || facts[at].known.dtype == DType::string) {
      if (place.empty()) place = place_of(index);
      declaration.maker = place;
      if (is_classical_domain(node.domain())) declaration.way_out = "; train with integer labels and categories";
      declaration.unknown = cause_of_unknown(index, bodies);
    }
    const Result<TensorId> added = values_.add_tensor(outputs[at], std::move(facts[at]), declaration);
    if (!added) return located(added.error(), place_of(index));
    spec.outputs.push_back(*added);
  }
  Result<std::vector<Attribute>> attributes = attributes_of(node, *context_.content.file());
  if (!attributes) return located(attributes.error(), place_of(index));
  spec.attributes = *std::move(attributes);
  if (auto since = older_meaning_of(node, context_.opsets.of(node))) spec.attributes.push_back(*std::move(since));
  spec.bodies = take_bodies(node, std::move(bodies));
  values_.builder().add_node(std::move(spec));
  return {};
}

// The sizes that the node passes count.
Result<void> GraphWalk::merge_body_input(std::uint32_t name, const onnx::TypeProto& declared, TensorFact& fact) {
  std::optional<std::vector<KnownExtent>> passed = fact.known.extents;
  LOWTIDE_RETURN_IF_ERROR(merge_output(name, &declared, fact));
  if (passed) fact.known.extents = std::move(passed);
  return {};
}

// Declared sizes are often left over from other sizes of the inputs, such as those of a batch that was opened later.
// Runtimes run such a model by the sizes that its operators compute, and so does this function. A body with an open
// input is inferred for all iterations of a loop at once. Declared numbers may be those of the first one.
Result<void> GraphWalk::merge_output(std::uint32_t name, const onnx::TypeProto* declared, TensorFact& fact) {
  if (declared == nullptr) return {};
  TensorFact merged = fact;
  Result<void> outcome = merge_declared(*declared, context_.dims, merged);
  if (outcome.ok()) {
    if (has_open_input_ && fact.known.extents) merged.known.extents = std::move(fact.known.extents);
    fact = std::move(merged);
    return {};
  }
  if (!differs_in_sizes(fact_from_type(*declared, context_.dims), fact)) return outcome;
  const std::string of_body = values_.is_body() ? " of " + place_of_graph(graph_.name()) : "";
  values_.findings().stale_sizes.push_back(shown(name) + of_body + " " + outcome.error().message);
  return {};
}

// Finds where an unknown size of a node's output starts: at this node, at an earlier node, or in a body.
UnknownSize::Cause GraphWalk::cause_of_unknown(std::uint32_t index, const NodeBodies& bodies) const {
  const auto is_known = [&](std::uint32_t name) { return name == Wiring::kLeftOut || is_sized(values_.fact(name)); };
  const auto inputs = wiring().inputs(index);
  const auto captured = wiring().captured(index);
  bool is_first =
      std::all_of(inputs.begin(), inputs.end(), is_known) && std::all_of(captured.begin(), captured.end(), is_known);
  for (const auto& [attribute, body] : bodies.walked) {
    const std::vector<UnknownSize>& unknown = body.result.findings.unknown;
    is_first = is_first && std::none_of(unknown.begin(), unknown.end(), begins_here);
  }
  return is_first ? UnknownSize::Cause::node : UnknownSize::Cause::inherited;
}

Result<void> GraphWalk::add_outputs() {
  std::vector<TensorId> tensors;
  for (const onnx::ValueInfoProto& output : graph_.output()) {
    const std::uint32_t name = wiring().index_of.at(output.name());
    const GraphValues::Value* value = values_.find(name);
    if (value == nullptr) {
      return Error{ErrorCode::invalid,
                   "output " + quoted(output.name()) +
                       " of the graph has no producer: no node, input or initializer has this name",
                   place_of_graph(graph_.name())};
    }
    if (wiring().names[name].source != Source::node) {  // otherwise it was checked at its node
      TensorFact fact = value->fact;
      const Result<void> merged = merge_output(name, &output.type(), fact);
      if (!merged) return located(merged.error(), place_of_graph(graph_.name()), "output " + quoted(output.name()));
    }
    tensors.push_back(values_.tensor_of(name));
    if (values_.is_body()) outputs_.push_back(value->fact);
  }
  values_.builder().set_outputs(std::move(tensors));
  return {};
}

Result<Facts> GraphWalk::infer(std::uint32_t index, NodeBodies& bodies) {
  const NodeProto& node = graph_.node(static_cast<int>(index));
  Inputs inputs;
  inputs.reserve(wiring().inputs(index).size());
  for (std::uint32_t name : wiring().inputs(index)) {
    inputs.push_back(name == Wiring::kLeftOut ? nullptr : &values_.fact(name));
  }
  Result<Facts> facts = infer_with_bodies(node, inputs, bodies);
  if (!facts || !is_if(node)) return facts;
  if (const std::optional<int> branch = branch_never_taken(node, *inputs[0])) {
    bodies.walked.erase(*branch);
    values_.findings().dead_branches.push_back(quoted(node.name()));
    return facts;
  }
  // infer_node returns facts although a branch failed. No run can take that branch, so every run takes the other one. A
  // branch that is malformed for all sizes is refused.
  for (const auto& [branch, failed] : bodies.failed) {
    if (!failed.is_of_sizes) return failed.error;
    values_.findings().impossible_branches.push_back(quoted(node.attribute(branch).name()) + " of " +
                                                     quoted(node.name()) + " (" + failed.error.describe() + ")");
  }
  context_.is_error_of_sizes = false;  // the error ends here
  return facts;
}

Result<Facts> GraphWalk::infer_with_bodies(const NodeProto& node, const Inputs& inputs, NodeBodies& bodies) {
  const InferBody infer_body(
      [&](const GraphProto& body, std::span<const TensorFact> given) {
        int attribute = 0;
        while (attribute < node.attribute_size() && &node.attribute(attribute).g() != &body) ++attribute;
        LOWTIDE_CHECK(attribute < node.attribute_size(), "a body is inferred under its own address");
        return walk_body(node, attribute, given, bodies);
      },
      [&](std::string_view text) -> const TensorFact* {
        const std::optional<std::uint32_t> name = wiring().find(text);
        const GraphValues::Value* value = name ? values_.find(*name) : nullptr;
        return value == nullptr ? nullptr : &value->fact;
      });
  Result<Facts> facts = infer_node(node, inputs, context_.opsets.of(node), infer_body);
  if (!facts) {
    const bool is_of_a_body = !bodies.failed.empty();
    context_.is_error_of_sizes =
        is_of_a_body ? bodies.failed.begin()->second.is_of_sizes : facts.error().code == ErrorCode::invalid;
    return facts;
  }
  // A body that was not needed for the answer is part of the graph nevertheless.
  for (int at = 0; at < node.attribute_size(); ++at) {
    if (!node.attribute(at).has_g() || bodies.walked.contains(at) || bodies.failed.contains(at)) continue;
    const Facts nothing(static_cast<std::size_t>(node.attribute(at).g().input_size()));
    LOWTIDE_TRY(const Facts walked, walk_body(node, at, nothing, bodies));
  }
  return facts;
}

// Captures tensors in the order of their names in the wiring. `bodies` no longer contains branches that never run, so
// only what the other bodies read is captured.
void GraphWalk::make_captured_tensors(std::uint32_t index, const NodeBodies& bodies) {
  std::vector<std::uint32_t> used;
  for (const auto& [attribute, body] : bodies.walked) {
    for (const NamedCapture& capture : body.result.captures) used.push_back(capture.outer_name);
  }
  std::sort(used.begin(), used.end());
  for (std::uint32_t name : wiring().captured(index)) {
    if (std::binary_search(used.begin(), used.end(), name)) values_.tensor_of(name);
  }
}

std::vector<Body> GraphWalk::take_bodies(const NodeProto& node, NodeBodies&& bodies) {
  std::vector<Body> taken;
  for (auto& [attribute, body] : bodies.walked) {
    values_.findings().append(std::move(body.result.findings));
    std::vector<std::pair<TensorId, TensorId>> captures;
    captures.reserve(body.result.captures.size());
    for (const NamedCapture& capture : body.result.captures) {
      captures.emplace_back(values_.tensor_of(capture.outer_name), capture.inner);
    }
    std::sort(captures.begin(), captures.end());
    taken.push_back({node.attribute(attribute).name(), std::make_shared<const Graph>(std::move(body.result.graph)),
                     std::move(captures)});
  }
  return taken;
}

// If a body is walked several times, the last walk is used.
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

std::string GraphWalk::place_of(std::uint32_t node) const {
  return place_of_node(graph_.name(), node, graph_.node(static_cast<int>(node)));
}

}  // namespace lowtide::import_internal
