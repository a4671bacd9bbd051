// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/small_plans.h"

#include <utility>

#include "tests/verify/plain_claims.h"

namespace lowtide::testing {

TensorId GraphMaker::add(const std::string& name, Shape shape, DType dtype, Role role, bool is_captured) {
  return builder_.add_tensor({.name = name, .dtype = dtype, .shape = std::move(shape), .is_captured = is_captured},
                             role);
}

TensorId GraphMaker::input(const std::string& name, std::vector<std::int64_t> extents, DType dtype) {
  return add(name, Shape(std::move(extents)), dtype, Role::input);
}

TensorId GraphMaker::constant(const std::string& name, std::vector<std::int64_t> extents, DType dtype) {
  return add(name, Shape(std::move(extents)), dtype, Role::constant);
}

TensorId GraphMaker::integers(const std::string& name, std::vector<std::int64_t> content) {
  const TensorId id = constant(name, {static_cast<std::int64_t>(content.size())}, DType::i64);
  builder_.set_known_integers(id, std::move(content));
  return id;
}

TensorId GraphMaker::tensor(const std::string& name, std::vector<std::int64_t> extents, DType dtype) {
  return add(name, Shape(std::move(extents)), dtype, Role::temporary);
}

TensorId GraphMaker::bounded(const std::string& name, std::vector<std::int64_t> extents, int bounded_axis) {
  Shape shape(std::move(extents));
  shape.mark_at_most(bounded_axis);
  return add(name, std::move(shape), DType::u8, Role::temporary);
}

TensorId GraphMaker::captured(const std::string& name, std::vector<std::int64_t> extents, Role role, DType dtype) {
  return add(name, Shape(std::move(extents)), dtype, role, true);
}

NodeId GraphMaker::node(const std::string& type, std::vector<std::optional<TensorId>> inputs,
                        std::vector<std::optional<TensorId>> outputs, std::vector<Attribute> attributes,
                        std::vector<Body> bodies, std::vector<NodeId> control_inputs) {
  return builder_.add_node({.name = "",
                            .type = type,
                            .inputs = std::move(inputs),
                            .outputs = std::move(outputs),
                            .control_inputs = std::move(control_inputs),
                            .attributes = std::move(attributes),
                            .bodies = std::move(bodies)});
}

Graph GraphMaker::make(std::vector<TensorId> outputs) {
  builder_.set_outputs(std::move(outputs));
  Result<Graph> graph = std::move(builder_).build();
  LOWTIDE_CHECK(graph.ok(), ("the graph of a test is valid: " + (graph ? "" : graph.error().describe())).c_str());
  return std::move(graph).value();
}

PlanMaker::PlanMaker(const Graph& graph, bool is_body, std::int64_t alignment) : graph_(graph) {
  plan_.regions = {Region{.name = "arena", .capacity = std::nullopt, .alignment = Bytes(alignment)}};
  plan_.arena = {Bytes(0)};
  const Lifespan always{StepId(0), StepId(static_cast<std::uint32_t>(graph.nodes().size()))};
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.producer || (is_body && tensor.role == Role::input && !tensor.is_captured)) continue;
    const BufferKind kind = tensor.role == Role::input      ? BufferKind::input
                            : tensor.role == Role::constant ? BufferKind::constant
                                                            : BufferKind::state;
    const BufferId buffer = plan_.buffers.push_back({.kind = kind, .size = tensor.size, .lifespan = always});
    plan_.values.push_back({.tensor = id, .written = std::nullopt, .buffer = buffer, .offset = Offset(0)});
  }
}

BufferId PlanMaker::buffer(BufferKind kind, std::int64_t size, std::int64_t offset, std::uint32_t begin,
                           std::uint32_t end) {
  return plan_.buffers.push_back({.kind = kind,
                                  .size = Bytes(size),
                                  .lifespan = {StepId(begin), StepId(end)},
                                  .placement = Placement{RegionId(0), Offset(offset)}});
}

void PlanMaker::input_at(TensorId input, std::int64_t offset, std::uint32_t end) {
  const BufferId id = buffer(BufferKind::input, graph_.tensor(input).size.count(), offset, 0, end);
  plan_.values.push_back({.tensor = input, .written = std::nullopt, .buffer = id, .offset = Offset(0)});
}

ValueId PlanMaker::put(TensorId tensor, BufferId buffer, std::int64_t offset) {
  return plan_.values.push_back(
      {.tensor = tensor, .written = std::nullopt, .buffer = buffer, .offset = Offset(offset)});
}

StepId PlanMaker::compute(NodeId node, std::optional<BufferId> scratch, std::vector<BodyPlan> bodies) {
  return add_step(node, StepKind::compute, scratch, std::move(bodies));
}

StepId PlanMaker::alias(NodeId node) { return add_step(node, StepKind::alias, std::nullopt, {}); }

StepId PlanMaker::add_step(NodeId node, StepKind kind, std::optional<BufferId> scratch, std::vector<BodyPlan> bodies) {
  Step step{.node = node, .kind = kind, .scratch = scratch, .bodies = std::move(bodies)};
  for (TensorId read : graph_.reads(node)) step.reads.push_back(value_of(read));
  for (const std::optional<TensorId>& output : graph_.node(node).outputs) {
    if (output) step.writes.push_back(value_of(*output));
  }
  const StepId id = plan_.program.push_back(step);
  for (ValueId write : step.writes) plan_.values[write].written = id;
  return id;
}

ValueId PlanMaker::value_of(TensorId tensor) const {
  for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
    if (plan_.values[id].tensor == tensor) return id;
  }
  LOWTIDE_CHECK(false, "a test puts each tensor somewhere before the step that touches it");
  return {};
}

BufferId PlanMaker::buffer_of(TensorId tensor) const { return plan_.values[value_of(tensor)].buffer; }

Plan PlanMaker::finish() {
  make_honest(graph_, plan_);
  return plan_;
}

Attribute integer(const std::string& name, std::int64_t value) { return {.name = name, .value = value}; }

Attribute integers(const std::string& name, std::vector<std::int64_t> values) {
  return {.name = name, .value = std::move(values)};
}

void make_honest(const Graph& graph, Plan& plan) {
  plan.arena = plain_arenas(plan);
  plan.claims = {.load_as_given = plain_load_as_given(graph), .load = plain_load(plan), .bound = Bytes(0)};
  plan.provenance.graph = graph.name();
  plan.provenance.nodes = static_cast<std::int64_t>(graph.nodes().size());
  plan.provenance.tensors = static_cast<std::int64_t>(graph.tensors().size());
}

std::string kinds(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    text += (text.empty() ? "" : "; ") + std::string(to_string(violation.kind));
  }
  return text;
}

std::string messages(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    text += std::string(to_string(violation.kind)) + ": " + violation.message +
            (violation.body.empty() ? "" : " [" + violation.body + "]") + "\n";
  }
  return text;
}

}  // namespace lowtide::testing
