// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/report/page_plans.h"

#include <algorithm>
#include <utility>

#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

constexpr std::int64_t kKiB = 1024;

}  // namespace

Sketcher::Sketcher(const std::string& graph) {
  sketch_.plan.provenance = {.tool = "lowtide 0.1.0", .graph = graph, .target = "dense"};
  sketch_.plan.machine = {.regions = {{.name = "arena"}}, .links = {}, .workers = {{.name = "cpu"}}};
  sketch_.plan.kernels = {{"dense"}};
  sketch_.plan.program.streams = {{.worker = WorkerId(0), .link = std::nullopt}};
}

BufferId Sketcher::buffer(BufferKind kind, std::int64_t size, std::uint32_t begin, std::uint32_t end,
                          std::optional<std::int64_t> offset) {
  Buffer made{.kind = kind, .size = Bytes(size), .lifespan = {StepId(begin), StepId(end)}};
  if (offset) made.placement = Placement{RegionId(0), Offset(*offset)};
  return sketch_.plan.layout.buffers.push_back(made);
}

void Sketcher::place_in(RegionId region) {
  const BufferId last(static_cast<std::uint32_t>(sketch_.plan.layout.buffers.size() - 1));
  sketch_.plan.layout.buffers[last].placement->region = region;
}

void Sketcher::parts(std::vector<BufferPart> parts) {
  const BufferId last(static_cast<std::uint32_t>(sketch_.plan.layout.buffers.size() - 1));
  sketch_.plan.layout.buffers[last].parts = std::move(parts);
}

ValueId Sketcher::value(const std::string& tensor, std::int64_t size, BufferId buffer, std::int64_t offset, Role role) {
  const TensorId id = sketch_.labels.tensors.push_back(
      {.name = tensor, .dtype = DType::f32, .role = role, .shape = Shape({1, size / 4}), .size = Bytes(size)});
  const ValueId made = sketch_.plan.program.values.push_back({.tensor = id, .written = std::nullopt});
  sketch_.plan.layout.values.push_back({.buffer = buffer, .offset = Offset(offset)});
  if (role == Role::temporary || role == Role::output) unwritten_.push_back(made);
  if (role == Role::output) sketch_.plan.program.outputs.push_back(made);
  return made;
}

ValueId Sketcher::again(ValueId first, BufferId buffer, std::int64_t offset) {
  const TensorId tensor = sketch_.plan.program.values[first].tensor;
  const ValueId made = sketch_.plan.program.values.push_back({.tensor = tensor, .written = std::nullopt});
  sketch_.plan.layout.values.push_back({.buffer = buffer, .offset = Offset(offset)});
  unwritten_.push_back(made);
  return made;
}

StepId Sketcher::add(Step step, std::optional<BufferId> scratch) {
  step.writes = unwritten_;
  const StepId made = sketch_.plan.program.steps.push_back(std::move(step));
  sketch_.plan.layout.steps.push_back({.scratch = scratch, .bodies = {}});
  for (ValueId value : unwritten_) sketch_.plan.program.values[value].written = made;
  unwritten_.clear();
  return made;
}

StepId Sketcher::step_again(StepId first, const std::vector<ValueId>& reads) {
  return add({.work = sketch_.plan.program.steps[first].work, .reads = reads}, std::nullopt);
}

StepId Sketcher::copy(ValueId from, ValueId to, StreamId stream) {
  const Bytes size = sketch_.labels.tensors[sketch_.plan.program.values[to].tensor].size;
  return add({.work = Copy{{0, size.count()}}, .reads = {from}, .stream = stream}, std::nullopt);
}

StepId Sketcher::step(const std::string& node, const std::string& op, const std::vector<ValueId>& reads, StepKind kind,
                      std::optional<BufferId> scratch) {
  const NodeId id = sketch_.labels.nodes.push_back({.name = node, .op = op});
  return add({.work = kind == StepKind::alias ? Work(Alias{id}) : Work(Compute{id, KernelId(0)}), .reads = reads},
             scratch);
}

