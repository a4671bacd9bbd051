// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/plan/small_plan.h"

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lowtide/graph/text.h"

namespace lowtide::testing {
namespace {

// x, r, v, out, and a in the body have 32 bytes each.
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

constexpr const char* kTransferGraph = R"(graph "transfers" {
  constant w : f32[8]
  state s : f32[8]
  y = Mul(w, s) "mul" : f32[8]
  z = Neg(y) "neg" : f32[8]
  output z
  update s = z
}
)";

Plan empty_plan(const Graph& graph) {
  Plan plan;
  plan.provenance = {.tool = "lowtide 0.1.0",
                     .graph = graph.name(),
                     .nodes = static_cast<std::int64_t>(graph.nodes().size()),
                     .tensors = static_cast<std::int64_t>(graph.tensors().size()),
                     .target = "dense"};
  plan.machine.workers = {{.name = "cpu"}};
  plan.kernels = {{"dense"}};
  plan.program.streams = {{.worker = WorkerId(0)}};
  return plan;
}

ValueId add_value(Plan& plan, TensorId tensor, std::optional<StepId> written, BufferId buffer) {
  plan.layout.values.push_back({.buffer = buffer});
  return plan.program.values.push_back({.tensor = tensor, .written = written});
}

void add_step(Plan& plan, Work work, std::vector<ValueId> reads, ValueId write, StepSpace space = {}) {
  plan.program.steps.push_back({.work = work, .reads = std::move(reads), .writes = {write}});
  plan.layout.steps.push_back(std::move(space));
}

Plan body_plan(const Graph& body) {
  Plan plan = empty_plan(body);
  plan.machine.regions = {{.name = "arena"}};
  plan.layout.arena = {Bytes(body.nodes().empty() ? 0 : 64)};
  if (body.nodes().empty()) {  // it returns a constant
    const BufferId c = plan.layout.buffers.push_back({.kind = BufferKind::constant, .size = Bytes(32)});
    plan.program.outputs = {add_value(plan, TensorId(0), std::nullopt, c)};
    return plan;
  }
  // v -> Relu -> a
  const Lifespan all{StepId(0), StepId(1)};
  const BufferId v = plan.layout.buffers.push_back({.kind = BufferKind::input, .size = Bytes(32), .lifespan = all});
  const BufferId a = plan.layout.buffers.push_back(
      {.kind = BufferKind::output, .size = Bytes(64), .lifespan = all, .placement = Placement{RegionId(0), Offset(0)}});
  const ValueId read = add_value(plan, TensorId(0), std::nullopt, v);
  const ValueId written = add_value(plan, TensorId(1), StepId(0), a);
  add_step(plan, Compute{NodeId(0), KernelId(0)}, {read}, written);
  plan.program.outputs = {written};
  return plan;
}

Graph parsed(const char* text) {
  Result<Graph> graph = parse_graph(text, "small");
  if (!graph.ok()) throw std::runtime_error(graph.error().describe());
  return std::move(graph).value();
}

Placement at(std::uint32_t region, std::int64_t offset) { return {RegionId(region), Offset(offset)}; }

}  // namespace

PlanFile small_plan_file() {
  const Graph graph = parsed(kGraph);
  Plan plan = empty_plan(graph);
  plan.provenance.model = "small.onnx";
  plan.provenance.model_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  plan.provenance.dims = {"batch=2"};
  plan.machine.regions = {{.name = "arena", .capacity = Bytes(4096)}, {.name = "slow", .alignment = Bytes(16)}};
  auto& buffers = plan.layout.buffers;
  const Lifespan all{StepId(0), StepId(3)};
  const Lifespan last{StepId(2), StepId(3)};
  const BufferId cond = buffers.push_back({.kind = BufferKind::input, .size = Bytes(1), .lifespan = all});
  const BufferId x = buffers.push_back({.kind = BufferKind::input, .size = Bytes(32), .lifespan = all});
  const BufferId scale = buffers.push_back({.kind = BufferKind::constant, .size = Bytes(32), .lifespan = all});
  const BufferId r =
      buffers.push_back({.kind = BufferKind::temporary, .size = Bytes(64), .lifespan = all, .placement = at(0, 0)});
  const BufferId out =
      buffers.push_back({.kind = BufferKind::output, .size = Bytes(64), .lifespan = last, .placement = at(0, 64)});
  const BufferId scratch =
      buffers.push_back({.kind = BufferKind::scratch, .size = Bytes(64), .lifespan = last, .placement = at(0, 128)});
  plan.layout.arena = {Bytes(192), Bytes(0)};
  const ValueId value_of_cond = add_value(plan, TensorId(0), std::nullopt, cond);
  const ValueId value_of_x = add_value(plan, TensorId(1), std::nullopt, x);
  const ValueId value_of_scale = add_value(plan, TensorId(2), std::nullopt, scale);
  const ValueId value_of_r = add_value(plan, TensorId(3), StepId(0), r);
  const ValueId value_of_v = add_value(plan, TensorId(4), StepId(1), r);
  const ValueId value_of_out = add_value(plan, TensorId(5), StepId(2), out);
  plan.program.outputs = {value_of_out};
  add_step(plan, Compute{NodeId(0), KernelId(0)}, {value_of_x, value_of_scale}, value_of_r);
  add_step(plan, Alias{NodeId(1)}, {value_of_r}, value_of_v);
  StepSpace space{.scratch = scratch, .bodies = {}};
  for (const Body& body : graph.node(NodeId(2)).bodies) {
    space.bodies.push_back({body.name, Offset(0), std::make_shared<const Plan>(body_plan(*body.graph))});
  }
  add_step(plan, Compute{NodeId(2), KernelId(0)}, {value_of_cond, value_of_v}, value_of_out, space);
  plan.claims = {.load_as_given = Bytes(96),
                 .load = Bytes(192),
                 .bounds = {{BoundScope::run_once, Bytes(96), "live_set"}},
                 .schedule = "as_given",
                 .allocate = "best_fit",
                 .allocate_optimal = true};
  return {std::move(plan), labels_of(graph)};
}

