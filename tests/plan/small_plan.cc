// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/plan/small_plan.h"

#include <stdexcept>

#include "lowtide/graph/text.h"

namespace lowtide::testing {
namespace {

// Sizes: x, r, v 32 bytes each, out 32, and inside the body a 32.
constexpr const char* kGraph = R"(graph "small" {
  input cond : bool[]
  input x : f32[2,4]
  constant "scale \xff" : f32[2,4]
  r = Mul(x, "scale \xff") "scale" : f32[2,4]
  v = Reshape(r) "view" : f32[8]
  out = If(cond) "choose" {
    then_branch = graph "then" captures (v) {
      captured input v : f32[8]
      a = Relu(v) "relu" : f32[8]
      output a
    },
    else_branch = graph "else" {
      constant c : f32[8]
      output c
    }
  } : f32[8]
  output out
}
)";

Plan body_plan(const Graph& body) {
  Plan plan;
  plan.provenance = {.tool = "lowtide 0.1.0",
                     .graph = body.name(),
                     .nodes = static_cast<std::int64_t>(body.nodes().size()),
                     .tensors = static_cast<std::int64_t>(body.tensors().size()),
                     .target = "dense"};
  plan.regions = {{.name = "arena"}};
  plan.arena = {Bytes(body.nodes().empty() ? 0 : 64)};
  if (body.nodes().empty()) return plan;
  // v -> Relu -> a
  const BufferId v =
      plan.buffers.push_back({.kind = BufferKind::input, .size = Bytes(32), .lifespan = {StepId(0), StepId(1)}});
  const BufferId a = plan.buffers.push_back({.kind = BufferKind::output,
                                             .size = Bytes(64),
                                             .lifespan = {StepId(0), StepId(1)},
                                             .placement = Placement{RegionId(0), Offset(0)}});
  const ValueId read = plan.values.push_back({.tensor = TensorId(0), .buffer = v});
  const ValueId written = plan.values.push_back({.tensor = TensorId(1), .written = StepId(0), .buffer = a});
  plan.program.push_back({.node = NodeId(0), .reads = {read}, .writes = {written}});
  return plan;
}

}  // namespace

PlanFile small_plan_file() {
  const Result<Graph> parsed = parse_graph(kGraph, "small");
  if (!parsed.ok()) throw std::runtime_error(parsed.error().describe());
  const Graph& graph = parsed.value();
  Plan plan;
  plan.provenance = {.tool = "lowtide 0.1.0",
                     .model_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                     .graph = "small",
                     .nodes = 3,
                     .tensors = 6,
                     .dims = {"batch=2"},
                     .target = "dense"};
  plan.regions = {{.name = "arena", .capacity = Bytes(4096)}, {.name = "slow", .alignment = Bytes(16)}};
  const Lifespan all{StepId(0), StepId(3)};
  const auto placed = [](std::int64_t offset) { return Placement{RegionId(0), Offset(offset)}; };
  const BufferId cond = plan.buffers.push_back({.kind = BufferKind::input, .size = Bytes(1), .lifespan = all});
  const BufferId x = plan.buffers.push_back({.kind = BufferKind::input, .size = Bytes(32), .lifespan = all});
  const BufferId scale = plan.buffers.push_back({.kind = BufferKind::constant, .size = Bytes(32), .lifespan = all});
  const BufferId r = plan.buffers.push_back(
      {.kind = BufferKind::temporary, .size = Bytes(64), .lifespan = all, .placement = placed(0)});
  const BufferId out = plan.buffers.push_back(
      {.kind = BufferKind::output, .size = Bytes(64), .lifespan = {StepId(2), StepId(3)}, .placement = placed(64)});
  const BufferId scratch = plan.buffers.push_back(
      {.kind = BufferKind::scratch, .size = Bytes(64), .lifespan = {StepId(2), StepId(3)}, .placement = placed(128)});
  plan.arena = {Bytes(192), Bytes(0)};
  const ValueId value_of_cond = plan.values.push_back({.tensor = TensorId(0), .buffer = cond});
  const ValueId value_of_x = plan.values.push_back({.tensor = TensorId(1), .buffer = x});
  const ValueId value_of_scale = plan.values.push_back({.tensor = TensorId(2), .buffer = scale});
  const ValueId value_of_r = plan.values.push_back({.tensor = TensorId(3), .written = StepId(0), .buffer = r});
  const ValueId value_of_v = plan.values.push_back({.tensor = TensorId(4), .written = StepId(1), .buffer = r});
  const ValueId value_of_out = plan.values.push_back({.tensor = TensorId(5), .written = StepId(2), .buffer = out});
  plan.program.push_back({.node = NodeId(0), .reads = {value_of_x, value_of_scale}, .writes = {value_of_r}});
  plan.program.push_back({.node = NodeId(1), .kind = StepKind::alias, .reads = {value_of_r}, .writes = {value_of_v}});
  Step choose{.node = NodeId(2), .reads = {value_of_cond, value_of_v}, .writes = {value_of_out}, .scratch = scratch};
  for (const Body& body : graph.node(NodeId(2)).bodies) {
    choose.bodies.push_back({body.name, Offset(0), std::make_shared<const Plan>(body_plan(*body.graph))});
  }
  plan.program.push_back(choose);
  plan.claims = {.load_as_given = Bytes(96),
                 .load = Bytes(192),
                 .bound = Bytes(96),
                 .bound_name = "must_be_live",
                 .schedule = "as_given",
                 .allocate = "best_fit",
                 .allocate_optimal = true};
  return {std::move(plan), labels_of(graph)};
}

}  // namespace lowtide::testing
