// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lowtide/schedule/streams.h"

namespace lowtide {

// Who runs beside the first node of a wave.
enum class WaveFill : std::uint8_t {
  by_priority,  // who comes next by priority
  by_cost,      // who takes as long as the first, or not much less: a wave lasts as long as its longest node
};

[[nodiscard]] std::string_view to_string(WaveFill fill);

struct WaveOptions {
  std::uint32_t most = 2;  // nodes of a wave
  StreamPriority priority = StreamPriority::longest_path;
  WaveFill fill = WaveFill::by_priority;
  Bytes cap;  // of the load; the sequential order's own load, where that is more
  AliasOptions aliases;
};

// A sequential order grouped into waves. All nodes of a wave may run at once, each on a stream of its own, and all of
// them have ended when the next wave starts: a barrier lies between.
//
//   wave       0    1    2
//   stream 0 | a  | c  | e |
//   stream 1 | b  | d  |         whatever a wave touches lives throughout it, so the order within it does not matter
//
// A node that runs nothing (StepKind::alias) is a wave by itself that takes no time: it has its place at the barrier.
struct WaveSchedule {
  StreamSchedule run;               // picoseconds: of each wave its longest node
  std::vector<std::uint32_t> wave;  // by position in run.order; counted from 0, ascending by at most 1
  std::uint32_t computing = 0;      // waves in which something runs
};

// Wave after wave: the first ready node by priority that keeps within the cap, then others beside it. As in
// schedule_streams, nodes start together only if afterwards the rest can still run one by one in the sequential order
// within the cap; so it never gets stuck, and the load stays below the larger of the cap and the sequential load. Greedy:
// no proof that a wave could not be filled better.
//
// Aliases, write-over edges, `costs`: as in schedule_streams. Looks at the first ready nodes for each wave, at most twice as many
// as go into one, or 64. O((nodes + edges) x log nodes x looked at).
[[nodiscard]] WaveSchedule schedule_waves(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
                                          const IdVector<NodeId, std::int64_t>& costs, const WaveOptions& options);

}  // namespace lowtide
