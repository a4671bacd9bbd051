// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
//
// A heap for LD_PRELOAD that counts what every library of the process takes from it: what memory_meter_test.py compares
// with. It needs glibc.

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace {

constinit std::atomic<std::int64_t> live = 0;
constinit std::atomic<std::int64_t> peak = 0;

std::int64_t bytes_of(void* block) { return static_cast<std::int64_t>(malloc_usable_size(block)); }

void change(std::int64_t bytes) {
  const std::int64_t now = live += bytes;
  std::int64_t known = peak;
  while (now > known && !peak.compare_exchange_weak(known, now)) {
  }
}

void* counted(void* block) {
  change(bytes_of(block));
  return block;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return counted(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return counted(__libc_calloc(count, size)); }
void* memalign(std::size_t alignment, std::size_t size) { return counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
void* realloc(void* block, std::size_t size) {
  const std::int64_t before = bytes_of(block);
  void* changed = __libc_realloc(block, size);
  if (changed != nullptr || size == 0) change(bytes_of(changed) - before);
  return changed;
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  void* made = memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
void free(void* block) {
  change(-bytes_of(block));
  __libc_free(block);
}

std::int64_t heap_trace_live() { return live; }
std::int64_t heap_trace_peak() { return peak; }
void heap_trace_reset() { peak = live.load(); }
}
