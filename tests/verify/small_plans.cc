// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/small_plans.h"

#include <algorithm>
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

TensorId GraphMaker::state(const std::string& name, std::vector<std::int64_t> extents, DType dtype) {
  return add(name, Shape(std::move(extents)), dtype, Role::state);
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
                        std::vector<Body> bodies) {
  return builder_.add_node({.name = "",
                            .type = type,
                            .inputs = std::move(inputs),
                            .outputs = std::move(outputs),
                            .control_inputs = {},
                            .attributes = std::move(attributes),
                            .bodies = std::move(bodies)});
}

TensorId GraphMaker::result(const std::string& name, std::vector<std::int64_t> extents, const std::string& type,
                            std::vector<std::optional<TensorId>> inputs, std::vector<Attribute> attributes) {
  const TensorId id = tensor(name, std::move(extents));
  node(type, std::move(inputs), {id}, std::move(attributes));
  return id;
}

Graph GraphMaker::make(std::vector<TensorId> outputs) {
  builder_.set_outputs(std::move(outputs));
  Result<Graph> graph = std::move(builder_).build();
  LOWTIDE_CHECK(graph.ok(), ("the graph of a test is valid: " + (graph ? "" : graph.error().describe())).c_str());
  return std::move(graph).value();
}

Graph diamond() {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  std::vector<TensorId> made;
  for (const char* name : {"a", "b", "c", "d", "y"}) made.push_back(maker.tensor(name, {16}));
  maker.node("Relu", {x}, {made[0]});
  maker.node("Sigmoid", {x}, {made[1]});
  maker.node("Neg", {made[0]}, {made[2]});
  maker.node("Neg", {made[1]}, {made[3]});
  maker.node("Add", {made[2], made[3]}, {made[4]});
  return maker.make({made[4]});
}

PlanMaker::PlanMaker(const Graph& graph, bool is_body, std::int64_t alignment) : graph_(graph) {
  plan_.machine.regions = {Region{.name = "arena", .capacity = std::nullopt, .alignment = Bytes(alignment)}};
  plan_.machine.workers = {Worker{.name = "cpu"}};
  plan_.program.streams = {Stream{.worker = WorkerId(0)}};
  plan_.kernels = {PlannedKernel{"dense"}};
  const Lifespan always{StepId(0), StepId(static_cast<std::uint32_t>(graph.nodes().size()))};
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.producer || (is_body && tensor.role == Role::input && !tensor.is_captured)) continue;
    const BufferKind kind = tensor.role == Role::input      ? BufferKind::input
                            : tensor.role == Role::constant ? BufferKind::constant
                                                            : BufferKind::state;
    add_value(id, plan_.layout.buffers.push_back({.kind = kind, .size = tensor.size, .lifespan = always}), 0);
  }
}

RegionId PlanMaker::region(const std::string& name, std::int64_t alignment) {
  plan_.machine.regions.push_back({.name = name, .alignment = Bytes(alignment)});
  return RegionId(static_cast<std::uint32_t>(plan_.machine.regions.size() - 1));
}

void PlanMaker::address_only(std::vector<RegionId> regions) {
  plan_.machine.workers[WorkerId(0)].addressable = std::move(regions);
}

StreamId PlanMaker::link_stream(RegionId from, RegionId to) {
  const LinkId link = plan_.machine.links.push_back({.from = from, .to = to, .bytes_per_second = 1'000'000});
  return plan_.program.streams.push_back({.link = link});
}

StreamId PlanMaker::worker_stream() { return plan_.program.streams.push_back({.worker = WorkerId(0)}); }

BufferId PlanMaker::buffer(BufferKind kind, std::int64_t size, std::int64_t offset, std::uint32_t begin,
                           std::uint32_t end) {
  return plan_.layout.buffers.push_back({.kind = kind,
                                         .size = Bytes(size),
                                         .lifespan = {StepId(begin), StepId(end)},
                                         .placement = Placement{RegionId(0), Offset(offset)}});
}

BufferId PlanMaker::in_region(RegionId region, BufferId buffer) {
  plan_.layout.buffers[buffer].placement->region = region;
  return buffer;
}

void PlanMaker::input_at(TensorId input, std::int64_t offset, std::uint32_t end) {
  add_value(input, buffer(BufferKind::input, graph_.tensor(input).size.count(), offset, 0, end), 0);
}

void PlanMaker::home(TensorId tensor, RegionId region) { plan_.layout.buffers[buffer_of(tensor)].home = region; }

