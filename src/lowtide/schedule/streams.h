// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// Which of the nodes that could start goes first.
enum class StreamPriority : std::uint8_t {
  longest_path,  // the one with the longest way to the end after it: fast
  given_order,   // the one that comes first in the sequential order: close to its load
};

[[nodiscard]] std::string_view to_string(StreamPriority priority);

struct StreamOptions {
  std::uint32_t streams = 2;
  StreamPriority priority = StreamPriority::longest_path;
  Bytes cap;  // of the load; the sequential order's own load, where that is more
  AliasOptions aliases;
};

// A sequential order spread over streams, as a run in which each node takes as long as its cost says. Vectors are
// indexed by position in `order`.
struct StreamSchedule {
  std::vector<NodeId> order;  // by start
  std::vector<std::uint32_t> stream;
  std::vector<std::uint32_t> started_by_end;  // how many nodes had started when this one ended
  // Of each class, and of its parts if it has some; plan.h says what they mean where several streams run.
  IdVector<AliasClassId, std::vector<Lifespan>> lifespans;
  Bytes load;                    // largest sum over lifespans, scratch included
  std::int64_t picoseconds = 0;  // until everything has ended
};

// List scheduling (Graham 1966) with a cap on memory: whenever a stream is free, of the nodes whose predecessors have
// ended the first by priority starts that keeps within the cap. A node starts early only if, once what runs has ended,
// the rest can still run one by one in the sequential order within the cap (the safe states of Dijkstra's banker): so it
// never gets stuck, and the load stays below the larger of the cap and the sequential load.
//
// Alias classes stay as they are in the sequential order. A node that writes over an operand waits for everyone who
// touched these bytes before it there. What the lifespans say holds in this run only; that it holds in every run is for
// the waits to see to (waits.h).
//
// `costs`: by node, at least 1, all together below 2^62. Looks at the best kMostLookedAt ready nodes only.
// O((nodes + edges) x log nodes x kMostLookedAt), and for in-place results in large classes (concats) writers x users.
[[nodiscard]] StreamSchedule schedule_streams(const Graph& graph, const Schedule& sequential,
                                              const ChosenKernels& kernels, const IdVector<NodeId, std::int64_t>& costs,
                                              const StreamOptions& options);

}  // namespace lowtide