void Sketcher::body(const std::string& name, PlanSketch inner, std::int64_t offset) {
  const StepId last(static_cast<std::uint32_t>(sketch_.plan.program.steps.size() - 1));
  sketch_.plan.layout.steps[last].bodies.push_back(
      {.body = name, .offset = Offset(offset), .plan = std::make_shared<Plan>(std::move(inner.plan))});
  sketch_.labels.bodies.push_back({*node_of(sketch_.plan.program.steps[last]), name, std::move(inner.labels)});
}

PlanSketch Sketcher::finish(std::int64_t bound, const std::string& schedule, const std::string& allocate) && {
  Plan& plan = sketch_.plan;
  plan.layout.arena.assign(plan.machine.regions.size(), Bytes(0));
  std::vector<std::int64_t> change(plan.program.steps.size() + 1, 0);
  for (const Buffer& buffer : plan.layout.buffers) {
    if (!buffer.placement) continue;
    const std::size_t region = buffer.placement->region.index();
    if (region >= plan.layout.arena.size()) plan.layout.arena.resize(region + 1);
    Bytes& top = plan.layout.arena[region];
    top = std::max(top, (buffer.placement->offset + buffer.size) - Offset(0));
    for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
      change[lifespan.begin.index()] += bytes.end - bytes.begin;
      change[lifespan.end.index()] -= bytes.end - bytes.begin;
    });
  }
  std::int64_t live = 0;
  std::int64_t load = 0;
  for (std::int64_t by : change) load = std::max(load, live += by);
  plan.claims = {.load_as_given = Bytes(load + load / 4),
                 .load = Bytes(load),
                 .bounds = {{BoundScope::run_once, Bytes(bound), "live_set"},
                            {BoundScope::all_plans, Bytes(bound / 2), "working_set"}},
                 .schedule = schedule,
                 .schedule_optimal = load == bound,
                 .allocate = allocate,
                 .allocate_optimal = arena_bytes(plan) == Bytes(load)};
  plan.provenance.nodes = static_cast<std::int64_t>(sketch_.labels.nodes.size());
  plan.provenance.tensors = static_cast<std::int64_t>(sketch_.labels.tensors.size());
  return std::move(sketch_);
}

PlanSketch small_plan() {
  Sketcher to("small");
  const BufferId input = to.buffer(BufferKind::input, 64 * kKiB, 0, 9);
  const BufferId weights = to.buffer(BufferKind::constant, 36 * kKiB, 0, 9);
  const BufferId first = to.buffer(BufferKind::temporary, 256 * kKiB, 0, 4, 0);
  const BufferId joined = to.buffer(BufferKind::temporary, 256 * kKiB, 2, 6, 256 * kKiB);
  const BufferId scratch = to.buffer(BufferKind::scratch, 64 * kKiB, 2, 3, 512 * kKiB);
  const BufferId pooled = to.buffer(BufferKind::temporary, 64 * kKiB, 5, 8, 0);
  const BufferId logits_at = to.buffer(BufferKind::output, 4 * kKiB, 7, 9, 64 * kKiB);
  const BufferId probs_at = to.buffer(BufferKind::output, 4 * kKiB, 8, 9, 68 * kKiB);

  const ValueId x = to.value("x", 64 * kKiB, input, 0, Role::input);
  const ValueId w = to.value("conv1.weight", 36 * kKiB, weights, 0, Role::constant);
  const ValueId a = to.value("a", 256 * kKiB, first, 0, Role::temporary);
  to.step("conv1", "Conv", {x, w});
  const ValueId b = to.value("b", 256 * kKiB, first, 0, Role::temporary);
  to.step("relu1", "Relu", {a});
  const ValueId c = to.value("c", 128 * kKiB, joined, 0, Role::temporary);
  to.step("conv2", "Conv", {b, w}, StepKind::compute, scratch);
  const ValueId d = to.value("d", 128 * kKiB, joined, 128 * kKiB, Role::temporary);
  to.step("conv3", "Conv", {b});
  const ValueId cat = to.value("cat", 256 * kKiB, joined, 0, Role::temporary);
  to.step("concat", "Concat", {c, d}, StepKind::alias);
  const ValueId e = to.value("e", 64 * kKiB, pooled, 0, Role::temporary);
  to.step("pool", "MaxPool", {cat});
  const ValueId f = to.value("f", 64 * kKiB, pooled, 0, Role::temporary);
  to.step("flatten", "Flatten", {e}, StepKind::alias);
  const ValueId logits = to.value("logits", 4 * kKiB, logits_at, 0, Role::output);
  to.step("dense", "Gemm", {f});
  to.value("probs", 4 * kKiB, probs_at, 0, Role::output);
  to.step("softmax", "Softmax", {logits});
  return std::move(to).finish(576 * kKiB);
}

