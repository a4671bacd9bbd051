// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/earlier/baselines/onnxruntime/step_types.h"

namespace lowtide::baselines_internal {

using TracedBlockId = Id<struct TracedBlockTag>;

// A block of memory that a run takes from the arena.
struct TracedBlock {
  Bytes size;  // > 0
  bool is_scratch = false;
  bool is_planned = false;  // may be in the memory pattern: neither scratch nor an output
};

struct TraceEvent {
  TracedBlockId block;
  bool is_taken = false;  // otherwise it is given back
  std::size_t step = 0;
};

// What one run takes from the arena and gives back, in order. Blocks that are not given back last until the end of the
// run.
struct Trace {
  IdVector<TracedBlockId, TracedBlock> blocks;
  std::vector<TraceEvent> events;
};

[[nodiscard]] Trace trace_of(const RuntimeSteps& steps);

struct TracePeak {
  Bytes live;            // the most bytes that are taken at once, without rounding
  Bytes scratch;         // the part of `live` that is scratch
  std::size_t step = 0;  // the first step that reaches `live`
};

// With a pattern, its one block exists throughout and replaces the planned blocks.
[[nodiscard]] TracePeak peak_of(const Trace& trace, std::optional<Bytes> pattern = std::nullopt);

// The size of the memory pattern: one block for all planned blocks of a run. Each block, rounded up to 256 bytes, goes
// into the smallest free range that holds it, the lowest among equals, or to the end. O(events log blocks).
[[nodiscard]] Bytes pattern_size(const Trace& trace);

}  // namespace lowtide::baselines_internal
