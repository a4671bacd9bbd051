// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/runtime/inspect.h"
#include "lowtide/target/add_link.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using testing::graph_of;
using ::testing::HasSubstr;
using testing::must_open;
using testing::ref;
using testing::values_of;
using testing::weights_for;

// Results of 4,096 f32 are 16 KiB. Until the sums, a, b and c are live together, and no node has more than two results
// that are not its own: 2 * 16 KiB. The caller holds x, 16 KiB. With the hints, a, b and c run once.
constexpr const char* kSkips = R"(graph "g" {
  input x : f32[4096]
  a = Sin(x) : f32[4096]
  b = Cos(a) : f32[4096]
  c = Exp(b) : f32[4096]
  d = Sqrt(c) : f32[4096]
  e = Mul(d, c) : f32[4096]
  f = Sub(e, b) : f32[4096]
  g = Div(f, a) : f32[4096]
  output g
})";
constexpr std::int64_t kCount = 4096;
constexpr Bytes kTensor(kCount * 4);

Plan swapped_plan(const Graph& graph, int threads = 1) {
  const Result<Target> target = add_link(*cpu_target({.threads = threads}), {.bytes_per_second = 12'000'000'000});
  PlanOptions options{.budget = kTensor * 3, .recompute_effort = 100'000'000};
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) options.hints.push_back({id, HintKind::swap});
  Result<PlannedGraph> planned = plan_graph(graph, *target, options);
  if (!planned) throw std::runtime_error(planned.error().describe());
  for (const Violation& violation : planned->violations) ADD_FAILURE() << violation.message;
  EXPECT_TRUE(planned->fits());
  EXPECT_GT(outside_bytes(planned->plan), Bytes(0));
  return std::move(planned->plan);
}

std::shared_ptr<const Executable> swapped(int threads = 1) {
  Graph graph = graph_of(kSkips);
  Plan plan = swapped_plan(graph, threads);
  return *Executable::prepare(std::move(graph), std::move(plan), weights_for(),
                              {.threads = threads, .system_threads = std::max(threads, 2)});
}

std::vector<float> input_values() {
  std::vector<float> values;
  for (std::int64_t at = 0; at < kCount; ++at) values.push_back(static_cast<float>(at % 97) / 50.0F + 0.25F);
  return values;
}

std::vector<float> run_once(Session& session, const std::vector<float>& x) {
  const std::array<std::int64_t, 1> extents = {kCount};
  EXPECT_TRUE(session.bind_input("x", ref(x, extents)).ok());
  EXPECT_TRUE(session.run().ok());
  return values_of(session.output(0));
}

// Both the plan and its memory are smaller, and the results have the same bits, with and without a thread for kernels
// beside the one for copies.
TEST(Swap, GivesTheBitsOfAPlanWithoutIt) {
  const std::vector<float> x = input_values();
  const std::shared_ptr<const Executable> plain = testing::must_prepare(kSkips);
  Session reference = must_open(plain);
  const std::vector<float> expected = run_once(reference, x);
  for (int threads : {1, 2, 3, 4, 8}) {
    const std::shared_ptr<const Executable> executable = swapped(threads);
    EXPECT_EQ(executable->required_bytes(), kTensor * 2);
    EXPECT_LT(executable->required_bytes(), plain->required_bytes());
    EXPECT_EQ(executable->memory().outside, outside_bytes(executable->plan()));
    Session session = must_open(executable);
    for (int run = 0; run < 200; ++run) ASSERT_EQ(run_once(session, x), expected) << threads << " " << run;
  }
}

TEST(Swap, InspectionsFindNothing) {
  const std::vector<float> x = input_values();
  const std::array<std::int64_t, 1> extents = {kCount};
  const std::vector<TensorRef> inputs = {ref(x, extents)};
  const std::shared_ptr<const Executable> executable = swapped();
  const Result<RunInspection> poisoned = run_poisoned(*executable, inputs);
  ASSERT_TRUE(poisoned.ok());
  EXPECT_EQ(poisoned->fault.value_or(""), "");
  EXPECT_EQ(poisoned->seen_arena, arena_bytes(executable->plan()));
  EXPECT_EQ(poisoned->seen_peak, executable->plan().claims.load);
  EXPECT_EQ(run_guarded(*executable, inputs)->fault.value_or(""), "");
  EXPECT_EQ(compare_without_reuse(*executable, inputs)->fault.value_or(""), "");
}

// The first copy brings back what left. If the memory outside is overwritten before it, the result differs.
TEST(Swap, WhatComesBackIsWhatIsOutside) {
  const std::vector<float> x = input_values();
  const std::shared_ptr<const Executable> executable = swapped();
  Plan damaged = executable->plan();
  for (Step& step : damaged.program.steps) {
    // Without the copy out, zeros come back.
    if (is_copy(step) && damaged.program.streams[step.stream].link == LinkId(0)) step.work = Copy{{0, 0}};
  }
  const auto other = Executable::prepare(graph_of(kSkips), std::move(damaged), weights_for());
  ASSERT_TRUE(other.ok());
  Session session = must_open(executable);
  Session wrong = must_open(*other);
  EXPECT_NE(run_once(session, x), run_once(wrong, x));
}

TEST(Swap, AFileNeedsAFolderAndSpace) {
  const Result<Arena> absent = Arena::in_file(::testing::TempDir() + "/absent", Bytes(64));
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::io);
  EXPECT_THAT(absent.error().message, HasSubstr("No such file or directory"));
  EXPECT_FALSE(Arena::in_file(::testing::TempDir(), Bytes(std::int64_t{1} << 62)).ok());
}

