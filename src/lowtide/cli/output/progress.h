// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "lowtide/cli/output/console.h"

namespace lowtide::cli_internal {

// Shows "planning ... 3 s" on a terminal's stderr during its lifetime, from the first second on. The destructor erases
// it. With a note: "packing ... 3 s, best 1.02 MiB".
class Progress {
 public:
  Progress(const Console& console, std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Shown after the seconds, from the next second on.
  void note(std::string text);

  // The same for a step of a long command. Where stderr is no terminal, such as a log, it is a line of its own from the
  // first second on: "planning for several budgets, row 3 of 10".
  void step(std::string text);

 private:
  void show();

  std::string what_;
  bool writes_lines_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string note_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace lowtide::cli_internal
