// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/pipeline/plan_graph.h"

namespace lowtide::detail {

// Runs the passes of one plan and notes how long each took. Times of passes of one name add up (bodies).
class Passes {
 public:
  template <typename Function>
  auto run(const std::string& name, Function&& pass) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = std::forward<Function>(pass)();
    note(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return result;
  }

  [[nodiscard]] std::vector<PassTime> take_times() { return std::move(times_); }

 private:
  void note(const std::string& name, double seconds) {
    for (PassTime& time : times_) {
      if (time.pass == name) {
        time.seconds += seconds;
        return;
      }
    }
    times_.push_back({name, seconds});
  }

  std::vector<PassTime> times_;
};

}  // namespace lowtide::detail