TEST(Swap, TheCallerMayGiveTheMemoryOutside) {
  const std::shared_ptr<const Executable> executable = swapped();
  const Bytes needed = executable->memory().outside;
  const Arena arena = *Arena::allocate(executable->required_bytes());
  const Result<Session> small = Session::open(executable, arena, {.outside = *Arena::allocate(needed - Bytes(64))});
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.error().code, ErrorCode::over_limit);
  EXPECT_THAT(small.error().message, HasSubstr("the memory outside of the arena has"));
  const Result<Arena> file = Arena::in_file(::testing::TempDir(), needed);
  ASSERT_TRUE(file.ok()) << file.error().describe();
  Session in_file = *Session::open(executable, arena, {.outside = *file});
  Session in_memory = must_open(executable);
  EXPECT_EQ(run_once(in_file, input_values()), run_once(in_memory, input_values()));
  const Result<Session> same = Session::open(executable, arena, {.outside = arena});
  ASSERT_FALSE(same.ok());
  EXPECT_EQ(same.error().code, needed > executable->required_bytes() ? ErrorCode::over_limit : ErrorCode::invalid);

  const Arena outside = *Arena::allocate(needed);
  Result<Session> session = Session::open(executable, arena, {.outside = outside});
  ASSERT_TRUE(session.ok());
  Session own = must_open(executable);
  const std::vector<float> x = input_values();
  EXPECT_EQ(run_once(*session, x), run_once(own, x));
  const std::array<std::int64_t, 1> extents = {kCount};
  const TensorRef there{DType::f32, extents, outside.memory().first(static_cast<std::size_t>(kTensor.count()))};
  const Result<void> bound = session->bind_input("x", there);
  ASSERT_FALSE(bound.ok());
  EXPECT_THAT(bound.error().message, HasSubstr("the memory outside of the arena"));

  // Another run has the memory outside.
  ASSERT_TRUE(outside.acquire());
  EXPECT_TRUE(session->bind_input("x", ref(x, extents)).ok());
  EXPECT_EQ(session->run().status.code, RunCode::busy);
  outside.release();
  EXPECT_TRUE(session->run().ok());
}

// A kernel of the test that waits until the memory outside has other bytes.
class WaitingKernel final : public PreparedKernel {
 public:
  explicit WaitingKernel(const std::byte* watched) : watched_(watched) {}
  [[nodiscard]] Bytes bound_bytes() const override { return Bytes(sizeof(Bound)); }
  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* /*scratch*/) const override {
    return new (at) Bound{{.run = &Bound::call}, watched_, reads[0], writes[0]};
  }

 private:
  struct Bound : BoundKernel {
    const std::byte* watched;
    BoundTensor from;
    BoundTensor to;
    static RunStatus call(BoundKernel* self, Team& /*team*/) {
      const auto* bound = static_cast<const Bound*>(self);
      std::memcpy(*bound->to.bytes, *bound->from.bytes, static_cast<std::size_t>(bound->to.capacity_bytes));
      using Clock = std::chrono::steady_clock;
      const Clock::time_point end = Clock::now() + std::chrono::seconds(20);
      while (is_untouched(bound->watched)) {
        if (Clock::now() > end) return {RunCode::kernel_failed, 0};
      }
      return {};
    }
  };
  // Reads a byte that another thread may write. No kernel does that, so the thread sanitizer would report it.
  [[gnu::no_sanitize_thread]] static bool is_untouched(const volatile std::byte* watched) {
    return static_cast<std::byte>(*watched) == std::byte{0xEE};
  }
  const std::byte* watched_;
};

// b waits for the copy of a to have begun, so the two run at the same time.
TEST(Swap, CopiesRunBesideKernels) {
  std::string text = kSkips;
  text.replace(text.find("b = Cos(a)"), 10, "b = test::Wait(a)");
  Graph graph = graph_of(text);
  Plan plan = swapped_plan(graph);
  // What leaves first is a, right after it is made. So the copy is listed before b, and b does not wait for it.
  const Arena outside = *Arena::allocate(outside_bytes(plan));
  std::optional<Offset> place;
  for (const Step& step : plan.program.steps) {
    if (!is_copy(step) || place) continue;
    const ValuePlace& to = plan.layout.values[step.writes[0]];
    place = plan.layout.buffers[to.buffer].placement->offset;
    EXPECT_EQ(graph.tensor(plan.program.values[step.writes[0]].tensor).name, "a");
  }
  ASSERT_TRUE(place);
  ExecutableOptions options;
  options.own_kernel = [&](const PrepareInput& input) -> std::unique_ptr<PreparedKernel> {
    if (input.graph.op(input.node).type != "Wait") return nullptr;
    return std::make_unique<WaitingKernel>(outside.memory().data() + place->position());
  };
  const auto executable = Executable::prepare(std::move(graph), std::move(plan), weights_for(), options);
  ASSERT_TRUE(executable.ok()) << executable.error().describe();
  const Arena arena = *Arena::allocate((*executable)->required_bytes());
  Result<Session> session = Session::open(*executable, arena, {.touch = false, .outside = outside});
  ASSERT_TRUE(session.ok());
  std::ranges::fill(outside.memory(), std::byte{0xEE});
  run_once(*session, input_values());
}

TEST(Swap, NoSecondRegionThatAWorkerAddresses) {
  Graph graph = graph_of(kSkips);
  Plan plan = swapped_plan(graph);
  plan.machine.workers[WorkerId(0)].addressable.clear();
  const auto refused = Executable::prepare(std::move(graph), std::move(plan), weights_for());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("the workers of the plan address 2 regions"));
}

}  // namespace
}  // namespace lowtide
