// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <csignal>

namespace lowtide::cli_internal {

// During its lifetime, the first SIGINT or SIGTERM only sets a flag, so that a search can return its best answer. The
// second one ends the process in the usual way. A signal that was ignored before stays ignored. Only one object of this
// class may exist at a time.
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
