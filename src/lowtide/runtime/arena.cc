// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string>

namespace lowtide {

struct Arena::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (is_owned) munmap(memory.data(), memory.size());
  }

  std::span<std::byte> memory;
  bool is_owned = false;
  std::atomic<bool> is_used = false;
};

namespace {

Error refused(Bytes size) {
  return Error{ErrorCode::no_memory, "the system has no " + format_bytes(size) + " for an arena", ""};
}

}  // namespace

Result<Arena> Arena::allocate(Bytes size) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(size.count(), 1));
  void* data = mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (data == MAP_FAILED) return refused(size);
  try {
    auto state = std::make_shared<State>();
    state->memory = {static_cast<std::byte*>(data), count};
    state->is_owned = true;
    return Arena(std::move(state));
  } catch (const std::bad_alloc&) {
    munmap(data, count);
    return refused(size);
  }
}

Result<Arena> Arena::of_caller(std::span<std::byte> memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  if (address % 64 != 0) {
    return Error{ErrorCode::invalid,
                 "the address of the arena is " + std::to_string(address % 64) +
                     " bytes above a multiple of 64; pass memory that is aligned to 64 bytes",
                 ""};
  }
  try {
    auto state = std::make_shared<State>();
    state->memory = memory;
    return Arena(std::move(state));
  } catch (const std::bad_alloc&) {
    return refused(Bytes(sizeof(State)));
  }
}

std::span<std::byte> Arena::memory() const { return state_->memory; }
bool Arena::acquire() const noexcept { return !state_->is_used.exchange(true, std::memory_order_acquire); }
void Arena::release() const noexcept { state_->is_used.store(false, std::memory_order_release); }

}  // namespace lowtide
