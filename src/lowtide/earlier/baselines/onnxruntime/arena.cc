// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/arena.h"

#include <algorithm>

#include "lowtide/base/check.h"

namespace lowtide::baselines_internal {
namespace {

constexpr Bytes kUnit{256};
constexpr Bytes kMostWaste{std::int64_t{128} << 20};  // of a chunk that is not split
constexpr Bytes kMostGrowth{std::int64_t{1} << 30};   // of a segment that is larger than its request

constexpr Bytes kMapped{std::int64_t{128} << 10};  // malloc maps blocks of at least this size; others are in its heap
constexpr std::int64_t kHeap = INT64_MIN / 2;

}  // namespace

Bytes ChunkArena::segment_size(Bytes size) {
  if (growth_ == ArenaGrowth::same_as_requested) return size;
  const bool is_large_enough = size <= next_segment_;
  while (next_segment_ < size) next_segment_ = next_segment_ * 2;
  const Bytes segment = next_segment_;
  if (is_large_enough) next_segment_ = next_segment_ * 2 < kMostGrowth ? next_segment_ * 2 : kMostGrowth;
  return segment;
}

void ChunkArena::extend(Bytes size) {
  const Bytes segment = segment_size(size);
  requested_ += segment;
  const bool is_in_heap = segment < kMapped;
  if (is_in_heap) in_heap_ += segment;
  const std::int64_t address = is_in_heap ? kHeap + in_heap_.count() : -requested_.count();
  const ChunkId id = chunks_.push_back({.size = segment, .address = address});
  free_.insert(key(id));
}

void ChunkArena::split(ChunkId id, Bytes size) {
  const Chunk whole = chunks_[id];
  const ChunkId rest = chunks_.push_back(
      {.size = whole.size - size, .address = whole.address + size.count(), .before = id, .after = whole.after});
  if (whole.after) chunks_[*whole.after].before = rest;
  chunks_[id].size = size;
  chunks_[id].after = rest;
  free_.insert(key(rest));
}

ChunkId ChunkArena::allocate(Bytes size) {
  const Bytes rounded = round_up(size, kUnit);
  const auto best_fit = [&] { return free_.lower_bound({rounded, INT64_MIN, ChunkId()}); };
  if (best_fit() == free_.end()) extend(rounded);
  const auto found = best_fit();
  LOWTIDE_CHECK(found != free_.end(), "a new segment holds the request it was made for");
  const ChunkId id = std::get<ChunkId>(*found);
  free_.erase(found);
  if (chunks_[id].size >= rounded * 2 || chunks_[id].size - rounded >= kMostWaste) split(id, rounded);
  chunks_[id].is_free = false;
  return id;
}

// Joins a chunk with the one after it. Requires: neither is in `free_`.
void ChunkArena::join_next(ChunkId id) {
  const Chunk next = chunks_[*chunks_[id].after];
  chunks_[id].size += next.size;
  chunks_[id].after = next.after;
  if (next.after) chunks_[*next.after].before = id;
}

void ChunkArena::release(ChunkId id) {
  chunks_[id].is_free = true;
  if (const auto after = chunks_[id].after; after && chunks_[*after].is_free) {
    free_.erase(key(*after));
    join_next(id);
  }
  if (const auto before = chunks_[id].before; before && chunks_[*before].is_free) {
    free_.erase(key(*before));
    join_next(*before);
    id = *before;
  }
  free_.insert(key(id));
}

}  // namespace lowtide::baselines_internal
