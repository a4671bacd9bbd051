// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/earlier/baselines/onnxruntime/step_types.h"

namespace lowtide::baselines_internal {

using TracedBlockId = Id<struct TracedBlockTag>;
using TracedFrameId = Id<struct TracedFrameTag>;

// The graph itself. Every body that runs is another frame.
inline constexpr TracedFrameId kMainFrame{0};

// A block of memory that a run takes from the arena.
struct TracedBlock {
  Bytes size;  // > 0
  TracedFrameId frame;
  bool is_scratch = false;
  bool is_planned = false;  // may be in the memory pattern of its frame: neither scratch nor an output
};

enum class TraceAction : std::uint8_t {
  take,         // a block
  give_back,    // a block
  enter,        // a body begins
  enter_again,  // a body begins, which has run before in this run
  leave,        // a body ends
};

struct TraceEvent {
  TraceAction action = TraceAction::take;
  TracedBlockId block;   // to take or to give back
  TracedFrameId frame;   // to enter or to leave
  std::size_t step = 0;  // of the main frame
};

// What one run takes from the arena and gives back, in order. Blocks of the main frame that are not given back last
// until the end of the run. The body of a loop runs twice, unless a loop around it runs for the second time.
struct Trace {
  IdVector<TracedBlockId, TracedBlock> blocks;
  std::vector<TraceEvent> events;
  std::size_t frames = 1;
};

[[nodiscard]] Trace trace_of(const RuntimeSteps& steps);

// The memory pattern of each frame: one block for all planned blocks of the time when the frame runs first. Each block,
// rounded up to 256 bytes, goes into the smallest free range that holds it, the lowest among equals, or to the end. The
// bytes from the highest live block up to the size so far are such a range, too. O(events log blocks).
using Patterns = IdVector<TracedFrameId, Bytes>;
[[nodiscard]] Patterns patterns_of(const Trace& trace);

// One request to the allocator. Those with the same number are about the same block.
struct BlockRequest {
  std::size_t number = 0;
  bool is_taken = false;  // otherwise it is given back
  Bytes size;             // > 0
  bool is_scratch = false;
  std::size_t step = 0;
};

enum class RunNumber : std::uint8_t { first, second };

// The requests of a run. With patterns, a frame that has run before takes one block when it begins, which replaces its
// planned blocks. Blocks that are not given back last until the end of the run.
[[nodiscard]] std::vector<BlockRequest> requests_of(const Trace& trace, const std::optional<Patterns>& patterns,
                                                    RunNumber run);

struct TracePeak {
  Bytes live;            // the most bytes that are taken at once, without rounding
  Bytes scratch;         // the part of `live` that is scratch
  std::size_t step = 0;  // the first step that reaches `live`
};

[[nodiscard]] TracePeak peak_of(const std::vector<BlockRequest>& requests);

// The peak of the first run, without patterns.
[[nodiscard]] TracePeak peak_of(const Trace& trace);

}  // namespace lowtide::baselines_internal
