// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/session.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <thread>

#include "lowtide/runtime/run_error.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::must_open;
using testing::must_prepare;
using testing::ref;
using testing::values_of;

constexpr std::array<std::int64_t, 1> kExtents{4};

constexpr const char* kTwoRelus = R"(graph "g" {
  input x : f32[4]
  a = Relu(x) "first" : f32[4]
  y = Relu(a) "second" : f32[4]
  output y
})";

TEST(Session, RunsInPlaceInOneBuffer) {
  const auto executable = must_prepare(kTwoRelus);
  EXPECT_EQ(executable->required_bytes(), Bytes(64));  // a and y share 16 bytes, rounded up to 64
  Session session = must_open(executable);
  const std::vector<float> x{-1, 2, -3, 4};
  ASSERT_TRUE(session.bind_input("x", ref(x, kExtents)).ok());
  ASSERT_TRUE(session.run().ok());
  const OutputRef y = session.output(0);
  EXPECT_THAT(values_of(y), ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(y.extents, ElementsAre(4));
  EXPECT_THAT(x, ElementsAre(-1, 2, -3, 4));
}

TEST(Session, ReadsNewInputsInEachRun) {
  Session session = must_open(must_prepare(kTwoRelus));
  std::vector<float> x{1, 1, 1, 1};
  ASSERT_TRUE(session.bind_input("x", ref(x, kExtents)).ok());
  ASSERT_TRUE(session.run().ok());
  x = {5, -5, 6, -6};  // the same memory
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(5, 0, 6, 0));
  const std::vector<float> other{7, 8, 9, -9};
  ASSERT_TRUE(session.bind_input("x", ref(other, kExtents)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(7, 8, 9, 0));
}

// Reshape and Concat have no kernel here. The plan needs none: one is an alias, the other an alias and a copy.
TEST(Session, FollowsViewsAndCopies) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[4]
    a = Relu(x) : f32[4]
    r = Reshape(a) : f32[2,2]
    b = Relu(r) : f32[2,2]
    s = Reshape(b) : f32[4]
    y = Concat(x, s) {axis = 0} : f32[8]
    output y
  })");
  Session session = must_open(executable);
  const std::vector<float> x{-1, 2, -3, 4};
  ASSERT_TRUE(session.bind_input("x", ref(x, kExtents)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(-1, 2, -3, 4, 0, 2, 0, 4));
}

// z is the state before the run.
TEST(Session, KeepsStatesFromRunToRun) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[4]
    state h : f32[4]
    z = Relu(h) : f32[4]
    n = Relu(x) : f32[4]
    output z
    update h = n
  })");
  Session session = must_open(executable);
  const std::vector<float> x{-1, 2, -3, 4};
  ASSERT_TRUE(session.bind_input("x", ref(x, kExtents)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(0, 0, 0, 0));
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(0, 2, 0, 4));

  std::vector<float> h{9, 9, 9, -9};
  ASSERT_TRUE(session.bind_state("h", std::as_writable_bytes(std::span(h))).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(9, 9, 9, 0));
  EXPECT_THAT(h, ElementsAre(0, 2, 0, 4));
}

TEST(Session, ReadsConstantsOfTheTableAndKnownIntegers) {
  ConstantTable table;
  const std::array<float, 2> w{-1, 3};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(w));
  table.sources.push_back({"w", DType::f32, Shape({2}), Bytes(8),
                           ConstantSource::Inline{std::vector<std::byte>(bytes.begin(), bytes.end())}});
  Session session = must_open(must_prepare(R"(graph "g" {
    constant w : f32[2] data 0
    constant k : i32[3] = [1, -2, 300]
    y = Relu(w) : f32[2]
    output y, k
  })",
                                           table));
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(0, 3));
  EXPECT_THAT(values_of<std::int32_t>(session.output(1)), ElementsAre(1, -2, 300));
  EXPECT_EQ(session.executable().memory().copied, Bytes(8 + 12));
}

TEST(Session, RefusesWrongInputs) {
  Session session = must_open(must_prepare(kTwoRelus));
  const std::vector<float> x(8);
  const std::array<std::int64_t, 1> eight{8};
  const auto message = [&](std::string_view name, const TensorRef& tensor) {
    const Result<void> bound = session.bind_input(name, tensor);
    return bound.ok() ? "" : bound.error().describe();
  };
  const std::span<const std::byte> bytes = std::as_bytes(std::span(x));
  EXPECT_EQ(message("z", ref(x, kExtents)), "input 'z': no input has this name; the inputs are 'x'");
  EXPECT_EQ(message("x", {DType::i32, kExtents, bytes.first(16)}), "input 'x': has type f32[4], but i32[4] is given");
  EXPECT_EQ(message("x", ref(x, eight)), "input 'x': has type f32[4], but f32[8] is given");
  EXPECT_EQ(message("x", {DType::f32, kExtents, bytes}), "input 'x': 32 bytes are given, but f32[4] has 16");
  EXPECT_EQ(message("x", {DType::f32, kExtents, bytes.subspan(1, 16)}),
            "input 'x': the address is 1 bytes above a multiple of 4, the size of an element; align it");
}

