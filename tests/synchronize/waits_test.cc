// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/synchronize/waits.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "lowtide/plan/plan.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// A hand-made plan of a graph. Each stream belongs to a worker.
class Draft {
 public:
  Draft(const Graph& graph, std::size_t streams) : graph_(graph) {
    plan_.layout.arena = {Bytes(0)};  // one region
    plan_.program.streams = IdVector<StreamId, Stream>(streams, Stream{.worker = WorkerId(0), .link = std::nullopt});
  }

  // A buffer at an offset of the arena, or outside of it.
  BufferId buffer(std::int64_t size, std::optional<std::int64_t> offset, BufferKind kind = BufferKind::temporary) {
    Buffer made{.kind = kind, .size = Bytes(size)};
    if (offset) made.placement = Placement{RegionId(0), Offset(*offset)};
    return plan_.layout.buffers.push_back(made);
  }

  ValueId value(const char* tensor, BufferId buffer) {
    plan_.layout.values.push_back({.buffer = buffer, .offset = Offset(0)});
    return plan_.program.values.push_back({.tensor = tensor_named(graph_, tensor), .written = std::nullopt});
  }

  void step(Work work, std::vector<ValueId> reads, std::vector<ValueId> writes, std::uint32_t stream) {
    for (ValueId value : writes) {
      plan_.program.values[value].written = StepId(static_cast<std::uint32_t>(plan_.program.steps.size()));
    }
    plan_.program.steps.push_back(
        {.work = work, .reads = std::move(reads), .writes = std::move(writes), .stream = StreamId(stream)});
    plan_.layout.steps.push_back({});
  }

  // The waits of each step.
  std::vector<std::vector<std::uint32_t>> waits() {
    plan_.program = with_waits(graph_, std::move(plan_.program), plan_.layout);
    std::vector<std::vector<std::uint32_t>> waits;
    for (const Step& step : plan_.program.steps) {
      std::vector<std::uint32_t>& own = waits.emplace_back();
      for (StepId before : step.after) own.push_back(before.value());
    }
    return waits;
  }

 private:
  const Graph& graph_;
  Plan plan_;
};

Compute compute(std::uint32_t node) { return {NodeId(node), KernelId(0)}; }

using Waits = std::vector<std::vector<std::uint32_t>>;

// The 64 bytes of y are copied in two halves, each on a stream of its own. w is written over the first half of y, so it
// waits only for the first copy. z reads the copied value, so it comes after both copies. It has to wait only for the
// second one, because w has waited for the first on the same stream.
TEST(Waits, CopiesTouchTheirRangeAndTheirReadersWaitForAll) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    y = Conv(x) : f32[16]
    w = Conv(x) : f32[8]
    z = Conv(y) : f32[16]
    output w, z
  })");
  Draft draft(graph, 3);
  const ValueId x = draft.value("x", draft.buffer(64, std::nullopt, BufferKind::input));
  const ValueId y = draft.value("y", draft.buffer(64, 0));
  const ValueId copied = draft.value("y", draft.buffer(64, 64));
  const ValueId w = draft.value("w", draft.buffer(32, 0));
  const ValueId z = draft.value("z", draft.buffer(64, 128));
  draft.step(compute(0), {x}, {y}, 0);
  draft.step(Copy{{0, 32}}, {y}, {copied}, 1);
  draft.step(Copy{{32, 64}}, {y}, {copied}, 2);
  draft.step(compute(1), {x}, {w}, 0);
  draft.step(compute(2), {copied}, {z}, 0);
  EXPECT_EQ(draft.waits(), (Waits{{}, {0}, {0}, {1}, {2}}));
}

// The bytes of a state have no address, but its update still comes after all readers of the old content. Inputs are
// never written, so nothing waits for their readers.
TEST(Waits, UpdatesComeAfterReadersOfTheState) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    state h : f32[16]
    y = Conv(h, x) : f32[16]
    output y
    update h = x
  })");
  Draft draft(graph, 2);
  const BufferId state = draft.buffer(64, std::nullopt, BufferKind::state);
  const ValueId x = draft.value("x", draft.buffer(64, std::nullopt, BufferKind::input));
  const ValueId h = draft.value("h", state);
  const ValueId y = draft.value("y", draft.buffer(64, 0));
  const ValueId next = draft.value("x", state);
  draft.step(compute(0), {h, x}, {y}, 1);
  draft.step(Copy{{0, 64}}, {x}, {next}, 0);
  EXPECT_EQ(draft.waits(), (Waits{{}, {0}}));
}

// a runs twice. b must come after its first run.
TEST(Waits, ControlInputsWaitForTheFirstRunOfANode) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[16]
    b = Conv(x) after (a) : f32[16]
    output a, b
  })");
  Draft draft(graph, 3);
  const ValueId x = draft.value("x", draft.buffer(64, std::nullopt, BufferKind::input));
  const ValueId first = draft.value("a", draft.buffer(64, 0));
  const ValueId second = draft.value("a", draft.buffer(64, 64));
  const ValueId b = draft.value("b", draft.buffer(64, 128));
  draft.step(compute(0), {x}, {first}, 0);
  draft.step(compute(0), {x}, {second}, 2);
  draft.step(compute(1), {x}, {b}, 1);
  EXPECT_EQ(draft.waits(), (Waits{{}, {}, {0}}));
}

}  // namespace
}  // namespace lowtide::testing
