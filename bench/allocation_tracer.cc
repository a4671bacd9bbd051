// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// A library for LD_PRELOAD that counts the aligned blocks which a process takes from the system. ONNX Runtime's CPU
// provider takes all of its memory for tensors with posix_memalign or aligned_alloc. bench/onnxruntime_memory.py reads
// the counts.

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

// Blocks that are live, by address, in an open hash table. Entries stay after their blocks are freed, with size 0.
constexpr std::size_t kSlots = std::size_t{1} << 20;
struct Slot {
  void* block = nullptr;
  std::size_t size = 0;
};
Slot slots[kSlots];
std::size_t used = 0;

std::int64_t requested = 0;  // since the last reset
std::int64_t live = 0;       // taken since the last reset and not freed; below 0 if older blocks were freed
std::int64_t peak = 0;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

Slot* slot_of(void* block) {
  std::size_t at = (reinterpret_cast<std::uintptr_t>(block) >> 6U) * 0x9E3779B97F4A7C15U >> 44U;
  while (slots[at].block != nullptr && slots[at].block != block) at = (at + 1) % kSlots;
  return &slots[at];
}

void taken(void* block, std::size_t size) {
  if (block == nullptr) return;
  const Lock lock;
  Slot* slot = slot_of(block);
  if (slot->block == nullptr && ++used > kSlots / 2) std::abort();
  *slot = {block, size};
  requested += static_cast<std::int64_t>(size);
  live += static_cast<std::int64_t>(size);
  if (live > peak) peak = live;
}

template <typename Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  static auto* const system = original<int (*)(void**, std::size_t, std::size_t)>("posix_memalign");
  const int error = system(block, alignment, size);
  if (error == 0) taken(*block, size);
  return error;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  static auto* const system = original<void* (*)(std::size_t, std::size_t)>("aligned_alloc");
  void* const block = system(alignment, size);
  taken(block, size);
  return block;
}

void free(void* block) {
  static auto* const system = original<void (*)(void*)>("free");
  if (block != nullptr) {
    const Lock lock;
    Slot* slot = slot_of(block);
    if (slot->block == block) {
      live -= static_cast<std::int64_t>(slot->size);
      slot->size = 0;
    }
  }
  system(block);
}

void lowtide_trace_reset() {
  const Lock lock;
  requested = live = peak = 0;
}
std::int64_t lowtide_trace_requested() { return requested; }
std::int64_t lowtide_trace_peak() { return peak; }

}  // extern "C"
