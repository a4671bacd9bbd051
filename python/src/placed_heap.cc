// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "placed_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <string>

#include "call.h"

namespace lowtide::python {
namespace {

// Offsets of live blocks, sorted, in a vector that never grows: a function of the heap must not call the heap.
class LiveBlocks {
 public:
  void reserve(std::size_t count) { blocks_.reserve(count); }
  [[nodiscard]] bool empty() const { return blocks_.empty(); }

  // Returns false if a byte is not free.
  [[nodiscard]] bool add(std::size_t offset, std::size_t size) {
    const auto next = first_at(offset);
    if (next != blocks_.end() && next->offset < offset + size) return false;
    if (next != blocks_.begin() && std::prev(next)->offset + std::prev(next)->size > offset) return false;
    if (blocks_.size() == blocks_.capacity()) return false;
    blocks_.insert(next, {offset, size});
    return true;
  }

  [[nodiscard]] std::size_t size_at(std::size_t offset) const {
    const auto at = std::ranges::lower_bound(blocks_, offset, {}, &Block::offset);
    return at != blocks_.end() && at->offset == offset ? at->size : 0;
  }

  std::size_t remove(std::size_t offset) {
    const auto at = first_at(offset);
    if (at == blocks_.end() || at->offset != offset) return 0;
    const std::size_t size = at->size;
    blocks_.erase(at);
    return size;
  }

 private:
  struct Block {
    std::size_t offset;
    std::size_t size;
  };
  std::vector<Block>::iterator first_at(std::size_t offset) {
    return std::ranges::lower_bound(blocks_, offset, {}, &Block::offset);
  }
  std::vector<Block> blocks_;
};

// Addresses stay reserved, and another heap takes them over. So whether a block is placed can be asked without a lock.
struct Range {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  std::mutex mutex;  // guards what follows
  bool has_heap = false;
  LiveBlocks live;

  [[nodiscard]] bool contains(const void* block) const {
    const auto* address = static_cast<const std::byte*>(block);
    return begin <= address && address < begin + bytes;
  }
};

constexpr std::size_t kMostRanges = 64;
// Never destroyed: blocks may be released by destructors of other libraries when the process ends.
std::array<Range, kMostRanges>& ranges() {
  static auto& all = *new std::array<Range, kMostRanges>();
  return all;
}
constinit std::atomic<std::size_t> range_count = 0;
constinit std::mutex range_mutex;  // of those who make one

Range* range_of(const void* block) {
  const std::size_t count = range_count.load(std::memory_order_acquire);
  for (std::size_t at = 0; at < count; ++at) {
    if (ranges()[at].contains(block)) return &ranges()[at];
  }
  return nullptr;
}

// Returns false if the range serves a heap, or is too small.
bool take_over(Range& range, std::size_t bytes, std::size_t blocks) {
  const std::lock_guard lock(range.mutex);
  if (range.has_heap || !range.live.empty() || range.bytes < bytes) return false;
  range.live.reserve(blocks);  // may throw
  range.has_heap = true;
  return true;
}

std::size_t make_range(std::size_t bytes) {
  const std::size_t at = range_count.load(std::memory_order_relaxed);
  if (at == kMostRanges) {
    throw Failure({.code = ErrorCode::over_limit,
                   .message = "the process has had " + std::to_string(kMostRanges) +
                              " arenas at once, which is the most; use arena=False, or end other steps"});
  }
  void* mapped =
      mmap(nullptr, bytes + kMostAlignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Failure({.code = ErrorCode::over_limit,
                   .message = "there are no " + std::to_string(bytes) + " bytes of addresses for an arena; use " +
                              "arena=False"});
  }
  const std::size_t beside = reinterpret_cast<std::uintptr_t>(mapped) % kMostAlignment;
  ranges()[at].begin = static_cast<std::byte*>(mapped) + (kMostAlignment - beside) % kMostAlignment;
  ranges()[at].bytes = bytes;
  range_count.store(at + 1, std::memory_order_release);
  return at;
}

// Ranges have sizes of powers of two, so that few of them serve many heaps.
std::size_t take_range(std::size_t bytes, std::size_t blocks) {
  const std::lock_guard lock(range_mutex);
  for (std::size_t at = 0; at < range_count.load(std::memory_order_relaxed); ++at) {
    if (take_over(ranges()[at], bytes, blocks)) return at;
  }
  const std::size_t made = make_range(std::bit_ceil(std::max<std::size_t>(bytes, 1 << 20)));
  static_cast<void>(take_over(ranges()[made], bytes, blocks));
  return made;
}

bool is_in(const PlacedHeap::Place& place, std::size_t bytes) {
  const auto offset = static_cast<std::size_t>(place.offset);
  return offset <= bytes && place.size <= bytes - offset;
}

// The mutex of the range is held.
void give_back_pages(Range& range) {
  if (range.live.empty()) madvise(range.begin, range.bytes, MADV_DONTNEED);
}

thread_local PlacedHeap* placing = nullptr;
thread_local HeapTrace* noting = nullptr;
constinit std::mutex trace_mutex;
constinit std::atomic<HeapTrace*> trace = nullptr;  // the only one

// A trace has memory of its own, whose calls of the heap it must not note: it would wait for itself.
thread_local bool is_busy = false;
class Noting {
 public:
  Noting() : lock_(trace_mutex) { is_busy = true; }
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;
  ~Noting() { is_busy = false; }

