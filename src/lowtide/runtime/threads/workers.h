// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "lowtide/kernels/team.h"

namespace lowtide::runtime_internal {

// The team of an executable: the thread that calls Session::run(), and workers, which are threads of the executable.
// There may be fewer of them than the team has shares. Then each runs several.
//
//   a run takes the team      sleeping workers are woken: one system call, or none if all are awake
//   run(share, context)       a worker takes a share within about a microsecond; shares that no worker takes in time
//                             run on the calling thread, so a worker that the system does not run delays nothing
//   the run gives it back     workers look for the next run for a short time, and then sleep
//
// Neither thread calls the system or allocates memory between the first two lines and the last one. A child of fork()
// has only the thread that called it, so its runs have no workers.
class Workers final : public Team {
 public:
  // Starts `system_threads` - 1 workers, which receive no signals except those of their own faults. Requires:
  // 1 <= system_threads <= shares. Throws std::bad_alloc, or std::system_error if the system refuses a thread.
  Workers(int shares, int system_threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() override;

  // Gives the team to a run of the calling thread. Returns false if another run has it, or in a child of fork().
  [[nodiscard]] bool take() noexcept;
  void give_back() noexcept;

  [[nodiscard]] int threads() const override { return shares_; }
  // Requires: the calling thread has taken the team.
  void run(Share share, void* context) noexcept override;

 private:
  void start_workers();
  void end_workers() noexcept;
  [[nodiscard]] bool are_in_another_process() const noexcept;
  void work() noexcept;
  void sleep(std::uint32_t epoch) noexcept;
  void wake() noexcept;
  [[nodiscard]] std::optional<int> next_share() noexcept;

  const int shares_;
  const int system_threads_;
  const std::uint32_t forks_;  // of this process, when the workers started
  std::atomic<bool> is_taken_ = false;
  std::atomic<int> ready_ = 0;  // workers that have started
  // Read by workers while they wait.
  alignas(64) std::atomic<std::uint32_t> epoch_ = 0;  // raised when a run takes the team and when it gives it back
  std::atomic<bool> has_sleepers_ = false;
  std::atomic<bool> is_ending_ = false;
  // The number of the call of run(), and in the low 16 bits the next share. No share is left if that is shares_.
  alignas(64) std::atomic<std::uint64_t> ticket_;
  Share share_ = nullptr;
  void* context_ = nullptr;
  std::uint32_t float_mode_ = 0;
  alignas(64) std::atomic<int> ended_ = 0;  // shares that workers have run
  std::vector<std::thread> workers_;
};

// The processors on which the system may run the calling thread; at least 1.
[[nodiscard]] int processors_of_thread();

// The team for one run: that of an executable or, if another run has it or there is none, the calling thread alone.
class RunTeam {
 public:
  explicit RunTeam(Workers* workers) noexcept : workers_(workers != nullptr && workers->take() ? workers : nullptr) {}
  RunTeam(const RunTeam&) = delete;
  RunTeam& operator=(const RunTeam&) = delete;
  ~RunTeam() {
    if (workers_ != nullptr) workers_->give_back();
  }
  [[nodiscard]] Team& team() { return workers_ != nullptr ? static_cast<Team&>(*workers_) : alone_; }

 private:
  Workers* workers_;
  SoloTeam alone_;
};

}  // namespace lowtide::runtime_internal