Graph small_plan_graph() {
  return *parse_graph(R"(graph "small" {
    input x : f32[1,16,32,32]
    constant w : f32[64,16,3,3]
    constant w2 : f32[32,64,1,1]
    constant w4 : f32[16384,1024]
    a = Conv(x, w) "conv1" : f32[1,64,32,32]
    b = Relu(a) "relu1" : f32[1,64,32,32]
    c = Conv(b, w2) "conv2" : f32[1,32,32,32]
    d = Conv(b) "conv3" : f32[1,32,32,32]
    cat = Concat(c, d) "concat" : f32[1,64,32,32]
    e = MaxPool(cat) "pool" : f32[1,64,16,16]
    f = Flatten(e) "flatten" : f32[1,16384]
    logits = Gemm(f, w4) "dense" : f32[1,1024]
    probs = Softmax(logits) "softmax" : f32[1,1024]
    output logits, probs
  })",
                      "small_plan_graph");
}

PlanSketch small_plan_before() {
  Sketcher to("small");
  const BufferId input = to.buffer(BufferKind::input, 64 * kKiB, 0, 9);
  const BufferId weights = to.buffer(BufferKind::constant, 36 * kKiB, 0, 9);
  const BufferId first = to.buffer(BufferKind::temporary, 256 * kKiB, 0, 2, 0);
  const BufferId second = to.buffer(BufferKind::temporary, 256 * kKiB, 1, 4, 256 * kKiB);
  const BufferId left = to.buffer(BufferKind::temporary, 128 * kKiB, 2, 5, 0);
  const BufferId scratch = to.buffer(BufferKind::scratch, 64 * kKiB, 2, 3, 512 * kKiB);
  const BufferId right = to.buffer(BufferKind::temporary, 128 * kKiB, 3, 5, 128 * kKiB);
  const BufferId joined = to.buffer(BufferKind::temporary, 256 * kKiB, 4, 6, 512 * kKiB);
  const BufferId pooled = to.buffer(BufferKind::temporary, 64 * kKiB, 5, 8, 0);
  const BufferId logits_at = to.buffer(BufferKind::output, 4 * kKiB, 7, 9, 64 * kKiB);
  const BufferId probs_at = to.buffer(BufferKind::output, 4 * kKiB, 8, 9, 68 * kKiB);

  const ValueId x = to.value("x", 64 * kKiB, input, 0, Role::input);
  const ValueId w = to.value("conv1.weight", 36 * kKiB, weights, 0, Role::constant);
  const ValueId a = to.value("a", 256 * kKiB, first, 0, Role::temporary);
  to.step("conv1", "Conv", {x, w});
  const ValueId b = to.value("b", 256 * kKiB, second, 0, Role::temporary);
  to.step("relu1", "Relu", {a});
  const ValueId c = to.value("c", 128 * kKiB, left, 0, Role::temporary);
  to.step("conv2", "Conv", {b, w}, StepKind::compute, scratch);
  const ValueId d = to.value("d", 128 * kKiB, right, 0, Role::temporary);
  to.step("conv3", "Conv", {b});
  const ValueId cat = to.value("cat", 256 * kKiB, joined, 0, Role::temporary);
  to.step("concat", "Concat", {c, d});
  const ValueId e = to.value("e", 64 * kKiB, pooled, 0, Role::temporary);
  to.step("pool", "MaxPool", {cat});
  const ValueId f = to.value("f", 64 * kKiB, pooled, 0, Role::temporary);
  to.step("flatten", "Flatten", {e}, StepKind::alias);
  const ValueId logits = to.value("logits", 4 * kKiB, logits_at, 0, Role::output);
  to.step("dense", "Gemm", {f});
  to.value("probs", 4 * kKiB, probs_at, 0, Role::output);
  to.step("softmax", "Softmax", {logits});
  return std::move(to).finish(576 * kKiB, "as_given", "greedy_by_size");
}

}  // namespace lowtide
