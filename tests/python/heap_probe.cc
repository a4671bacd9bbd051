// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that calls every function of the heap, directly and through a table, for test_memory_meter.py.

#include <malloc.h>

#include <cstddef>
#include <cstdlib>

namespace {
void* (*volatile table_malloc)(std::size_t) = &malloc;
void (*volatile table_free)(void*) = &free;
}  // namespace

extern "C" {
void* probe_malloc(std::size_t size) { return malloc(size); }
void* probe_calloc(std::size_t size) { return calloc(2, size / 2); }
void* probe_realloc(void* block, std::size_t size) { return realloc(block, size); }
void* probe_memalign(std::size_t size) { return memalign(64, size); }
void* probe_aligned_alloc(std::size_t size) { return aligned_alloc(64, size); }
void* probe_posix_memalign(std::size_t size) {
  void* block = nullptr;
  return posix_memalign(&block, 64, size) == 0 ? block : nullptr;
}
void* probe_table_malloc(std::size_t size) { return table_malloc(size); }
void probe_free(void* block) { free(block); }
void probe_table_free(void* block) { table_free(block); }

// Takes and releases a block again and again.
void probe_repeat(int times, std::size_t size) {
  for (int i = 0; i < times; ++i) {
    void* volatile block = malloc(size);
    free(block);
  }
}
}