//   step 0  link 1    copy w from host memory
//   step 1  worker 0  compute Mul(w, s) -> y
//   step 2  link 0    copy y to host memory
//   step 3  worker 0  compute Neg(y) -> z
//   step 4  link 1    copy 16 bytes of y back
//   step 5  link 1    copy the other 16 bytes
//   step 6  worker 0  compute Neg(y) -> z again, from the copy
//   step 7  worker 1  copy z into the state s
PlanFile transfer_plan_file() {
  const Graph graph = parsed(kTransferGraph);
  Plan plan = empty_plan(graph);
  plan.machine = {
      .regions = {{.name = "arena"}, {.name = "host", .alignment = Bytes(16)}},
      .links = {{RegionId(0), RegionId(1), 25'000'000'000, 2'000'000}, {RegionId(1), RegionId(0), 1, 0}},
      .workers = {{.name = "core", .count = 2, .addressable = {RegionId(0)}}, {.name = "dma", .addressable = {}}}};
  plan.kernels = {{"dense"}, {"other"}};
  plan.execution = ExecutionModel::streams;
  plan.program.streams = {{.worker = WorkerId(0)}, {.link = LinkId(0)}, {.link = LinkId(1)}, {.worker = WorkerId(1)}};
  const auto lives = [](std::uint32_t begin, std::uint32_t end) { return Lifespan{StepId(begin), StepId(end)}; };
  auto& buffers = plan.layout.buffers;
  const BufferId w_home = buffers.push_back(
      {.kind = BufferKind::constant, .size = Bytes(32), .lifespan = lives(0, 8), .home = RegionId(1)});
  const BufferId s = buffers.push_back({.kind = BufferKind::state, .size = Bytes(32), .lifespan = lives(0, 8)});
  const auto placed = [&](BufferKind kind, std::uint32_t begin, std::uint32_t end, Placement place) {
    return buffers.push_back({.kind = kind, .size = Bytes(64), .lifespan = lives(begin, end), .placement = place});
  };
  const BufferId w_here = placed(BufferKind::temporary, 0, 2, at(0, 0));
  const BufferId y = placed(BufferKind::temporary, 1, 4, at(0, 64));
  const BufferId y_away = placed(BufferKind::temporary, 2, 6, at(1, 0));
  const BufferId y_back = placed(BufferKind::temporary, 4, 7, at(0, 0));
  const BufferId z = placed(BufferKind::temporary, 3, 4, at(0, 128));
  const BufferId z_again = placed(BufferKind::output, 6, 8, at(0, 64));
  buffers[y_back].parts = {{Bytes(16), lives(4, 7)}, {Bytes(48), lives(5, 7)}};
  plan.layout.arena = {Bytes(192), Bytes(64)};
  const TensorId w_tensor(0), s_tensor(1), y_tensor(2), z_tensor(3);
  const ValueId v_w = add_value(plan, w_tensor, std::nullopt, w_home);
  const ValueId v_s = add_value(plan, s_tensor, std::nullopt, s);
  const ValueId v_here = add_value(plan, w_tensor, StepId(0), w_here);
  const ValueId v_y = add_value(plan, y_tensor, StepId(1), y);
  const ValueId v_away = add_value(plan, y_tensor, StepId(2), y_away);
  const ValueId v_z = add_value(plan, z_tensor, StepId(3), z);
  const ValueId v_back = add_value(plan, y_tensor, StepId(5), y_back);
  const ValueId v_again = add_value(plan, z_tensor, StepId(6), z_again);
  const ValueId v_next = add_value(plan, z_tensor, StepId(7), s);
  plan.program.outputs = {v_again};
  plan.program.updates = {v_next};
  add_step(plan, Copy{{0, 32}}, {v_w}, v_here);
  add_step(plan, Compute{NodeId(0), KernelId(1)}, {v_here, v_s}, v_y);
  add_step(plan, Copy{{0, 32}}, {v_y}, v_away);
  add_step(plan, Compute{NodeId(1), KernelId(0)}, {v_y}, v_z);
  add_step(plan, Copy{{0, 16}}, {v_away}, v_back);
  add_step(plan, Copy{{16, 32}}, {v_away}, v_back);
  add_step(plan, Compute{NodeId(1), KernelId(0)}, {v_back}, v_again);
  add_step(plan, Copy{{0, 32}}, {v_again}, v_next);
  const std::uint32_t streams[] = {2, 0, 1, 0, 2, 2, 0, 3};
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    plan.program.steps[id].stream = StreamId(streams[id.index()]);
    const bool waits = id > StepId(0) && streams[id.index() - 1] != streams[id.index()];
    if (waits) plan.program.steps[id].after = {StepId(id.value() - 1)};
  }
  // Live at step 3: y, its copy in host memory, and z.
  plan.claims = {
      .load_as_given = Bytes(64),
      .load = Bytes(192),
      .bounds = {{BoundScope::run_once, Bytes(64), "search"}, {BoundScope::all_plans, Bytes(64), "working_set"}},
      .schedule = "as_given",
      .allocate = "best_fit"};
  return {std::move(plan), labels_of(graph)};
}

std::string small_json() {
  const PlanFile file = small_plan_file();
  return write_plan_json(file.plan, file.labels);
}

std::string transfer_json() {
  const PlanFile file = transfer_plan_file();
  return write_plan_json(file.plan, file.labels);
}

}  // namespace lowtide::testing
