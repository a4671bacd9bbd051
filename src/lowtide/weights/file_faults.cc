// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/file_faults.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

#include "lowtide/weights/mapped_ranges.h"

namespace lowtide {
namespace weights_internal {
namespace {

// A place of the table. The handler can only use globals and atomic operations that never wait.
struct Range {
  std::atomic<bool> is_taken = false;
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;  // 0: the place is free
  std::atomic<bool> has_lost_bytes = false;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<Range, 1024> ranges;
struct sigaction action_before = {};
std::uintptr_t page_size = 4096;

// Maps zeros over everything from the page of the address on. What is behind the end of a file is gone, too.
bool replace_by_zeros(Range& range, std::uintptr_t address) {
  const std::uintptr_t begin = address / page_size * page_size;
  const std::uintptr_t end = (range.end + page_size - 1) / page_size * page_size;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system gave the address as a number
  void* mapped = mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  range.has_lost_bytes = true;
  return mapped != MAP_FAILED;
}

extern "C" void lowtide_on_file_fault(int number, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Range& range : ranges) {
    if (address < range.begin || address >= range.end) continue;
    if (replace_by_zeros(range, address)) {
      errno = error;
      return;
    }
  }
  // The access is repeated, and the handler of before sees it.
  static_cast<void>(sigaction(number, &action_before, nullptr));
}

}  // namespace

std::optional<RangeId> add_range(std::span<const std::byte> range) noexcept {
  for (std::size_t at = 0; at < ranges.size(); ++at) {
    Range& one = ranges[at];
    if (one.is_taken.exchange(true)) continue;
    one.has_lost_bytes = false;
    one.begin = reinterpret_cast<std::uintptr_t>(range.data());
    one.end = reinterpret_cast<std::uintptr_t>(range.data()) + range.size();
    return RangeId(static_cast<std::uint32_t>(at));
  }
  return std::nullopt;
}

void remove_range(RangeId id) noexcept {
  Range& one = ranges[id.index()];
  one.end = 0;
  one.begin = 0;
  one.is_taken = false;
}

bool has_lost_bytes(RangeId id) noexcept { return ranges[id.index()].has_lost_bytes; }

}  // namespace weights_internal

void catch_file_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    weights_internal::page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = &weights_internal::lowtide_on_file_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &weights_internal::action_before);
  });
}

}  // namespace lowtide
