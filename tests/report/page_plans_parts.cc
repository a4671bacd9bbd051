// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Plans whose buffers live part by part, and plans for several streams.

#include <algorithm>
#include <utility>

#include "tests/report/page_plans.h"

namespace lowtide {
namespace {

constexpr std::int64_t kKiB = 1024;

BufferPart part(std::int64_t size, std::uint32_t begin, std::uint32_t end) {
  return {.size = Bytes(size), .lifespan = {StepId(begin), StepId(end)}};
}

}  // namespace

PlanSketch parts_plan() {
  Sketcher to("staircase");
  const BufferId input = to.buffer(BufferKind::input, 64 * kKiB, 0, 7);
  const BufferId joined = to.buffer(BufferKind::temporary, 128 * kKiB, 0, 7, 0);
  to.parts({part(64 * kKiB, 0, 7), part(32 * kKiB, 3, 7), part(32 * kKiB, 4, 7)});
  const BufferId t_at = to.buffer(BufferKind::temporary, 64 * kKiB, 1, 3, 64 * kKiB);
  const BufferId u_at = to.buffer(BufferKind::temporary, 64 * kKiB, 2, 5, 128 * kKiB);
  const BufferId scratch = to.buffer(BufferKind::scratch, 32 * kKiB, 3, 4, 96 * kKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 32 * kKiB, 6, 7, 128 * kKiB);

  const ValueId x = to.value("x", 64 * kKiB, input, 0, Role::input);
  const ValueId a = to.value("a", 64 * kKiB, joined, 0, Role::temporary);
  to.step("conv1", "Conv", {x});
  const ValueId t = to.value("t", 64 * kKiB, t_at, 0, Role::temporary);
  to.step("conv2", "Conv", {a});
  const ValueId u = to.value("u", 64 * kKiB, u_at, 0, Role::temporary);
  to.step("conv3", "Conv", {t});
  const ValueId b = to.value("b", 32 * kKiB, joined, 64 * kKiB, Role::temporary);
  to.step("conv4", "Conv", {u}, StepKind::compute, scratch);
  const ValueId c = to.value("c", 32 * kKiB, joined, 96 * kKiB, Role::temporary);
  to.step("conv5", "Conv", {u});
  const ValueId cat = to.value("cat", 128 * kKiB, joined, 0, Role::temporary);
  to.step("concat", "Concat", {a, b, c}, StepKind::alias);
  to.value("out", 32 * kKiB, out_at, 0, Role::output);
  to.step("pool", "MaxPool", {cat});
  return std::move(to).finish(192 * kKiB);
}

PlanSketch parts_plan_before() {
  Sketcher to("staircase");
  const BufferId input = to.buffer(BufferKind::input, 64 * kKiB, 0, 7);
  const BufferId a_at = to.buffer(BufferKind::temporary, 64 * kKiB, 0, 6, 0);
  const BufferId t_at = to.buffer(BufferKind::temporary, 64 * kKiB, 1, 3, 64 * kKiB);
  const BufferId u_at = to.buffer(BufferKind::temporary, 64 * kKiB, 2, 5, 128 * kKiB);
  const BufferId b_at = to.buffer(BufferKind::temporary, 32 * kKiB, 3, 6, 64 * kKiB);
  const BufferId scratch = to.buffer(BufferKind::scratch, 32 * kKiB, 3, 4, 96 * kKiB);
  const BufferId c_at = to.buffer(BufferKind::temporary, 32 * kKiB, 4, 6, 96 * kKiB);
  const BufferId joined = to.buffer(BufferKind::temporary, 128 * kKiB, 5, 7, 128 * kKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 32 * kKiB, 6, 7, 0);

  const ValueId x = to.value("x", 64 * kKiB, input, 0, Role::input);
  const ValueId a = to.value("a", 64 * kKiB, a_at, 0, Role::temporary);
  to.step("conv1", "Conv", {x});
  const ValueId t = to.value("t", 64 * kKiB, t_at, 0, Role::temporary);
  to.step("conv2", "Conv", {a});
  const ValueId u = to.value("u", 64 * kKiB, u_at, 0, Role::temporary);
  to.step("conv3", "Conv", {t});
  const ValueId b = to.value("b", 32 * kKiB, b_at, 0, Role::temporary);
  to.step("conv4", "Conv", {u}, StepKind::compute, scratch);
  const ValueId c = to.value("c", 32 * kKiB, c_at, 0, Role::temporary);
  to.step("conv5", "Conv", {u});
  const ValueId cat = to.value("cat", 128 * kKiB, joined, 0, Role::temporary);
  to.step("concat", "Concat", {a, b, c});
  to.value("out", 32 * kKiB, out_at, 0, Role::output);
  to.step("pool", "MaxPool", {cat});
  return std::move(to).finish(192 * kKiB, "as_given");
}

PlanSketch staircases_plan(std::uint32_t count) {
  constexpr std::uint32_t kParts = 8;
  const std::uint32_t steps = count * kParts;
  Sketcher to("staircases");
  std::vector<ValueId> before;
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::string name = "stairs" + std::to_string(at);
    const std::uint32_t begin = at * kParts;
    const std::uint32_t end = std::min(begin + kParts + 1, steps);
    const std::int64_t low = at % 2 * kParts * 4 * kKiB;
    const BufferId stairs = to.buffer(BufferKind::temporary, kParts * 4 * kKiB, begin, end, low);
    std::vector<BufferPart> parts;
    for (std::uint32_t p = 0; p < kParts; ++p) parts.push_back(part(4 * kKiB, begin + p, end));
    to.parts(parts);
    for (std::uint32_t p = 1; p < kParts; ++p) {
      const BufferId guest = to.buffer(BufferKind::temporary, 4 * kKiB, begin, begin + p, low + p * 4 * kKiB);
      to.value(name + "/guest" + std::to_string(p), 4 * kKiB, guest, 0, Role::temporary);
    }
    for (std::uint32_t p = 0; p < kParts; ++p) {
      const ValueId slice =
          to.value(name + "/slice" + std::to_string(p), 4 * kKiB, stairs, p * 4 * kKiB, Role::temporary);
      to.step(name + "/conv" + std::to_string(p), "Conv", before);
      before = {slice};
    }
  }
  return std::move(to).finish(2 * kParts * 4 * kKiB);
}

