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

// Dataflow: a node may start once those have ended that the graph names, by data or control, any number at once.
// Things are positions in a sequential order.
struct Dataflow {
  std::vector<NodeId> order;
  PartialOrder edges;   // on chains that order nothing which the edges do not
  HappensBefore known;  // of these edges
};

// O((nodes + edges) x chains) time, nodes x chains numbers.
// Errors (over_limit): more chains than limits::kMaxStreams; or clocks that would take too much memory.
[[nodiscard]] Result<Dataflow> dataflow(const Graph& graph, const std::vector<NodeId>& order);

// The aliases of `sequential`, which has the order of `flow`, if they ask for no order that the graph does not have.
// Else new ones in which these kernels do not write over an operand: a kernel does so only where everyone else who
// touches these bytes happens before it in the graph. Each round forbids at least one kernel; after kMostRounds, all.
//
//   a = Conv(x), s = Conv(a), r = Relu(a): r may not take the bytes of a, since s may still read them. On one stream it
//   may, if s comes first there.
inline constexpr int kMostRounds = 8;
[[nodiscard]] Schedule share_in_dataflow(const Graph& graph, const Dataflow& flow, const Schedule& sequential,
                                         const ChosenKernels& kernels, const AliasOptions& options);

// How long it runs if each node starts as soon as it may: the longest path. Aliases take no time.
[[nodiscard]] std::int64_t longest_path(const Dataflow& flow, const AliasClasses& aliases,
                                        const IdVector<NodeId, std::int64_t>& costs);

}  // namespace lowtide
