// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/earlier/baselines/onnxruntime.h"

namespace lowtide::baselines_internal {

using ChunkId = Id<struct ArenaChunkTag>;

// The arena of ONNX Runtime's CPU provider, an allocator by best fit with coalescing (BFC):
//   - Sizes are rounded up to 256 bytes. A request takes the smallest free chunk that holds it, and among equals the
//     one at the lowest address.
//   - The chunk is split if it is at least twice as large as the request, or if 128 MiB would be wasted. Otherwise the
//     request gets all of it.
//   - A chunk that is given back joins its free neighbours of the same segment. Segments never join.
//   - If no free chunk holds the request, the arena requests a new segment from the system. With
//     ArenaGrowth::next_power_of_two, its size starts at 1 MiB and doubles, up to 1 GiB or what the request needs. With
//     same_as_requested, it is the rounded request.
//   - Segments are never given back.
// Addresses are simulated as on Linux: a later segment has a lower address than all earlier ones. But segments smaller
// than 128 KiB follow one another in the heap of malloc, at lower addresses than all others. Every operation takes
// O(log chunks).
class ChunkArena {
 public:
  explicit ChunkArena(ArenaGrowth growth) : growth_(growth) {}

  // Requires: size > 0.
  ChunkId allocate(Bytes size);
  void release(ChunkId id);

  // The sizes of all segments.
  [[nodiscard]] Bytes requested() const { return requested_; }

 private:
  struct Chunk {
    Bytes size;
    std::int64_t address = 0;
    std::optional<ChunkId> before;  // in the same segment
    std::optional<ChunkId> after;
    bool is_free = true;
  };
  using FreeChunk = std::tuple<Bytes, std::int64_t, ChunkId>;

  void extend(Bytes size);
  [[nodiscard]] Bytes segment_size(Bytes size);
  void split(ChunkId id, Bytes size);
  void join_next(ChunkId id);
  [[nodiscard]] FreeChunk key(ChunkId id) const { return {chunks_[id].size, chunks_[id].address, id}; }

  ArenaGrowth growth_;
  Bytes next_segment_ = Bytes(std::int64_t{1} << 20);
  Bytes requested_;
  Bytes in_heap_;  // the part of `requested_` in segments below 128 KiB
  IdVector<ChunkId, Chunk> chunks_;
  std::set<FreeChunk> free_;
};

}  // namespace lowtide::baselines_internal