ValueId PlanMaker::put(TensorId tensor, BufferId buffer, std::int64_t offset) {
  return add_value(tensor, buffer, offset);
}

ValueId PlanMaker::add_value(TensorId tensor, BufferId buffer, std::int64_t offset) {
  plan_.layout.values.push_back({.buffer = buffer, .offset = Offset(offset)});
  return plan_.program.values.push_back({.tensor = tensor, .written = std::nullopt});
}

StepId PlanMaker::compute(NodeId node, std::optional<BufferId> scratch, std::vector<BodyPlan> bodies) {
  return add_step(node, Compute{node, KernelId(0)}, scratch, std::move(bodies));
}

StepId PlanMaker::alias(NodeId node) { return add_step(node, Alias{node}, std::nullopt, {}); }

void PlanMaker::run_in_order(const std::vector<NodeId>& aliases) {
  for (NodeId node : all_ids<NodeId>(graph_.nodes().size())) {
    if (std::find(aliases.begin(), aliases.end(), node) != aliases.end()) {
      alias(node);
    } else {
      compute(node);
    }
  }
}

StepId PlanMaker::add_step(NodeId node, Work work, std::optional<BufferId> scratch, std::vector<BodyPlan> bodies) {
  Step step{.work = work};
  for (TensorId read : graph_.operands(node)) step.reads.push_back(value_of(read));
  for (const std::optional<TensorId>& output : graph_.node(node).outputs) {
    if (output) step.writes.push_back(value_of(*output));
  }
  const StepId id = plan_.program.steps.push_back(step);
  plan_.layout.steps.push_back({scratch, std::move(bodies)});
  for (ValueId write : step.writes) plan_.program.values[write].written = id;
  return id;
}

StepId PlanMaker::copy(ValueId from, ValueId to, std::optional<Interval<std::int64_t>> bytes) {
  const Interval<std::int64_t> all{0, graph_.tensor(plan_.program.values[from].tensor).size.count()};
  const StepId id = plan_.program.steps.push_back({.work = Copy{bytes.value_or(all)}, .reads = {from}, .writes = {to}});
  plan_.layout.steps.push_back({});
  plan_.program.values[to].written = id;
  return id;
}

void PlanMaker::read(std::size_t operand, ValueId value) {
  plan_.program.steps[StepId(static_cast<std::uint32_t>(plan_.program.steps.size() - 1))].reads[operand] = value;
}

void PlanMaker::on(StreamId stream, std::vector<StepId> after) {
  Step& step = plan_.program.steps[StepId(static_cast<std::uint32_t>(plan_.program.steps.size() - 1))];
  step.stream = stream;
  step.after = std::move(after);
}

ValueId PlanMaker::value_of(TensorId tensor) const {
  for (std::size_t at = plan_.program.values.size(); at > 0; --at) {
    const ValueId id(static_cast<std::uint32_t>(at - 1));
    if (plan_.program.values[id].tensor == tensor) return id;
  }
  LOWTIDE_CHECK(false, "a test puts each tensor somewhere before the step that touches it");
  return {};
}

BufferId PlanMaker::buffer_of(TensorId tensor) const { return plan_.layout.values[value_of(tensor)].buffer; }

Plan PlanMaker::finish() {
  const Lifespan always{StepId(0), StepId(static_cast<std::uint32_t>(plan_.program.steps.size()))};
  for (Buffer& buffer : plan_.layout.buffers) {
    if (!buffer.placement) buffer.lifespan = always;
  }
  for (TensorId output : graph_.outputs()) plan_.program.outputs.push_back(value_of(output));
  for (const StateUpdate& update : graph_.state_updates()) {
    std::optional<BufferId> home;
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      const TensorId tensor = plan_.program.values[id].tensor;
      if (tensor == update.state) home = plan_.layout.values[id].buffer;
    }
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      const bool is_next = plan_.program.values[id].tensor == update.next && plan_.layout.values[id].buffer == home;
      if (is_next) plan_.program.updates.push_back(id);
    }
  }
  if (plan_.program.streams.size() > 1) plan_.execution = ExecutionModel::streams;
  make_honest(graph_, plan_);
  return plan_;
}

Attribute integer(const std::string& name, std::int64_t value) { return {.name = name, .value = value}; }

Attribute integers(const std::string& name, std::vector<std::int64_t> values) {
  return {.name = name, .value = std::move(values)};
}

void make_honest(const Graph& graph, Plan& plan) {
  plan.layout.arena = plain_arenas(plan);
  plan.claims = {.load_as_given = plain_load_as_given(graph), .load = plain_load(plan)};
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