 private:
  std::lock_guard<std::mutex> lock_;
};

}  // namespace

void begin_heap_run(std::int64_t run) {
  if (placing != nullptr) placing->begin_run(run);
  if (noting != nullptr) noting->begin_run(run);
}

void HeapTrace::enter() {
  const Noting now;
  if (trace.load() != nullptr) {
    throw Failure({.code = ErrorCode::invalid, .message = "another step is being planned; plan one at a time"});
  }
  run_ = -1;
  blocks_.clear();
  live_.clear();
  trace.store(this);
  noting = this;
}

void HeapTrace::leave() {
  const Noting now;
  if (trace.load() != this) return;
  trace.store(nullptr);
  noting = nullptr;
}

void HeapTrace::note_taken(void* block, std::size_t alignment, std::size_t size) {
  const Noting now;
  live_.insert_or_assign(block, blocks_.size());
  blocks_.emplace_back(run_, size, alignment, static_cast<std::int64_t>(blocks_.size()), -1);
}

void HeapTrace::note_released(void* block) {
  const auto at = live_.find(block);
  if (at == live_.end()) return;
  std::get<4>(blocks_[at->second]) = static_cast<std::int64_t>(blocks_.size());
  live_.erase(at);
}

void note_taken(void* block, std::size_t alignment, std::size_t size) {
  if (noting != nullptr && size >= kLeastPlaced) noting->note_taken(block, alignment, size);
}

void note_released(void* block) {
  if (trace.load(std::memory_order_relaxed) == nullptr || is_busy) return;
  const Noting now;
  if (HeapTrace* one = trace.load(); one != nullptr) one->note_released(block);
}

PlacedHeap::PlacedHeap(const std::vector<Block>& blocks, std::size_t bytes) {
  for (const auto& [run, size, offset] : blocks) {
    const auto [at, is_new] = runs_.try_emplace(run, places_.size(), places_.size());
    if (at->second.second != places_.size()) refuse_place("apart from the others of its run");
    if (offset >= 0 && !is_in({size, offset}, bytes)) refuse_place("outside of the arena");
    places_.push_back({size, offset});
    at->second.second = places_.size();
  }
  range_ = take_range(bytes, places_.size());
}

void PlacedHeap::refuse_place(const char* why) const {
  throw Failure({.code = ErrorCode::invalid, .message = "block " + std::to_string(places_.size()) + " is " + why});
}

PlacedHeap::~PlacedHeap() {
  leave();
  Range& range = ranges()[range_];
  const std::lock_guard lock(range.mutex);
  range.has_heap = false;
  give_back_pages(range);
}

bool PlacedHeap::enter() {
  if (is_entered_ || placing != nullptr) return false;
  is_entered_ = true;
  placing = this;
  begin_run(-1);
  return true;
}

void PlacedHeap::leave() {
  if (placing == this) placing = nullptr;
  is_entered_ = false;
}

void PlacedHeap::give_back() {
  Range& range = ranges()[range_];
  const std::lock_guard lock(range.mutex);
  give_back_pages(range);
}

void PlacedHeap::begin_run(std::int64_t run) {
  const auto at = runs_.find(run);
  next_ = at == runs_.end() ? 0 : at->second.first;
  end_ = at == runs_.end() ? 0 : at->second.second;
}

void* PlacedHeap::place(std::size_t alignment, std::size_t size) {
  if (next_ == end_) return nullptr;
  const Place& place = places_[next_++];
  if (place.offset < 0) return nullptr;
  const auto offset = static_cast<std::size_t>(place.offset);
  Range& range = ranges()[range_];
  const std::lock_guard lock(range.mutex);
  const bool is_aligned = 0 < alignment && alignment <= kMostAlignment && offset % alignment == 0;
  if (place.size == size && is_aligned && range.live.add(offset, size)) return range.begin + offset;
  ++missed_;
  return nullptr;
}

void* place_block(std::size_t alignment, std::size_t size) {
  return placing == nullptr || size < kLeastPlaced ? nullptr : placing->place(alignment, size);
}

std::size_t placed_bytes(const void* block) {
  Range* range = range_of(block);
  if (range == nullptr) return 0;
  const std::lock_guard lock(range->mutex);
  return range->live.size_at(static_cast<std::size_t>(static_cast<const std::byte*>(block) - range->begin));
}

std::size_t release_placed(void* block) {
  Range* range = range_of(block);
  if (range == nullptr) return 0;
  const std::lock_guard lock(range->mutex);
  const std::size_t size = range->live.remove(static_cast<std::size_t>(static_cast<std::byte*>(block) - range->begin));
  if (!range->has_heap) give_back_pages(*range);
  return size;
}

}  // namespace lowtide::python
