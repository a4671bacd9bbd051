// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

// Blocks that a program requests from the heap, and a heap that puts them where a plan says.
//
// A program is a fixed sequence of runs, and a run of the same operators on the same shapes makes the same requests. So
// a block is known by its run and by its number among the requests of the run: those of posix_memalign for at least
// kLeastPlaced bytes, which one thread makes through redirected entries (heap_calls.h).
namespace lowtide::python {

// Smaller blocks stay in the heap.
constexpr std::size_t kLeastPlaced = 8 * 1024;

// A placed heap begins at a multiple of this. Some kernels ask for large pages.
constexpr std::size_t kMostAlignment = 2 * 1024 * 1024;

// The thread's requests from now on are those of this run, for the trace or the placed heap that it has entered.
void begin_heap_run(std::int64_t run);

// Notes the requests of a thread, between enter() and leave().
class HeapTrace {
 public:
  // Run, bytes, alignment, and the half-open span of time in which the block lives. The time is the number of requests
  // so far. The end is -1 if the block outlives leave().
  using Block = std::tuple<std::int64_t, std::size_t, std::size_t, std::int64_t, std::int64_t>;

  HeapTrace() = default;
  HeapTrace(const HeapTrace&) = delete;
  HeapTrace& operator=(const HeapTrace&) = delete;
  ~HeapTrace() { leave(); }

  // Forgets earlier blocks, and begins. Throws Failure if any thread traces.
  void enter();
  void leave();
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }

  void begin_run(std::int64_t run) { run_ = run; }
  void note_taken(void* block, std::size_t alignment, std::size_t size);
  void note_released(void* block);

 private:
  std::int64_t run_ = -1;
  std::vector<Block> blocks_;
  std::unordered_map<void*, std::size_t> live_;  // the position of each block
};

// Memory for the blocks of a program. A block that differs from the plan, or whose bytes are not free, comes from the
// heap, so a plan that does not fit what happens costs memory and nothing else.
class PlacedHeap {
 public:
  // Run, bytes and offset. The blocks of a run are in the order of its requests. A negative offset: from the heap.
  using Block = std::tuple<std::int64_t, std::size_t, std::int64_t>;

  // Reserves `bytes` of addresses. Pages take memory when they are first written. Throws Failure if a block ends behind
  // the reserved bytes, or if there are no addresses.
  PlacedHeap(const std::vector<Block>& blocks, std::size_t bytes);
  PlacedHeap(const PlacedHeap&) = delete;
  PlacedHeap& operator=(const PlacedHeap&) = delete;
  // Blocks may outlive the heap: its memory is returned with the last of them.
  ~PlacedHeap();

  // Places blocks of this thread until leave(). Returns false, and places none, if a thread is in it, or if this thread
  // is in another one.
  [[nodiscard]] bool enter();
  void leave();

  // Returns the memory to the system until the next block, if no block lives.
  void give_back();

  // Blocks since the start that the plan places and that came from the heap.
  [[nodiscard]] std::int64_t missed() const { return missed_; }

  void begin_run(std::int64_t run);
  [[nodiscard]] void* place(std::size_t alignment, std::size_t size);

  struct Place {
    std::size_t size;
    std::int64_t offset;
  };

 private:
  [[noreturn]] void refuse_place(const char* why) const;

  std::vector<Place> places_;
  std::unordered_map<std::int64_t, std::pair<std::size_t, std::size_t>> runs_;  // the positions of the places of each
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  std::int64_t missed_ = 0;
  bool is_entered_ = false;
  std::size_t range_ = 0;
};

// For the replaced functions of the heap. They do nothing, or return no block, if the thread has entered nothing.
[[nodiscard]] void* place_block(std::size_t alignment, std::size_t size);
void note_taken(void* block, std::size_t alignment, std::size_t size);
void note_released(void* block);  // by any thread

// The bytes of a placed block. 0 for others.
[[nodiscard]] std::size_t placed_bytes(const void* block);
// Ends a placed block, and returns its bytes. Returns 0 and does nothing for other blocks.
std::size_t release_placed(void* block);

}  // namespace lowtide::python
