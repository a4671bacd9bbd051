// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/progress.h"

#include <unistd.h>

#include <chrono>
#include <string_view>
#include <utility>

namespace lowtide::cli_internal {
namespace {

// One write per line. A failed write is ignored.
void put(std::string_view text) { static_cast<void>(!write(STDERR_FILENO, text.data(), text.size())); }

}  // namespace

Progress::Progress(const Console& console, std::string what)
    : what_(std::move(what)), writes_lines_(console.writes_steps()) {
  if (console.shows_progress()) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::note(std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  note_ = std::move(text);
}

void Progress::step(std::string text) {
  if (writes_lines_ && std::chrono::steady_clock::now() - begin_ >= std::chrono::seconds(1)) {
    put(what_ + ", " + text + "\n");
  }
  note(std::move(text));
}

void Progress::show() {
  std::unique_lock<std::mutex> lock(mutex_);
  int seconds = 0;
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; })) {
    ++seconds;
    const std::string note = note_.empty() ? "" : ", " + note_;
    put("\r" + what_ + " ... " + std::to_string(seconds) + " s" + note + "\x1b[K");
  }
  if (seconds > 0) put("\r\x1b[K");
}

}  // namespace lowtide::cli_internal
