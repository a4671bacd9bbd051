// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// A proven lower bound of the arena of every plan of a graph, over all orders and all choices of aliases.
struct LoadBound {
  Bytes bytes;
  std::string_view name;       // "must_be_live" or "largest_step"; "none" for a graph without nodes
  std::optional<NodeId> node;  // where it is reached; nothing: at the end of the run
  bool is_complete = true;     // every node was looked at; false: the effort ended first
};

struct BoundOptions {
  Bytes alignment = Bytes(1);
  bool inputs_live_throughout = false;
  std::int64_t effort = 60'000'000;  // nodes and edges looked at, 64 nodes' live sets at a time; about 10 ns each
};

// For a node v, some tensors live while v runs, whatever the order: a tensor whose producer is v or must run before v,
// and of which a reader is v or must run after v, or which is an output. The sum of their sizes is a bound; the largest
// over all v, and over the end of the run, when all outputs live, is returned ("must_be_live"; Kayaaslan et al. 2018
// call it the live set of a node). Where the effort does not allow all nodes, those with the highest load in `order`
// come first, and of the others only what they read and write counts: a lower bound still, not a wrong one.
//
// `kernels`: their scratch is what no plan saves. Of a node with bodies that is the bound of its largest body, and not
// the arena that was found for it, which a better order inside might lower.
//
// How it stays below every plan that shares bytes: content is counted, not tensors (analysis/content.h), so a view
// counts only what it holds beside what is counted already; an output of v counts only if v cannot write it over an
// input that may die there. Sizes are rounded up to the alignment only where no slice, split or concat can put two
// tensors in one buffer.
// O(effort); ancestors of 64 nodes at a time as bits (no quadratic table).
[[nodiscard]] LoadBound load_bound(const Graph& graph, const ChosenKernels& kernels, const std::vector<NodeId>& order,
                                   const std::vector<Bytes>& profile, const BoundOptions& options = {});

// What that bound counts at one node, tensor by tensor. Each of them lives while the node runs, whatever the order.
struct MustBeLiveSet {
  struct Part {
    TensorId tensor;
    Bytes bytes;  // > 0; of what it shares with another, one of the two counts
  };
  std::vector<Part> tensors;  // the largest first, then by id
  Bytes scratch;              // of the node
  Bytes bytes;                // all of them, rounded up to the alignment: what load_bound has for this node
};

// `node`: nothing stands for the end of the run. O(nodes + edges + holdings).
[[nodiscard]] MustBeLiveSet must_be_live(const Graph& graph, const ChosenKernels& kernels, std::optional<NodeId> node,
                                         const BoundOptions& options = {});

// The weakest bound and the easiest to check ("largest_step"): the node whose own reads, writes and scratch are
// largest, counted by the same rules. O(nodes + edges + holdings).
[[nodiscard]] LoadBound largest_step(const Graph& graph, const ChosenKernels& kernels,
                                     const BoundOptions& options = {});

}  // namespace lowtide
