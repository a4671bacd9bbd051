// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/happens_before.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// Dataflow: a node may start when all nodes that it depends on, by data or control, have ended. Any number of nodes
// may run at the same time. The partial orders are over positions in a sequential order.
struct Dataflow {
  std::vector<NodeId> order;
  PartialOrder edges;   // on chains that order nothing beyond what the edges order
  HappensBefore known;  // follows from these edges
};

// O((nodes + edges) x chains) time, nodes x chains numbers.
// Errors (over_limit): more chains than limits::kMaxStreams, or clocks that need too much memory.
[[nodiscard]] Result<Dataflow> dataflow(const Graph& graph, const std::vector<NodeId>& order);

// Returns `sequential`, which has the order of `flow`, if its aliases need no order beyond the edges of the graph.
// Otherwise chooses new aliases: a kernel overwrites an operand only if all other nodes that touch these bytes happen
// before it by the edges. Each round forbids at least one kernel to write in place; after kMostRounds, all kernels.
//
//   a = Conv(x), s = Conv(a), r = Relu(a): r may not overwrite a, since s may still read it. On one stream it may, if s
//   comes first there.
inline constexpr int kMostRounds = 8;
[[nodiscard]] Schedule share_in_dataflow(const Graph& graph, const Dataflow& flow, const Schedule& sequential,
                                         const ChosenKernels& kernels, const AliasOptions& options);

// The time of a run in which each node starts as soon as it may: the longest path, in the unit of `costs`. Aliases take
// no time. O(nodes + edges).
[[nodiscard]] std::int64_t longest_path(const Dataflow& flow, const AliasClasses& aliases,
                                        const IdVector<NodeId, std::int64_t>& costs);

}  // namespace lowtide