TEST(Session, RefusesInputsThatOverlapTheArenaOrAState) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[4]
    state h : f32[4]
    y = Relu(x) : f32[4]
    output y
    update h = y
  })");
  const Arena arena = *Arena::allocate(executable->required_bytes());
  Session session = must_open(executable, arena);
  std::vector<float> memory(6);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(memory));
  EXPECT_THAT(session.bind_input("x", {DType::f32, kExtents, arena.memory().first(16)}).error().message,
              HasSubstr("its bytes overlap the arena; use other memory"));
  ASSERT_TRUE(session.bind_state("h", bytes.first(16)).ok());
  EXPECT_THAT(session.bind_input("x", {DType::f32, kExtents, bytes.subspan(8)}).error().message,
              HasSubstr("its bytes overlap state 'h'"));
  const std::vector<float> x{1, 2, 3, 4};
  ASSERT_TRUE(session.bind_input("x", ref(x, kExtents)).ok());
  EXPECT_THAT(session.bind_state("h", arena.memory().first(16)).error().message, HasSubstr("overlap the arena"));
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(memory, ElementsAre(1, 2, 3, 4, 0, 0));
}

// std::vector has no address for no bytes.
TEST(Session, RunsWithAnEmptyInputThatHasNoAddress) {
  Session session = must_open(must_prepare(R"(graph "g" {
    input x : f32[<=4]
    y = Relu(x) : f32[<=4]
    output y
  })"));
  const std::array<std::int64_t, 1> none{0};
  ASSERT_TRUE(session.bind_input("x", {DType::f32, none, {}}).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(session.output(0).extents, ElementsAre(0));
}

TEST(Session, DoesNotRunWithoutItsInputs) {
  const auto executable = must_prepare(kTwoRelus);
  Session session = must_open(executable);
  const RunResult result = session.run();
  EXPECT_EQ(result.status.code, RunCode::unbound);
  EXPECT_EQ(describe(*executable, result).describe(), "input 'x': the input has no memory; call bind_input() first");
}

TEST(Session, SharesAnArenaWithOneRunAtATime) {
  const auto executable = must_prepare(kTwoRelus);
  const Arena arena = *Arena::allocate(executable->required_bytes());
  Session one = must_open(executable, arena);
  Session two = must_open(executable, arena);
  const std::vector<float> x{1, 2, 3, 4};
  const std::vector<float> z{5, 6, 7, 8};
  ASSERT_TRUE(one.bind_input("x", ref(x, kExtents)).ok());
  ASSERT_TRUE(two.bind_input("x", ref(z, kExtents)).ok());
  ASSERT_TRUE(one.run().ok());
  EXPECT_THAT(values_of(one.output(0)), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(two.run().ok());
  EXPECT_THAT(values_of(two.output(0)), ElementsAre(5, 6, 7, 8));
  ASSERT_TRUE(arena.acquire());
  EXPECT_EQ(one.run().status.code, RunCode::busy);
  arena.release();
  EXPECT_TRUE(one.run().ok());
}

TEST(Session, RefusesAnArenaThatIsTooSmallOrMisaligned) {
  const auto executable = must_prepare(kTwoRelus);
  alignas(64) std::array<std::byte, 128> memory{};
  EXPECT_THAT(Arena::of_caller(std::span(memory).subspan(8)).error().message,
              HasSubstr("8 bytes above a multiple of 64"));
  const Arena small = *Arena::of_caller(std::span(memory).first(63));
  const Result<Session> refused = Session::open(executable, small);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::over_limit);
  EXPECT_EQ(refused.error().message, "the arena has 63 B, but the plan needs 64 B");
  EXPECT_TRUE(Session::open(executable, *Arena::of_caller(memory)).ok());
}

// The run of 2,000 steps is stopped from another thread, and the next run succeeds.
TEST(Session, StopsBetweenStepsAndRunsAgain) {
  std::string text = "graph \"g\" {\n input x : f32[4]\n t0 = Relu(x) : f32[4]\n";
  for (int at = 1; at < 2000; ++at) {
    text += " t" + std::to_string(at) + " = Relu(t" + std::to_string(at - 1) + ") : f32[4]\n";
  }
  const auto executable = must_prepare(text + " output t1999\n}", {}, {.order_effort = 0});
  Session session = must_open(executable);
  const std::vector<float> x{1, 2, 3, 4};
  ASSERT_TRUE(session.bind_input("x", ref(x, kExtents)).ok());
  std::atomic<bool> has_stopped = false;
  std::thread stopper([&] {
    while (!has_stopped) session.stop();
  });
  RunResult result;
  while (result.ok()) result = session.run();
  has_stopped = true;
  stopper.join();
  EXPECT_EQ(result.status.code, RunCode::stopped);
  EXPECT_THAT(describe(*executable, result).describe(), HasSubstr("(Relu): the run was stopped"));
  EXPECT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace lowtide
