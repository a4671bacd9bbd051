// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// Which of the ready nodes starts first.
enum class StreamPriority : std::uint8_t {
  longest_path,  // the one with the longest path from it to the end: fast
  given_order,   // the one that comes first in the sequential order: close to the load of that order
};

template <>
inline constexpr auto kEnumNames<StreamPriority> = enum_names<StreamPriority>(
    {{StreamPriority::longest_path, "longest_path"}, {StreamPriority::given_order, "given_order"}});

struct StreamOptions {
  std::uint32_t streams = 2;
  StreamPriority priority = StreamPriority::longest_path;
  Bytes cap;  // on the load; raised to the load of the sequential order if that is larger
  AliasOptions aliases;
};

// A sequential order scheduled onto streams: the simulated run in which each node takes as long as its cost says.
// Vectors are indexed by position in `order`.
struct StreamSchedule {
  std::vector<NodeId> order;  // by start
  std::vector<std::uint32_t> stream;
  std::vector<std::uint32_t> started_by_end;  // how many nodes had started when this one ended
  // By class: its lifespan, or one for each of its parts. layout.h says what they mean for several streams.
  IdVector<AliasClassId, std::vector<Lifespan>> lifespans;
  Bytes load;                    // largest sum over lifespans, scratch included
  std::int64_t picoseconds = 0;  // until everything has ended
};

// List scheduling (Graham 1966) with a cap on memory. Whenever a stream is free, a node starts: the first one by
// priority whose predecessors have ended and that keeps the load within the cap. A node starts early only if the other
// nodes can still run within the cap afterwards: one by one in the sequential order, once the running nodes have ended.
// These are the safe states of Dijkstra's banker's algorithm. So the run never gets stuck, and its load is at most the
// larger of the cap and the sequential load.
//
// Alias classes are those of the sequential order. A node that overwrites an operand waits for all nodes that touch
// these bytes before it in that order. Lifespans hold in this run only. Waits make them hold in every run
// (synchronize/waits.h).
//
// `costs`: by node, in picoseconds, at least 1; their sum is below 2^62. Only the 32 first ready nodes by priority are
// considered. O((nodes + edges) log nodes), times 32; for results in place in large classes (concats) also writers x
// users.
[[nodiscard]] StreamSchedule schedule_streams(const Graph& graph, const Schedule& sequential,
                                              const ChosenKernels& kernels, const IdVector<NodeId, std::int64_t>& costs,
                                              const StreamOptions& options);

}  // namespace lowtide