PlanSketch streams_plan() {
  Sketcher to("branches");
  const BufferId input = to.buffer(BufferKind::input, 16 * kKiB, 0, 4);
  const BufferId stem_at = to.buffer(BufferKind::temporary, 16 * kKiB, 0, 3, 0);
  const BufferId left_at = to.buffer(BufferKind::temporary, 16 * kKiB, 1, 4, 16 * kKiB);
  const BufferId right_at = to.buffer(BufferKind::temporary, 16 * kKiB, 2, 4, 32 * kKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 16 * kKiB, 3, 4, 0);
  const ValueId x = to.value("x", 16 * kKiB, input, 0, Role::input);
  const ValueId stem = to.value("stem", 16 * kKiB, stem_at, 0, Role::temporary);
  const StepId first = to.step("conv1", "Conv", {x});
  const ValueId left = to.value("left", 16 * kKiB, left_at, 0, Role::temporary);
  to.step("conv2", "Conv", {stem});
  const ValueId right = to.value("right", 16 * kKiB, right_at, 0, Role::temporary);
  const StepId beside = to.step("conv3", "Conv", {stem});
  to.value("out", 16 * kKiB, out_at, 0, Role::output);
  const StepId last = to.step("add", "Add", {left, right});
  PlanSketch sketch = std::move(to).finish(48 * kKiB);
  sketch.plan.program.streams.push_back({.worker = WorkerId(0), .link = std::nullopt});
  sketch.plan.execution = ExecutionModel::streams;
  sketch.plan.program.steps[beside].stream = StreamId(1);
  sketch.plan.program.steps[beside].after = {first};
  sketch.plan.program.steps[last].after = {beside};
  return sketch;
}

}  // namespace lowtide
