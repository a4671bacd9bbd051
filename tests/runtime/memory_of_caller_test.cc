// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <thread>

#include "lowtide/lower/lower.h"
#include "lowtide/runtime/session.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::must_open;
using testing::must_prepare;
using testing::ref;
using testing::values_of;

using Floats = std::vector<float>;

constexpr std::array<std::int64_t, 1> kFourFloats{4};

// y is a view of b, and z is overwritten by nothing. So one output is copied to the caller, and one is written there.
constexpr const char* kTwoOutputs = R"(graph "g" {
  input x : f32[4]
  a = Relu(x) : f32[4]
  z = Neg(a) : f32[4]
  y = Reshape(a) : f32[2,2]
  output y, z
})";

std::shared_ptr<const Executable> prepare_lowered(std::string_view text, const LowerOptions& options) {
  Graph graph = lower(testing::graph_of(text), options)->graph;
  Plan plan = testing::plan_for(graph);
  return *Executable::prepare(std::move(graph), std::move(plan), testing::weights_for());
}

std::span<std::byte> bytes_of(Floats& values) { return std::as_writable_bytes(std::span(values)); }

TEST(MemoryOfCaller, GetsTheOutputs) {
  const auto executable = prepare_lowered(kTwoOutputs, {.passes = {PassId::load_time, PassId::outputs_at_caller}});
  EXPECT_THAT(executable->outputs(), IsEmpty());
  ASSERT_EQ(executable->states().size(), 2U);
  EXPECT_EQ(executable->states()[0].name, "y (caller)");
  Session session = must_open(executable);
  const Floats x{-1, 2, -3, 4};
  Floats y(4);
  Floats z(4);
  ASSERT_TRUE(session.bind_input("x", ref(x, kFourFloats)).ok());
  ASSERT_TRUE(session.bind_state("y (caller)", bytes_of(y)).ok());
  ASSERT_TRUE(session.bind_state("z (caller)", bytes_of(z)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(y, ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(z, ElementsAre(0, -2, 0, -4));

  Floats other(4);  // for one output; the other one stays
  ASSERT_TRUE(session.bind_state("y (caller)", bytes_of(other)).ok());
  const Floats x2{5, 6, 7, 8};
  ASSERT_TRUE(session.bind_input("x", ref(x2, kFourFloats)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(y, ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(other, ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(z, ElementsAre(-5, -6, -7, -8));
}

TEST(MemoryOfCaller, IsRefusedIfOutputsOverlap) {
  Session session = must_open(prepare_lowered(kTwoOutputs, {.passes = {PassId::load_time, PassId::outputs_at_caller}}));
  Floats memory(6);
  const std::span<std::byte> bytes = bytes_of(memory);
  ASSERT_TRUE(session.bind_state("y (caller)", bytes.first(16)).ok());
  EXPECT_THAT(session.bind_state("z (caller)", bytes.subspan(8)).error().message,
              HasSubstr("overlap state 'y (caller)'"));
  EXPECT_THAT(session.bind_input("x", {DType::f32, kFourFloats, bytes.first(16)}).error().message,
              HasSubstr("overlap state 'y (caller)'"));
}

TEST(MemoryOfCaller, HasInputsThatAreInTheArena) {
  const auto executable = prepare_lowered(kTwoOutputs, {.passes = {PassId::load_time, PassId::inputs_in_arena}});
  Session session = must_open(executable);
  const Floats elsewhere(4);
  EXPECT_THAT(session.bind_input("x", ref(elsewhere, kFourFloats)).error().message,
              HasSubstr("write it to arena_input()"));
  for (const float first : {1.0F, 5.0F}) {
    const Result<std::span<std::byte>> memory = session.arena_input("x");
    ASSERT_TRUE(memory.ok()) << memory.error().describe();
    const Floats x{first, -2, 3, -4};
    std::ranges::copy(std::as_bytes(std::span(x)), memory->begin());
    ASSERT_TRUE(session.run().ok());
    EXPECT_THAT(values_of(session.output(0)), ElementsAre(first, 0, 3, 0));
    EXPECT_THAT(values_of(session.output(1)), ElementsAre(-first, 0, -3, 0));
  }
  EXPECT_FALSE(session.arena_input("y").ok());
}

// The arena of the session is in the middle, and the bytes around it do not change.
TEST(MemoryOfCaller, CanBeTheArena) {
  const auto executable = must_prepare(kTwoOutputs);
  const auto needed = static_cast<std::size_t>(executable->required_bytes().count());
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  std::vector<Line> lines(needed / 64 + 2);
  const std::span<std::byte> memory = std::as_writable_bytes(std::span(lines));
  std::ranges::fill(memory, std::byte{7});
  Session session = must_open(executable, *Arena::of_caller(memory.subspan(64, needed)));
  const Floats x{-1, 2, -3, 4};
  ASSERT_TRUE(session.bind_input("x", ref(x, kFourFloats)).ok());
  ASSERT_TRUE(session.run().ok());
  const OutputRef y = session.output(0);
  EXPECT_THAT(values_of(y), ElementsAre(0, 2, 0, 4));
  EXPECT_GE(y.bytes.data(), memory.data() + 64);
  EXPECT_LE(y.bytes.data() + y.bytes.size(), memory.data() + 64 + needed);
  EXPECT_THAT(memory.first(64), Each(std::byte{7}));
  EXPECT_THAT(memory.last(64), Each(std::byte{7}));
}

TEST(Session, KeepsOutputsIfItHasAnArenaOfItsOwn) {
  const auto executable = must_prepare(kTwoOutputs);
  Session one = must_open(executable);
  Session two = must_open(executable);
  const Floats x1{1, 2, 3, 4};
  const Floats x2{5, 6, 7, 8};
  ASSERT_TRUE(one.bind_input("x", ref(x1, kFourFloats)).ok());
  ASSERT_TRUE(two.bind_input("x", ref(x2, kFourFloats)).ok());
  ASSERT_TRUE(one.run().ok());
  ASSERT_TRUE(two.run().ok());
  EXPECT_THAT(values_of(one.output(0)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values_of(two.output(0)), ElementsAre(5, 6, 7, 8));
}

TEST(Session, RunsBesideOthersOfItsExecutable) {
  const auto executable = must_prepare(kTwoOutputs);
  constexpr std::size_t kThreads = 4;
  std::array<int, kThreads> good{};
  std::vector<std::thread> threads;
  for (std::size_t at = 0; at < kThreads; ++at) {
    threads.emplace_back([&, at] {
      Session session = must_open(executable);
      const Floats x(4, static_cast<float>(at + 1));
      if (!session.bind_input("x", ref(x, kFourFloats)).ok()) return;
      for (int run = 0; run < 200; ++run) good[at] += session.run().ok() && values_of(session.output(0)) == x ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(good, Each(200));
}

TEST(Session, SharesAnArenaWithAnotherModel) {
  const auto one_model = must_prepare(kTwoOutputs);
  const auto other_model = must_prepare(R"(graph "other" { input x : f32[64]; y = Neg(x) : f32[64]; output y })");
  const Arena arena = *Arena::allocate(std::max(one_model->required_bytes(), other_model->required_bytes()));
  Session one = must_open(one_model, arena);
  Session other = must_open(other_model, arena);
  const Floats x(4, 3);
  const Floats wide(64, 5);
  const std::array<std::int64_t, 1> extents{64};
  ASSERT_TRUE(one.bind_input("x", ref(x, kFourFloats)).ok());
  ASSERT_TRUE(other.bind_input("x", ref(wide, extents)).ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(one.run().ok());
    EXPECT_THAT(values_of(one.output(0)), Each(3));
    ASSERT_TRUE(other.run().ok());
    EXPECT_THAT(values_of(other.output(0)), Each(-5));
  }
}

// open() runs Exp on zeros, which would leave 1 in the state.
TEST(Session, BeginsWithStatesThatAreZero) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[4]
    state h : f32[4]
    z = Neg(h) : f32[4]
    n = Exp(x) : f32[4]
    output z
    update h = n
  })");
  Session session = must_open(executable);
  const Floats x(4, 0);
  ASSERT_TRUE(session.bind_input("x", ref(x, kFourFloats)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), Each(0));
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), Each(-1));
}

// Zeros, which open() uses, are no input for this model. A run with other values succeeds.
TEST(Session, OpensAModelThatRefusesZeros) {
  Session session = must_open(must_prepare(R"(graph "g" {
    input x : i32[4]
    d = Div(x, x) : i32[4]
    y = Neg(d) : i32[4]
    output y
  })"));
  EXPECT_EQ(session.run().status.code, RunCode::unbound);
  const std::vector<std::int32_t> x{1, 2, 3, 4};
  ASSERT_TRUE(session.bind_input("x", {DType::i32, kFourFloats, std::as_bytes(std::span(x))}).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of<std::int32_t>(session.output(0)), Each(-1));
}

TEST(Session, IsNotOpenedWhileAnotherOneRunsInItsArena) {
  const auto executable = must_prepare(kTwoOutputs);
  const Arena arena = *Arena::allocate(executable->required_bytes());
  ASSERT_TRUE(arena.acquire());
  const Result<Session> refused = Session::open(executable, arena);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("another session runs in the arena"));
  EXPECT_TRUE(Session::open(executable, arena, {.touch = false}).ok());
  arena.release();
  EXPECT_TRUE(Session::open(executable, arena).ok());
}

}  // namespace
}  // namespace lowtide
