// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/schedule/streams.h"

namespace lowtide {

// Which nodes run together with the first node of a wave.
enum class WaveFill : std::uint8_t {
  by_priority,  // the next ones by priority
  by_cost,      // those that take about as long as the first, because a wave lasts as long as its longest node
};

template <>
inline constexpr auto kEnumNames<WaveFill> = enum_names<WaveFill>({{WaveFill::by_priority, "by_priority"},
                                                                   {WaveFill::by_cost, "by_cost"}});

struct WaveOptions {
  std::uint32_t most = 2;  // the most nodes of a wave
  StreamPriority priority = StreamPriority::longest_path;
  WaveFill fill = WaveFill::by_priority;
  Bytes cap;  // on the load; raised to the load of the sequential order if that is larger
  AliasOptions aliases;
};

// A sequential order grouped into waves. All nodes of a wave may run at the same time, each on its own stream. All of
// them have ended when the next wave starts, because a barrier separates the two.
//
//   wave       0    1    2
//   stream 0 | a  | c  | e |
//   stream 1 | b  | d  |         what a wave touches lives throughout it, so the order within it does not matter
//
// A node without a kernel is a wave by itself. If it is an alias, the wave takes no time.
struct WaveSchedule {
  StreamSchedule run;               // picoseconds: the sum over waves of their longest nodes
  std::vector<std::uint32_t> wave;  // by position in run.order; counted from 0, ascending by at most 1
  std::uint32_t computing = 0;      // waves in which something runs
};

// Fills one wave after another. The first node of a wave is the first ready node by priority that keeps the load within
// the cap. Then other nodes are added. As in schedule_streams, nodes are put into one wave only if the other nodes can
// still run one by one in the sequential order within the cap afterwards. So the run never gets stuck, and its load is
// at most the larger of the cap and the sequential load. The algorithm is greedy, so there may be better waves.
//
// Aliases, predecessors and `costs` are as in schedule_streams. For each wave, the first ready nodes by priority are
// considered: twice as many as fit into it, but at least 64. O((nodes + edges) log nodes), times that number.
[[nodiscard]] WaveSchedule schedule_waves(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
                                          const IdVector<NodeId, std::int64_t>& costs, const WaveOptions& options);

}  // namespace lowtide
