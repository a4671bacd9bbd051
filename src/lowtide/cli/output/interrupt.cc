// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/interrupt.h"

namespace lowtide::cli_internal {
namespace {

// A signal handler can only use globals.
std::atomic<bool> is_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait");

extern "C" void lowtide_on_signal(int number) {
  if (!is_asked.exchange(true)) return;
  // NOLINTNEXTLINE(cert-err33-c): a failure has the same effect
  static_cast<void>(std::signal(number, SIG_DFL));
  static_cast<void>(std::raise(number));  // takes effect when this handler returns
}

void listen(int number, struct sigaction& before) {
  static_cast<void>(sigaction(number, nullptr, &before));
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = lowtide_on_signal;
  action.sa_flags = SA_RESTART;
  static_cast<void>(sigemptyset(&action.sa_mask));
  static_cast<void>(sigaction(number, &action, nullptr));
}

}  // namespace

Interrupt::Interrupt() {
  is_asked = false;
  listen(SIGINT, before_interrupt_);
  listen(SIGTERM, before_terminate_);
}

Interrupt::~Interrupt() {
  static_cast<void>(sigaction(SIGINT, &before_interrupt_, nullptr));
  static_cast<void>(sigaction(SIGTERM, &before_terminate_, nullptr));
}

const std::atomic<bool>* Interrupt::flag() const { return &is_asked; }

}  // namespace lowtide::cli_internal
