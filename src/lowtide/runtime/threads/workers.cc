// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/threads/workers.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <new>

#include "lowtide/runtime/threads/pause.h"
#include "lowtide/runtime/threads/touch_thread.h"

namespace lowtide::runtime_internal {
namespace {

constexpr std::uint64_t kShareBits = 16;
constexpr std::uint64_t kShareMask = (std::uint64_t{1} << kShareBits) - 1;
constexpr int kIdlePauses = 4096;  // before a worker sleeps: 50 to 200 us, by the processor

// Blocks the signals that other threads may handle as well. A fault belongs to the thread that causes it.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGABRT}) sigdelset(&blocked, own);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// How often this process has been copied by fork() since it first had workers. The copies have no workers.
std::atomic<std::uint32_t> forks = 0;

std::uint32_t count_forks() {
  static const int failed = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  if (failed != 0) throw std::bad_alloc();
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

int processors_of_thread() {
  cpu_set_t allowed;  // the system refuses it on machines with more than 1,024 processors
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(CPU_COUNT(&allowed), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

Workers::Workers(int shares, int system_threads)
    : shares_(shares),
      system_threads_(system_threads),
      forks_(count_forks()),
      ticket_(static_cast<std::uint64_t>(shares)) {
  try {
    start_workers();
  } catch (...) {
    end_workers();
    throw;
  }
}

Workers::~Workers() { end_workers(); }

void Workers::start_workers() {
  const BlockedSignals blocked;  // threads inherit it
  workers_.reserve(static_cast<std::size_t>(system_threads_ - 1));
  for (int at = 1; at < system_threads_; ++at) workers_.emplace_back([this] { work(); });
  // A worker calls the system and allocates memory until it is ready.
  for (int ready = ready_.load(); ready < system_threads_ - 1; ready = ready_.load()) ready_.wait(ready);
}

bool Workers::are_in_another_process() const noexcept { return forks.load(std::memory_order_relaxed) != forks_; }

void Workers::end_workers() noexcept {
  if (are_in_another_process()) {
    for (std::thread& worker : workers_) worker.detach();  // it would never end here
    return;
  }
  is_ending_.store(true, std::memory_order_relaxed);
  epoch_.fetch_add(2, std::memory_order_seq_cst);
  wake();
  for (std::thread& worker : workers_) worker.join();
}

bool Workers::take() noexcept {
  if (are_in_another_process() || is_taken_.exchange(true, std::memory_order_acquire)) return false;
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (has_sleepers_.exchange(false, std::memory_order_seq_cst)) wake();
  return true;
}

void Workers::give_back() noexcept {
  epoch_.fetch_add(1, std::memory_order_relaxed);
  is_taken_.store(false, std::memory_order_release);
}

void Workers::wake() noexcept { syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

// If a run has begun since the epoch was read, the system returns at once. Otherwise the next run sees has_sleepers_,
// because that was set before the system compared the epoch.
void Workers::sleep(std::uint32_t epoch) noexcept {
  static_assert(sizeof(epoch_) == sizeof(std::uint32_t), "the system compares 32 bits");
  has_sleepers_.store(true, std::memory_order_seq_cst);
  syscall(SYS_futex, &epoch_, FUTEX_WAIT_PRIVATE, epoch, nullptr, nullptr, 0);
}

void Workers::work() noexcept {
  touch_thread();
  ready_.fetch_add(1);
  ready_.notify_one();
  for (int pauses = 0;; ++pauses) {
    if (const std::optional<int> share = next_share()) {
      set_float_mode(float_mode_);
      share_(context_, *share);
      ended_.fetch_add(1, std::memory_order_release);
      pauses = 0;
      continue;
    }
    const std::uint32_t epoch = epoch_.load(std::memory_order_acquire);
    if (is_ending_.load(std::memory_order_relaxed)) return;
    const bool is_running = epoch % 2 == 1;
    if (is_running) pauses = 0;
    if (pauses < kIdlePauses) {
      pause();
    } else {
      sleep(epoch);
      pauses = 0;
    }
  }
}

// A ticket of an earlier call has no share left, so the thread that takes a share sees the arguments of the latest
// call.
std::optional<int> Workers::next_share() noexcept {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while ((ticket & kShareMask) < static_cast<std::uint64_t>(shares_)) {
    if (ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return static_cast<int>(ticket & kShareMask);
    }
  }
  return std::nullopt;
}

void Workers::run(Share share, void* context) noexcept {
  share_ = share;
  context_ = context;
  float_mode_ = float_mode();
  ended_.store(0, std::memory_order_relaxed);
  const std::uint64_t call = (ticket_.load(std::memory_order_relaxed) >> kShareBits) + 1;
  ticket_.store((call << kShareBits) | 1, std::memory_order_release);
  share(context, 0);
  int of_others = shares_ - 1;
  while (const std::optional<int> left = next_share()) {
    share(context, *left);
    --of_others;
  }
  while (ended_.load(std::memory_order_acquire) < of_others) pause();
}

}  // namespace lowtide::runtime_internal
