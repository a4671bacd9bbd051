// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/threads/workers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

#include "lowtide/runtime/threads/pause.h"

namespace lowtide::runtime_internal {
namespace {

constexpr int kMostShares = 8;

struct Counts {
  std::int64_t input = 0;  // written before the call
  std::array<std::int64_t, kMostShares> of_share{};
  std::array<std::thread::id, kMostShares> thread;

  static void add(void* self, int share) noexcept {
    auto& counts = *static_cast<Counts*>(self);
    const auto at = static_cast<std::size_t>(share);
    counts.of_share[at] += counts.input;
    counts.thread[at] = std::this_thread::get_id();
  }
};

TEST(Workers, RunEachShareOnce) {
  for (const auto& [threads, system_threads] : {std::pair(1, 1), {2, 2}, {3, 3}, {4, 4}, {8, 8}, {8, 3}, {8, 1}}) {
    Workers workers(threads, system_threads);
    EXPECT_EQ(workers.threads(), threads);
    Counts counts;
    constexpr std::int64_t kCalls = 20'000;
    ASSERT_TRUE(workers.take());
    for (counts.input = 1; counts.input <= kCalls; ++counts.input) workers.run(&Counts::add, &counts);
    workers.give_back();
    for (int share = 0; share < kMostShares; ++share) {
      EXPECT_EQ(counts.of_share[static_cast<std::size_t>(share)], share < threads ? kCalls * (kCalls + 1) / 2 : 0);
    }
    EXPECT_EQ(counts.thread[0], std::this_thread::get_id());
  }
}

// Share 0 ends only after share 1 has begun, so another thread must take that one.
TEST(Workers, WakeUpForARun) {
  struct Meeting {
    std::atomic<bool> is_met = false;
    static void meet(void* self, int share) noexcept {
      auto& meeting = *static_cast<Meeting*>(self);
      if (share == 1) meeting.is_met = true;
      while (!meeting.is_met) pause();
    }
  };
  Workers workers(2, 2);
  for (int run = 0; run < 5; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // long enough for the worker to sleep
    Meeting meeting;
    ASSERT_TRUE(workers.take());
    workers.run(&Meeting::meet, &meeting);
    workers.give_back();
    EXPECT_TRUE(meeting.is_met);
  }
}

TEST(Workers, BelongToOneRunAtATime) {
  Workers workers(2, 2);
  {
    RunTeam first(&workers);
    RunTeam second(&workers);
    EXPECT_EQ(first.team().threads(), 2);
    EXPECT_EQ(second.team().threads(), 1);
  }
  EXPECT_EQ(RunTeam(&workers).team().threads(), 2);
  EXPECT_EQ(RunTeam(nullptr).team().threads(), 1);
}

// The child has no workers. It must neither wait for one in a run nor at its end.
TEST(Workers, AreAbsentInAChildOfFork) {
  auto workers = std::make_unique<Workers>(2, 2);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // a hang ends the child
    const bool is_alone = RunTeam(workers.get()).team().threads() == 1;
    workers.reset();
    _exit(is_alone ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(RunTeam(workers.get()).team().threads(), 2) << "the parent keeps its workers";
}

// 2^-126 / 2 is 0 if the processor replaces tiny results by 0. A host program may have chosen so.
TEST(Workers, ComputeInTheModeOfTheCallingThread) {
  constexpr std::uint32_t kFlushToZero = 0x8000;
  struct Halves {
    std::array<volatile float, 2> half{};
    std::atomic<int> begun = 0;
    static void compute(void* self, int share) noexcept {
      auto& halves = *static_cast<Halves*>(self);
      for (++halves.begun; halves.begun < 2;) pause();  // one share per thread
      const volatile float least = 1.17549435e-38F;
      halves.half[static_cast<std::size_t>(share)] = least / 2;
    }
  };
  const std::uint32_t before = float_mode();
  if (before == 0) GTEST_SKIP() << "the mode is not known here";
  Workers workers(2, 2);
  for (const std::uint32_t mode : {before | kFlushToZero, before}) {
    Halves halves;
    ASSERT_TRUE(workers.take());
    set_float_mode(mode);
    workers.run(&Halves::compute, &halves);
    set_float_mode(before);
    workers.give_back();
    EXPECT_EQ(halves.half[0] == 0, mode != before);
    EXPECT_EQ(halves.half[1], halves.half[0]);
  }
}

}  // namespace
}  // namespace lowtide::runtime_internal
