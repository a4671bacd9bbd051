// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/earlier/rewrite/lean_answer.h"

namespace lowtide {

struct LeanGraphDef {
  ProtoMessage graphdef;
  std::vector<std::pair<std::string, std::int64_t>> recomputed;  // nodes, and how many further times they run
  std::vector<std::string> sums;                                 // AddN that are additions of two operands
  std::vector<LeanSwap> swaps;                                   // in the order in which they leave
  std::uint32_t device = 0;                                      // of the cluster, whose memory is planned
  Bytes resident;                                                // variables, constants and feeds
  Bytes peak;  // the most live bytes of the order that is written, with `resident`
  // No order of these nodes without reruns and swaps has less, with `resident`. 0 if some sizes are not known.
  Bytes floor;
  std::vector<std::string> unsized;  // nodes with outputs of unknown size. What is not known counts as 1
  LeanAnswer answer;
};

// Orders the nodes of a GraphDef, and lets nodes run again, sums be added in parts and outputs leave the device, so
// that the live bytes keep the memory of one device in the least time, by the costs of Grappler's simulation
// (docs/graphdef.md). The order is written as control inputs: each node of the device waits for the one before it.
// export/written_runs.h says what further runs and copies are named, and export/sum_parts.h how sums are split. Nodes
// that the fetches do not need stay as they are.
//   - The device is the one that runs nodes and whose memory is known, or else the one with the most bytes. Nodes of
//     other devices are ordered only if they send to it or receive from it. Costs of all devices are added.
//   - Variables, constants and feeds are in memory for the whole run. An Identity of a variable needs no memory, and
//     has no place in the order.
//   - All outputs of a node count as one tensor, live until the last reader of any of them. Nothing runs in place, and
//     nothing is counted for alignment, scratch and offsets: TensorFlow's allocator decides these.
//   - Nodes with effects, random nodes, nodes that read a variable that some node writes, and fetched nodes run once.
//   - Sums are split only if the memory is not kept otherwise, or only in more time.
//   - A sequence without copies is written if it takes no longer, or if a fetched output would have to move.
// `verify` has checked the sequence, the clock of the copies, and the proofs of the answer. Requires: the feeds and
// fetches are nodes (with_placeholders). Errors: invalid (no fetch; a cycle; a shape of
// another node, or one that contradicts it; a node on a device that the cluster does not have); unsupported
// (two devices with known memory that run nodes; a link, and the device is no GPU; branches, whose nodes do not all
// run; loops, functions); those of cost_nodes, keep_budget and swap_budget. O(size of the file, log), except for the
// effort.
[[nodiscard]] Result<LeanGraphDef> lean_graphdef(const ProtoMessage& graphdef, const LeanGraphDefOptions& options);

}  // namespace lowtide
