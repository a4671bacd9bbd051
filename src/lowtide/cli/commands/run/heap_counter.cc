// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/heap_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LOWTIDE_HAS_OTHER_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define LOWTIDE_HAS_OTHER_MALLOC
#endif

#ifndef LOWTIDE_HAS_OTHER_MALLOC

namespace {

std::atomic<bool> is_counting = false;
std::atomic<std::int64_t> allocations = 0;

void note_allocation() {
  if (is_counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The functions of glibc stay in use under these names of theirs.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

void* malloc(std::size_t size) {
  note_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  note_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  note_allocation();
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** at, std::size_t alignment, std::size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *at = memory;
  return 0;
}
}

namespace lowtide::cli_internal {

void begin_counting_allocations() {
  allocations = 0;
  is_counting = true;
}

std::optional<std::int64_t> end_counting_allocations() {
  is_counting = false;
  return allocations;
}

}  // namespace lowtide::cli_internal

#else

namespace lowtide::cli_internal {

void begin_counting_allocations() {}
std::optional<std::int64_t> end_counting_allocations() { return std::nullopt; }

}  // namespace lowtide::cli_internal

#endif
