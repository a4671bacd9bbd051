// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/violation.h"

namespace lowtide {

struct SharingPlace {
  std::uint32_t block = 0;
  Offset offset;
  friend bool operator==(const SharingPlace&, const SharingPlace&) = default;
};

// Bytes that a node needs only while it runs.
struct ScratchPlace {
  SharingPlace place;
  Bytes size;  // 0: the node needs none, and the place is meaningless
};

// Tensors in shared blocks. A block is an arena, or a tensor whose bytes several others share as a whole (at offset 0).
struct SharingClaim {
  // The runs for which the claim holds:
  //   sequence   one node after another, as listed in `order`
  //   waves      all nodes of a wave at once, a barrier, the next wave
  //   dataflow   a node runs when all nodes that it depends on have run. Dependencies are data, control inputs and, in
  //              each list of `same_place`, every use of one tensor before the write of the next
  // A claim has no streams.
  ExecutionModel execution = ExecutionModel::sequence;
  std::vector<NodeId> order;             // all nodes, producers before readers
  IdVector<NodeId, std::uint32_t> wave;  // for ExecutionModel::waves only
  std::vector<Bytes> blocks;
  IdVector<TensorId, std::optional<SharingPlace>> places;  // nullopt: memory of its own
  IdVector<NodeId, ScratchPlace> scratch;                  // in the blocks; empty: none; not for dataflow
  // Lists of tensors that are declared to have one place. Each tensor is in at most one list. Views share the bytes of
  // their base, and the other tensors are written over one another, in the order of their nodes.
  std::vector<std::vector<TensorId>> same_place;
  IdVector<TensorId, std::optional<TensorId>> view_of;  // the base, in the same list; empty: there are no views
  IdVector<TensorId, std::uint32_t> devices;            // empty: there is only one
  // Whether the caller writes each input just before the first node, or in the first wave, that uses it. Otherwise all
  // inputs are there from the start. Not for dataflow.
  bool inputs_at_first_use = false;
};

// Reports everything that is wrong with shared memory, derived from the graph and the claim alone: an order or waves
// that break a dependency; a place outside its block; a block used on two devices; tensors of one list of `same_place`,
// if one of them is written before the last read of the previous one; and two tensors that share a byte, if one of them
// may be written, in some allowed run, before the last use of the other. A node's output and its inputs are in use at
// once, unless they are in one list. Inputs are live from the start (see inputs_at_first_use), and outputs to the end.
// Under `dataflow`, all tensors of a block must be ordered, whatever the offsets.
// The scratch of a node is in use while the node runs.
// Each violation names tensors. An empty list means that the claim is right. Shares no code with the planners that make
// such claims.
// O((nodes + edges) log n), plus the length times the readers of each list of `same_place`. For dataflow, plus the
// nodes between a use and the next write, once per 64 uses.
[[nodiscard]] std::vector<Violation> check_sharing(const Graph& graph, const SharingClaim& claim,
                                                   const VerifyOptions& options = {});

}  // namespace lowtide
