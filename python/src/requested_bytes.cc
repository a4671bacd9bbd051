// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "requested_bytes.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>

namespace lowtide::python {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kUnit = 16;                         // chunks of glibc are multiples of this
constexpr std::size_t kHead = 8;                          // of a chunk, before its block
constexpr std::size_t kLeastBlock = 24;                   // of the smallest chunk
constexpr std::size_t kAlignment = 64;                    // what PyTorch asks for
constexpr std::size_t kSlack = 16;                        // an aligned block is larger by about this
constexpr std::size_t kLargestShared = 32 * 1024 * 1024;  // larger blocks always have pages of their own

std::size_t rounded_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

// The bytes of blocks by address. A function of the heap must not call the heap that is counted, so the memory is of
// this library's own calls, which are never redirected.
class BlockTable {
 public:
  constexpr BlockTable() = default;

  // Notes nothing if there is no memory. Returns whether the block is here now.
  bool insert(void* block, std::int64_t bytes) {
    if (2 * (count_ + 1) > capacity_ && !grow()) return false;
    put(block, bytes);
    ++count_;
    return true;
  }

  // Returns the bytes of a block, 0 if it is not here.
  std::int64_t remove(const void* block) {
    if (count_ == 0) return 0;
    std::size_t at = home_of(block);
    while (entries_[at].block != block) {
      if (entries_[at].block == nullptr) return 0;
      at = next(at);
    }
    const std::int64_t bytes = entries_[at].bytes;
    close_gap(at);
    --count_;
    return bytes;
  }

  void clear() {
    std::free(entries_);
    entries_ = nullptr;
    capacity_ = count_ = 0;
  }

 private:
  struct Entry {
    void* block;
    std::int64_t bytes;
  };

  [[nodiscard]] std::size_t home_of(const void* block) const {
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(block) * std::uint64_t{0x9E3779B97F4A7C15};
    return static_cast<std::size_t>(mixed >> 32) & (capacity_ - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (capacity_ - 1); }

  void put(void* block, std::int64_t bytes) {
    std::size_t at = home_of(block);
    while (entries_[at].block != nullptr) at = next(at);
    entries_[at] = {.block = block, .bytes = bytes};
  }

  // Entries behind the gap move up if they are not found otherwise.
  void close_gap(std::size_t gap) {
    for (std::size_t at = next(gap); entries_[at].block != nullptr; at = next(at)) {
      const std::size_t home = home_of(entries_[at].block);
      if (((at - home) & (capacity_ - 1)) < ((at - gap) & (capacity_ - 1))) continue;
      entries_[gap] = entries_[at];
      gap = at;
    }
    entries_[gap] = {.block = nullptr, .bytes = 0};
  }

  bool grow() {
    const std::size_t wider = std::max<std::size_t>(1024, 2 * capacity_);
    auto* made = static_cast<Entry*>(std::calloc(wider, sizeof(Entry)));
    if (made == nullptr) return false;
    Entry* const before = entries_;
    const std::size_t old = capacity_;
    entries_ = made;
    capacity_ = wider;
    for (std::size_t at = 0; at < old; ++at) {
      if (before[at].block != nullptr) put(before[at].block, before[at].bytes);
    }
    std::free(before);
    return true;
  }

  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two, or 0
  std::size_t count_ = 0;
};

constinit std::atomic<int> counting = 0;
constinit std::mutex mutex;  // guards what follows
constinit BlockTable table;
constinit std::int64_t live = 0;
constinit std::int64_t peak = 0;

}  // namespace

std::int64_t plain_block_bytes(std::size_t size) {
  if (size >= kLargestShared) return static_cast<std::int64_t>(rounded_up(size + 2 * kUnit, kPage));
  return static_cast<std::int64_t>(std::max(kLeastBlock, rounded_up(size + kHead, kUnit) - kHead));
}

std::int64_t aligned_block_bytes(std::size_t size) {
  if (size >= kLargestShared) return static_cast<std::int64_t>(rounded_up(size + kAlignment + kPage, kPage));
  return static_cast<std::int64_t>(rounded_up(size + kHead, kUnit) + kSlack);
}

void begin_requests() {
  const std::lock_guard lock(mutex);
  counting.fetch_add(1);
}

void end_requests() {
  const std::lock_guard lock(mutex);
  if (counting.fetch_sub(1) > 1) return;
  table.clear();
  live = peak = 0;
}

std::int64_t requested_live() {
  const std::lock_guard lock(mutex);
  return live;
}

std::int64_t requested_peak() {
  const std::lock_guard lock(mutex);
  return peak;
}

void reset_requested_peak() {
  const std::lock_guard lock(mutex);
  peak = live;
}

void note_request(void* block, std::int64_t bytes) {
  if (block == nullptr || counting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex);
  live -= table.remove(block);  // other libraries may have released it
  if (counting.load() == 0 || !table.insert(block, bytes)) return;
  live += bytes;
  peak = std::max(peak, live);
}

void forget_request(void* block) {
  if (block == nullptr || counting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex);
  live -= table.remove(block);
}

}  // namespace lowtide::python
