// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Plans that are unusual: bodies, several regions, hostile names, empty plans.

#include <utility>

#include "tests/report/page_plans.h"

namespace lowtide {
namespace {

constexpr std::int64_t kOddKiB = 1024;

// A chain of `steps` activations of `size` bytes, alternating between two places.
PlanSketch chain(const std::string& graph, const std::string& prefix, std::uint32_t steps, std::int64_t size) {
  Sketcher to(graph);
  ValueId last = to.value(prefix + "in", size, to.buffer(BufferKind::input, size, 0, steps, 0), 0, Role::input);
  for (std::uint32_t step = 0; step < steps; ++step) {
    const bool is_last = step + 1 == steps;
    const BufferId at = to.buffer(is_last ? BufferKind::output : BufferKind::temporary, size, step,
                                  is_last ? steps : step + 2, size * (1 + step % 2));
    const ValueId next = to.value(prefix + std::to_string(step), size, at, 0, is_last ? Role::output : Role::temporary);
    to.step(prefix + "tanh" + std::to_string(step), "Tanh", {last});
    last = next;
  }
  return std::move(to).finish(size * (steps > 1 ? 3 : 2));
}

}  // namespace

PlanSketch bodies_plan() {
  Sketcher inner("then_graph");
  const BufferId inner_scratch = inner.buffer(BufferKind::scratch, 12 * kOddKiB, 0, 1, 0);
  const BufferId looped = inner.buffer(BufferKind::output, 4 * kOddKiB, 0, 1, 12 * kOddKiB);
  inner.value("looped", 4 * kOddKiB, looped, 0, Role::output);
  inner.step("loop", "Loop", {}, StepKind::compute, inner_scratch);
  inner.body("body", chain("loop_body", "state", 5, 4 * kOddKiB), 0);
  PlanSketch then_branch = std::move(inner).finish(16 * kOddKiB);

  Sketcher to("nested");
  const BufferId caller = to.buffer(BufferKind::input, kOddKiB, 0, 3);
  const BufferId feature_at = to.buffer(BufferKind::temporary, 8 * kOddKiB, 0, 2, 0);
  const BufferId scratch = to.buffer(BufferKind::scratch, 24 * kOddKiB, 1, 2, 8 * kOddKiB);
  const BufferId chosen_at = to.buffer(BufferKind::temporary, 4 * kOddKiB, 1, 3, 32 * kOddKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 4 * kOddKiB, 2, 3, 0);
  const ValueId x = to.value("x", kOddKiB, caller, 0, Role::input);
  const ValueId feature = to.value("feature", 8 * kOddKiB, feature_at, 0, Role::temporary);
  to.step("embed", "Gemm", {x});
  const ValueId chosen = to.value("chosen", 4 * kOddKiB, chosen_at, 0, Role::temporary);
  to.step("if", "If", {feature}, StepKind::compute, scratch);
  to.body("then_branch", std::move(then_branch), 0);
  to.body("else_branch", chain("else_graph", "other", 3, 8 * kOddKiB), 0);
  to.value("out", 4 * kOddKiB, out_at, 0, Role::output);
  to.step("head", "Gemm", {chosen});
  return std::move(to).finish(36 * kOddKiB);
}

PlanSketch regions_plan() {
  Sketcher to("two_memories");
  const BufferId fast = to.buffer(BufferKind::temporary, 32 * kOddKiB, 0, 2, 0);
  const BufferId slow = to.buffer(BufferKind::temporary, 192 * kOddKiB, 0, 3, 0);
  to.place_in(RegionId(1));
  const BufferId out = to.buffer(BufferKind::output, 16 * kOddKiB, 2, 4, 32 * kOddKiB);
  const ValueId a = to.value("a", 32 * kOddKiB, fast, 0, Role::temporary);
  const ValueId b = to.value("b", 192 * kOddKiB, slow, 0, Role::temporary);
  to.step("split", "Custom", {});
  to.step("look", "Custom", {a});
  to.value("out", 16 * kOddKiB, out, 0, Role::output);
  to.step("join", "Custom", {b});
  to.step("end", "Custom", {});
  PlanSketch sketch = std::move(to).finish(200 * kOddKiB);
  sketch.plan.machine.regions = {{.name = "sram", .capacity = Bytes(64 * kOddKiB), .alignment = Bytes(16)},
                                 {.name = "dram", .alignment = Bytes(64)}};
  sketch.plan.layout.arena = {Bytes(48 * kOddKiB), Bytes(192 * kOddKiB)};
  return sketch;
}

//   step  0 conv1 x -> a   1 conv2 a -> b   2 conv3 b -> c   3 add a, c -> out
PlanSketch skip_plan() {
  Sketcher to("skip");
  const BufferId caller = to.buffer(BufferKind::input, 4 * kOddKiB, 0, 4);
  const BufferId skipped = to.buffer(BufferKind::temporary, 64 * kOddKiB, 0, 4, 0);
  const BufferId wide = to.buffer(BufferKind::temporary, 256 * kOddKiB, 1, 3, 64 * kOddKiB);
  const BufferId second = to.buffer(BufferKind::temporary, 256 * kOddKiB, 2, 4, 320 * kOddKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 64 * kOddKiB, 3, 4, 64 * kOddKiB);
  const ValueId x = to.value("x", 4 * kOddKiB, caller, 0, Role::input);
  const ValueId a = to.value("a", 64 * kOddKiB, skipped, 0, Role::temporary);
  to.step("conv1", "Conv", {x});
  const ValueId b = to.value("b", 256 * kOddKiB, wide, 0, Role::temporary);
  to.step("conv2", "Conv", {a});
  const ValueId c = to.value("c", 256 * kOddKiB, second, 0, Role::temporary);
  to.step("conv3", "Conv", {b});
  to.value("out", 64 * kOddKiB, out_at, 0, Role::output);
  to.step("add", "Add", {a, c});
  return std::move(to).finish(576 * kOddKiB);
}

//   step  0 conv1 x -> a   1 copy a to dram   2 conv2 x -> b   3 copy a to sram   4 conv1 x -> a again   5 add -> out
PlanSketch transfers_plan() {
  Sketcher to("transfers");
  const BufferId caller = to.buffer(BufferKind::input, 4 * kOddKiB, 0, 6);
  const BufferId first = to.buffer(BufferKind::temporary, 8 * kOddKiB, 0, 2, 0);
  const BufferId away = to.buffer(BufferKind::temporary, 8 * kOddKiB, 1, 4, 0);
  to.place_in(RegionId(1));
  const BufferId large = to.buffer(BufferKind::temporary, 32 * kOddKiB, 2, 3, 0);
  const BufferId back = to.buffer(BufferKind::temporary, 8 * kOddKiB, 3, 6, 0);
  const BufferId second = to.buffer(BufferKind::temporary, 8 * kOddKiB, 4, 6, 8 * kOddKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 8 * kOddKiB, 5, 6, 16 * kOddKiB);
  const ValueId x = to.value("x", 4 * kOddKiB, caller, 0, Role::input);
  const ValueId a = to.value("a", 8 * kOddKiB, first, 0, Role::temporary);
  const StepId conv = to.step("conv1", "Conv", {x});
  const ValueId stored = to.again(a, away, 0);
  const StepId swap_out = to.copy(a, stored, StreamId(1));
  to.value("b", 32 * kOddKiB, large, 0, Role::temporary);
  const StepId other = to.step("conv2", "Conv", {x});
  const ValueId loaded = to.again(a, back, 0);
  const StepId swap_in = to.copy(stored, loaded, StreamId(2));
  const ValueId computed = to.again(a, second, 0);
  to.step_again(conv, {x});
  to.value("out", 8 * kOddKiB, out_at, 0, Role::output);
  const StepId last = to.step("add", "Add", {loaded, computed});
  PlanSketch sketch = std::move(to).finish(48 * kOddKiB);
  Plan& plan = sketch.plan;
  plan.machine.regions = {{.name = "sram", .capacity = Bytes(64 * kOddKiB)}, {.name = "dram"}};
  plan.machine.workers[WorkerId(0)].addressable = {RegionId(0)};
  plan.machine.links = {{RegionId(0), RegionId(1), 1'000'000'000, 0}, {RegionId(1), RegionId(0), 1'000'000'000, 0}};
  plan.program.streams.push_back({.worker = std::nullopt, .link = LinkId(0)});
  plan.program.streams.push_back({.worker = std::nullopt, .link = LinkId(1)});
  plan.program.steps[swap_out].after = {conv};
  plan.program.steps[other].after = {swap_out};
  plan.program.steps[swap_in].after = {swap_out, other};
  plan.program.steps[last].after = {swap_in};
  plan.execution = ExecutionModel::streams;
  return sketch;
}

std::vector<std::string> hostile_names() {
  return {"</script><script>document.body.dataset.owned='yes'</script>",
          "<img src=x onerror=\"document.body.dataset.owned='yes'\">",
          "<!-- <script>",
          "\xE2\x80\xA8line\xE2\x80\xA9separators",
          "\x1b[2J\x1b]0;terminal\x07",
          std::string("nul\0inside", 10),
          "not\xFF\xFEutf\xC0\xAF-8\xED\xA0\x80",
          "\xE2\x80\xAEreversed",
          "zero\xE2\x80\x8Bwidth\xEF\xBB\xBF",
          "quote\"back\\slash'tick`${1}",
          "&lt;&amp;&#60;",
          "__proto__",
          "constructor",
          "@SCRIPT@ @SHEETS@ )lowtide_page\"",
          "\xF0\x9F\x8C\x8A wave, \xE6\xBD\xAE\xE4\xBD\x8D",
          std::string(3000, 'n'),
          std::string(9000, 'N')};
}

PlanSketch hostile_plan() {
  const std::vector<std::string> names = hostile_names();
  const auto steps = static_cast<std::uint32_t>(names.size());
  Sketcher to("</title><script>document.body.dataset.owned='title'</script>");
  std::vector<ValueId> reads;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::int64_t size = kOddKiB * (1 + step % 3);
    const BufferId at = to.buffer(step + 1 == steps ? BufferKind::output : BufferKind::temporary, size, step,
                                  std::min(step + 3, steps), 4 * kOddKiB * (step % 4));
    const ValueId value = to.value(names[step], size, at, 0, step + 1 == steps ? Role::output : Role::temporary);
    to.step(names[step], names[step], reads);
    reads = {value};
  }
  PlanSketch sketch = std::move(to).finish(4 * kOddKiB);
  sketch.plan.claims.bounds[0].name = names[0];
  sketch.plan.claims.schedule = names[1];
  sketch.plan.claims.allocate = names[4];
  sketch.plan.machine.regions[0].name = names[0];
  sketch.plan.provenance.dims = {names[1]};
  sketch.plan.provenance.tool = names[2];
  sketch.plan.provenance.target = names[6];
  sketch.plan.provenance.model_sha256 = names[3];
  return sketch;
}

