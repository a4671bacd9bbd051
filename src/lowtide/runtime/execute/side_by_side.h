// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "lowtide/kernels/kernel.h"
#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// Runs an action of a graph.
using RunAction = RunStatus (*)(void* tables, std::size_t action, Team& team) noexcept;

// Runs actions of a graph on several threads, each action on one of them.
class SideBySide {
 public:
  // Throws std::bad_alloc. `order` must outlive the object.
  explicit SideBySide(const ActionOrder& order);

  struct Failure {
    std::size_t action = 0;
    RunStatus status;
  };

  // Runs a stretch of the order. Waits spin. Returns the first action of the list that does not succeed; all actions
  // before it have run. So the answer does not depend on how fast the threads are. Allocates nothing.
  // Requires: the team has at least as many shares as the order has threads, and as many threads of the system.
  [[nodiscard]] std::optional<Failure> run(Interval<std::size_t> actions, RunAction run_action, void* tables,
                                           Team& team) noexcept;

 private:
  // On a cache line of its own, because its thread writes it often.
  struct alignas(64) Progress {
    std::atomic<std::uint32_t> ended = 0;  // actions of the stretch
    std::atomic<std::uint32_t> begun = 0;  // those of the thread for copies; one more than `ended` while one runs
  };

  void run_share(std::size_t thread) noexcept;
  void run_copies() noexcept;
  // Runs copy `number` of the stretch, if its turn has come and no other thread has begun it. Returns whether it ran.
  bool try_copy(std::uint32_t number) noexcept;
  [[nodiscard]] bool may_begin(std::size_t action) const noexcept;
  // Waits until an action may begin. Returns false if an earlier action has failed.
  [[nodiscard]] bool wait_for(std::size_t action) noexcept;
  void note_failure(std::size_t action, RunStatus status) noexcept;

  const ActionOrder& order_;
  std::vector<Progress> progress_;   // by thread
  std::vector<std::size_t> copies_;  // the actions of the thread for copies in this stretch, in order
  RunAction run_action_ = nullptr;
  void* tables_ = nullptr;
  Interval<std::size_t> actions_;
  std::atomic<std::size_t> first_failed_;  // or the number of actions
  std::mutex failure_mutex_;
  RunStatus failure_;  // of first_failed_
};

}  // namespace lowtide::runtime_internal
