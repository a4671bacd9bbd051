// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <csignal>

namespace lowtide::cli_internal {

// While it lives, the first SIGINT or SIGTERM only raises a flag, so that a search may end with what it has; a second
// one ends the process as if nobody had listened. A signal that was ignored before stays ignored. One at a time.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  [[nodiscard]] const std::atomic<bool>* flag() const;
  [[nodiscard]] bool was_asked() const { return flag()->load(); }

 private:
  struct sigaction before_interrupt_ {};
  struct sigaction before_terminate_ {};
};

}  // namespace lowtide::cli_internal
