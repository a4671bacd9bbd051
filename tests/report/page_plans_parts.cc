// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Plans whose buffers live part by part, and plans for several streams.

#include <algorithm>
#include <utility>

#include "tests/report/page_plans.h"

namespace lowtide {
namespace {

constexpr std::int64_t kPartKiB = 1024;

BufferPart part(std::int64_t size, std::uint32_t begin, std::uint32_t end) {
  return {.size = Bytes(size), .lifespan = {StepId(begin), StepId(end)}};
}

}  // namespace

PlanSketch parts_plan() {
  Sketcher to("staircase");
  const BufferId input = to.buffer(BufferKind::input, 64 * kPartKiB, 0, 7);
  const BufferId joined = to.buffer(BufferKind::temporary, 128 * kPartKiB, 0, 7, 0);
  to.parts({part(64 * kPartKiB, 0, 7), part(32 * kPartKiB, 3, 7), part(32 * kPartKiB, 4, 7)});
  const BufferId t_at = to.buffer(BufferKind::temporary, 64 * kPartKiB, 1, 3, 64 * kPartKiB);
  const BufferId u_at = to.buffer(BufferKind::temporary, 64 * kPartKiB, 2, 5, 128 * kPartKiB);
  const BufferId scratch = to.buffer(BufferKind::scratch, 32 * kPartKiB, 3, 4, 96 * kPartKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 32 * kPartKiB, 6, 7, 128 * kPartKiB);

  const ValueId x = to.value("x", 64 * kPartKiB, input, 0, Role::input);
  const ValueId a = to.value("a", 64 * kPartKiB, joined, 0, Role::temporary);
  to.step("conv1", "Conv", {x});
  const ValueId t = to.value("t", 64 * kPartKiB, t_at, 0, Role::temporary);
  to.step("conv2", "Conv", {a});
  const ValueId u = to.value("u", 64 * kPartKiB, u_at, 0, Role::temporary);
  to.step("conv3", "Conv", {t});
  const ValueId b = to.value("b", 32 * kPartKiB, joined, 64 * kPartKiB, Role::temporary);
  to.step("conv4", "Conv", {u}, StepKind::compute, scratch);
  const ValueId c = to.value("c", 32 * kPartKiB, joined, 96 * kPartKiB, Role::temporary);
  to.step("conv5", "Conv", {u});
  const ValueId cat = to.value("cat", 128 * kPartKiB, joined, 0, Role::temporary);
  to.step("concat", "Concat", {a, b, c}, StepKind::alias);
  to.value("out", 32 * kPartKiB, out_at, 0, Role::output);
  to.step("pool", "MaxPool", {cat});
  return std::move(to).finish(192 * kPartKiB);
}

PlanSketch parts_plan_before() {
  Sketcher to("staircase");
  const BufferId input = to.buffer(BufferKind::input, 64 * kPartKiB, 0, 7);
  const BufferId a_at = to.buffer(BufferKind::temporary, 64 * kPartKiB, 0, 6, 0);
  const BufferId t_at = to.buffer(BufferKind::temporary, 64 * kPartKiB, 1, 3, 64 * kPartKiB);
  const BufferId u_at = to.buffer(BufferKind::temporary, 64 * kPartKiB, 2, 5, 128 * kPartKiB);
  const BufferId b_at = to.buffer(BufferKind::temporary, 32 * kPartKiB, 3, 6, 64 * kPartKiB);
  const BufferId scratch = to.buffer(BufferKind::scratch, 32 * kPartKiB, 3, 4, 96 * kPartKiB);
  const BufferId c_at = to.buffer(BufferKind::temporary, 32 * kPartKiB, 4, 6, 96 * kPartKiB);
  const BufferId joined = to.buffer(BufferKind::temporary, 128 * kPartKiB, 5, 7, 128 * kPartKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 32 * kPartKiB, 6, 7, 0);

  const ValueId x = to.value("x", 64 * kPartKiB, input, 0, Role::input);
  const ValueId a = to.value("a", 64 * kPartKiB, a_at, 0, Role::temporary);
  to.step("conv1", "Conv", {x});
  const ValueId t = to.value("t", 64 * kPartKiB, t_at, 0, Role::temporary);
  to.step("conv2", "Conv", {a});
  const ValueId u = to.value("u", 64 * kPartKiB, u_at, 0, Role::temporary);
  to.step("conv3", "Conv", {t});
  const ValueId b = to.value("b", 32 * kPartKiB, b_at, 0, Role::temporary);
  to.step("conv4", "Conv", {u}, StepKind::compute, scratch);
  const ValueId c = to.value("c", 32 * kPartKiB, c_at, 0, Role::temporary);
  to.step("conv5", "Conv", {u});
  const ValueId cat = to.value("cat", 128 * kPartKiB, joined, 0, Role::temporary);
  to.step("concat", "Concat", {a, b, c});
  to.value("out", 32 * kPartKiB, out_at, 0, Role::output);
  to.step("pool", "MaxPool", {cat});
  return std::move(to).finish(192 * kPartKiB, "as_given");
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
    const std::int64_t low = at % 2 * kParts * 4 * kPartKiB;
    const BufferId stairs = to.buffer(BufferKind::temporary, kParts * 4 * kPartKiB, begin, end, low);
    std::vector<BufferPart> parts;
    for (std::uint32_t p = 0; p < kParts; ++p) parts.push_back(part(4 * kPartKiB, begin + p, end));
    to.parts(parts);
    for (std::uint32_t p = 1; p < kParts; ++p) {
      const BufferId guest = to.buffer(BufferKind::temporary, 4 * kPartKiB, begin, begin + p, low + p * 4 * kPartKiB);
      to.value(name + "/guest" + std::to_string(p), 4 * kPartKiB, guest, 0, Role::temporary);
    }
    for (std::uint32_t p = 0; p < kParts; ++p) {
      const ValueId slice =
          to.value(name + "/slice" + std::to_string(p), 4 * kPartKiB, stairs, p * 4 * kPartKiB, Role::temporary);
      to.step(name + "/conv" + std::to_string(p), "Conv", before);
      before = {slice};
    }
  }
  return std::move(to).finish(2 * kParts * 4 * kPartKiB);
}

