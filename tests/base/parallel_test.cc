// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace lowtide {
namespace {

TEST(ForEachInParallel, CallsEachOnce) {
  for (int threads : {0, 1, 2, 7}) {
    std::vector<std::atomic<int>> calls(100);
    for_each_in_parallel(calls.size(), threads, [&](std::size_t at) { ++calls[at]; });
    for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
  }
  for_each_in_parallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(ForEachInParallel, OneThreadIsALoopOnTheCallingThread) {
  std::vector<std::size_t> order;
  const std::thread::id self = std::this_thread::get_id();
  for_each_in_parallel(5, 1, [&](std::size_t at) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    order.push_back(at);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// Each call waits until the other one has begun, so this never ends with one thread.
TEST(ForEachInParallel, RunsCallsConcurrently) {
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  for_each_in_parallel(2, 2, [&](std::size_t) {
    std::unique_lock lock(mutex);
    ++begun;
    changed.notify_all();
    changed.wait(lock, [&] { return begun == 2; });
  });
  EXPECT_EQ(begun, 2);
}

TEST(ForEachInParallel, ThrowsTheExceptionOfTheLowestIndexAfterAllCalls) {
  for (int threads : {1, 3}) {
    std::atomic<int> done{0};
    try {
      for_each_in_parallel(20, threads, [&](std::size_t at) {
        ++done;
        if (at == 4 || at == 11) throw std::runtime_error(std::to_string(at));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "4");
    }
    EXPECT_EQ(done, 20);
  }
}

}  // namespace
}  // namespace lowtide