PlanSketch empty_plan() { return Sketcher("nothing").finish(0); }

PlanSketch unplaced_plan() {
  Sketcher to("pass_through");
  const ValueId x = to.value("x", 64, to.buffer(BufferKind::input, 64, 0, 1), 0, Role::input);
  to.step("check", "Custom", {x});
  return std::move(to).finish(0);
}

PlanSketch activation_plan() {
  Sketcher to("activation");
  const BufferId input = to.buffer(BufferKind::input, 64 * kOddKiB, 0, 5);
  const BufferId lower = to.buffer(BufferKind::temporary, 256 * kOddKiB, 0, 5, 0);
  const BufferId upper = to.buffer(BufferKind::temporary, 256 * kOddKiB, 1, 4, 256 * kOddKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 64 * kOddKiB, 4, 5, 256 * kOddKiB);
  const ValueId given = to.value("input", 64 * kOddKiB, input, 0, Role::input);
  const ValueId x = to.value("x", 256 * kOddKiB, lower, 0, Role::temporary);
  to.step("conv1", "Conv", {given});
  const ValueId a = to.value("a", 256 * kOddKiB, upper, 0, Role::temporary);
  to.step("add", "Add", {x});
  const ValueId c = to.value("c", 256 * kOddKiB, upper, 0, Role::temporary);
  to.step("clip", "Clip", {a});
  const ValueId m = to.value("m", 256 * kOddKiB, lower, 0, Role::temporary);
  to.step("mul", "Mul", {x, c});
  to.value("out", 64 * kOddKiB, out_at, 0, Role::output);
  to.step("conv2", "Conv", {m});
  return std::move(to).finish(512 * kOddKiB);
}

PlanSketch idle_plan() {
  Sketcher to("idle");
  const BufferId input = to.buffer(BufferKind::input, 64 * kOddKiB, 0, 7);
  const BufferId kept = to.buffer(BufferKind::temporary, 64 * kOddKiB, 0, 7, 0);
  const BufferId small = to.buffer(BufferKind::temporary, 64, 1, 6, 128 * kOddKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 64 * kOddKiB, 6, 7, 64 * kOddKiB);
  const ValueId given = to.value("input", 64 * kOddKiB, input, 0, Role::input);
  const ValueId a = to.value("a", 64 * kOddKiB, kept, 0, Role::temporary);
  to.step("conv", "Conv", {given});
  ValueId last = a;
  for (int at = 0; at < 5; ++at) {
    const ValueId next = to.value("shape" + std::to_string(at), 16, small, 0, Role::temporary);
    to.step("shape" + std::to_string(at), "Mul", at == 0 ? std::vector<ValueId>{} : std::vector<ValueId>{last});
    last = next;
  }
  to.value("out", 64 * kOddKiB, out_at, 0, Role::output);
  to.step("relu", "Relu", {a});
  return std::move(to).finish(128 * kOddKiB);
}

}  // namespace lowtide