PlanSketch streams_plan() {
  Sketcher to("branches");
  const BufferId input = to.buffer(BufferKind::input, 16 * kPartKiB, 0, 4);
  const BufferId stem_at = to.buffer(BufferKind::temporary, 16 * kPartKiB, 0, 3, 0);
  const BufferId left_at = to.buffer(BufferKind::temporary, 16 * kPartKiB, 1, 4, 16 * kPartKiB);
  const BufferId right_at = to.buffer(BufferKind::temporary, 16 * kPartKiB, 2, 4, 32 * kPartKiB);
  const BufferId out_at = to.buffer(BufferKind::output, 16 * kPartKiB, 3, 4, 0);
  const ValueId x = to.value("x", 16 * kPartKiB, input, 0, Role::input);
  const ValueId stem = to.value("stem", 16 * kPartKiB, stem_at, 0, Role::temporary);
  const StepId first = to.step("conv1", "Conv", {x});
  const ValueId left = to.value("left", 16 * kPartKiB, left_at, 0, Role::temporary);
  to.step("conv2", "Conv", {stem});
  const ValueId right = to.value("right", 16 * kPartKiB, right_at, 0, Role::temporary);
  const StepId beside = to.step("conv3", "Conv", {stem});
  to.value("out", 16 * kPartKiB, out_at, 0, Role::output);
  const StepId last = to.step("add", "Add", {left, right});
  PlanSketch sketch = std::move(to).finish(48 * kPartKiB);
  sketch.plan.program.streams.push_back({.worker = WorkerId(0), .link = std::nullopt});
  sketch.plan.execution = ExecutionModel::streams;
  sketch.plan.program.steps[beside].stream = StreamId(1);
  sketch.plan.program.steps[beside].after = {first};
  sketch.plan.program.steps[last].after = {beside};
  return sketch;
}

}  // namespace lowtide
