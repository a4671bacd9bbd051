// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

#include "lowtide/base/no_memory.h"

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

std::size_t mapped_bytes(Bytes size) { return static_cast<std::size_t>(std::max<std::int64_t>(size.count(), 1)); }

Error cannot_have_file(const std::string& folder, Bytes size, int code) {
  return Error{ErrorCode::io,
               "there can be no file of " + format_bytes(size) +
                   " for memory outside of the arena: " + std::generic_category().message(code),
               folder};
}

}  // namespace

Result<Arena> Arena::own(void* data, std::size_t count) {
  if (data == MAP_FAILED) return refused(Bytes(static_cast<std::int64_t>(count)));
  try {
    auto state = std::make_shared<State>();
    state->memory = {static_cast<std::byte*>(data), count};
    state->is_owned = true;
    return Arena(std::move(state));
  } catch (const std::bad_alloc&) {
    munmap(data, count);
    return no_memory_error([&] { return refused(Bytes(static_cast<std::int64_t>(count))); });
  }
}

Result<Arena> Arena::allocate(Bytes size) {
  const std::size_t count = mapped_bytes(size);
  return own(mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), count);
}

Result<Arena> Arena::in_file(const std::string& folder, Bytes size) {
  const std::size_t count = mapped_bytes(size);
  std::string path = folder + "/lowtide-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return cannot_have_file(folder, size, errno);
  unlink(path.c_str());
  // The file has all its blocks before the run, since a write into a page without one would end the process.
  const int code = posix_fallocate(file, 0, static_cast<off_t>(count));
  if (code != 0) {
    close(file);
    return cannot_have_file(folder, size, code);
  }
  void* data = mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  return own(data, count);
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
    return no_memory_error([] { return refused(Bytes(sizeof(State))); });
  }
}

std::span<std::byte> Arena::memory() const { return state_->memory; }
bool Arena::acquire() const noexcept { return !state_->is_used.exchange(true, std::memory_order_acquire); }
void Arena::release() const noexcept { state_->is_used.store(false, std::memory_order_release); }

}  // namespace lowtide
