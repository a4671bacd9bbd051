// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace lowtide {

void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> thrown(count);
  std::atomic<std::size_t> next{0};
  const auto take_turns = [&] {
    for (std::size_t at = next++; at < count; at = next++) {
      try {
        work(at);
      } catch (...) {
        thrown[at] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  const std::size_t most = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  others.reserve(most);
  try {
    while (others.size() + 1 < most) others.emplace_back(take_turns);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the system gives no more threads
  }
  take_turns();
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

}  // namespace lowtide
