// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/side_by_side.h"

#include "lowtide/runtime/threads/pause.h"

namespace lowtide::runtime_internal {

SideBySide::SideBySide(const ActionOrder& order)
    : order_(order), progress_(order.thread.empty() ? 0 : order.needs.size() / order.thread.size()) {
  if (order.has_thread_for_copies) copies_.reserve(order.thread.size());
}

std::optional<SideBySide::Failure> SideBySide::run(Interval<std::size_t> actions, RunAction run_action, void* tables,
                                                   Team& team) noexcept {
  for (Progress& one : progress_) {
    one.ended.store(0, std::memory_order_relaxed);
    one.begun.store(0, std::memory_order_relaxed);
  }
  copies_.clear();
  for (std::size_t at = actions.begin; order_.has_thread_for_copies && at < actions.end; ++at) {
    if (order_.thread[at] + 1 == progress_.size()) copies_.push_back(at);
  }
  run_action_ = run_action;
  tables_ = tables;
  actions_ = actions;
  first_failed_.store(actions.end, std::memory_order_relaxed);
  team.run([](void* self,
              int thread) noexcept { static_cast<SideBySide*>(self)->run_share(static_cast<std::size_t>(thread)); },
           this);
  const std::size_t failed = first_failed_.load(std::memory_order_relaxed);
  if (failed == actions.end) return std::nullopt;
  return Failure{failed, failure_};
}

// An action before the first one that failed needs only actions before itself, so they all run.
void SideBySide::run_share(std::size_t thread) noexcept {
  if (thread >= progress_.size()) return;  // a share for kernels that are divided
  if (order_.has_thread_for_copies && thread + 1 == progress_.size()) return run_copies();
  SoloTeam alone;
  std::uint32_t ended = 0;
  for (std::size_t at = actions_.begin; at < first_failed_.load(std::memory_order_acquire); ++at) {
    if (order_.thread[at] != thread) continue;
    if (!wait_for(at)) return;
    const RunStatus status = run_action_(tables_, at, alone);
    if (status.code != RunCode::ok) return note_failure(at, status);
    progress_[thread].ended.store(++ended, std::memory_order_release);
  }
}

// Another thread that waits for a copy may run it, so a thread that the system does not run delays nothing.
void SideBySide::run_copies() noexcept {
  for (std::uint32_t number = 0; number < copies_.size(); ++number) {
    while (progress_.back().ended.load(std::memory_order_acquire) <= number) {
      if (first_failed_.load(std::memory_order_relaxed) <= copies_[number]) return;
      if (!try_copy(number)) pause();
    }
  }
}

bool SideBySide::try_copy(std::uint32_t number) noexcept {
  Progress& progress = progress_.back();
  std::uint32_t begun = number;
  if (progress.ended.load(std::memory_order_acquire) != number || !may_begin(copies_[number])) return false;
  if (!progress.begun.compare_exchange_strong(begun, number + 1, std::memory_order_acq_rel)) return false;
  SoloTeam alone;
  const RunStatus status = run_action_(tables_, copies_[number], alone);
  if (status.code != RunCode::ok) {
    note_failure(copies_[number], status);
    return true;
  }
  progress.ended.store(number + 1, std::memory_order_release);
  return true;
}

bool SideBySide::may_begin(std::size_t action) const noexcept {
  const std::size_t threads = progress_.size();
  for (std::size_t other = 0; other < threads; ++other) {
    if (other == order_.thread[action]) continue;
    if (progress_[other].ended.load(std::memory_order_acquire) < order_.needs[action * threads + other]) return false;
  }
  return true;
}

bool SideBySide::wait_for(std::size_t action) noexcept {
  const std::size_t threads = progress_.size();
  for (std::size_t other = 0; other < threads; ++other) {
    if (other == order_.thread[action]) continue;
    const bool has_copies = order_.has_thread_for_copies && other + 1 == threads;
    const std::uint32_t needed = order_.needs[action * threads + other];
    std::uint32_t ended = progress_[other].ended.load(std::memory_order_acquire);
    for (; ended < needed; ended = progress_[other].ended.load(std::memory_order_acquire)) {
      if (first_failed_.load(std::memory_order_relaxed) < action) return false;
      if (!has_copies || !try_copy(ended)) pause();
    }
  }
  return true;
}

void SideBySide::note_failure(std::size_t action, RunStatus status) noexcept {
  const std::scoped_lock lock(failure_mutex_);
  if (action >= first_failed_.load(std::memory_order_relaxed)) return;
  failure_ = status;
  first_failed_.store(action, std::memory_order_release);
}

}  // namespace lowtide::runtime_internal
