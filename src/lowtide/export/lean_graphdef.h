// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/grappler/cluster.h"
#include "lowtide/grappler/run_costs.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/proto/message.h"

namespace lowtide {

struct LeanGraphDefOptions {
  Cluster cluster;  // one device
  RunEnds ends;
  std::map<std::string, std::vector<std::int64_t>> shapes = {};  // of Placeholders, which stay open in the result
  std::optional<std::int64_t> effort = std::nullopt;  // work units; absent: by the number of nodes, up to a minute
};

struct LeanGraphDef {
  ProtoMessage graphdef;
  std::vector<std::pair<std::string, std::int64_t>> recomputed;  // nodes, and how many further times they run
  Bytes resident;                                                // variables, constants and feeds
  Bytes peak;                        // the most live bytes of the order that is written, with `resident`
  Bytes floor;                       // no order without reruns has less, with `resident`
  std::vector<std::string> unsized;  // nodes with outputs of unknown size. What is not known counts as 1
  // Of the sequence against the memory of the device; `runs` are indices of nodes that run, without the resident ones.
  // With an unknown memory, the outcome is `found`.
  BudgetAnswer answer;
};

// Orders the nodes of a GraphDef on one device, and lets nodes run again, so that the live bytes keep the memory of the
// device in the least time, by the costs of Grappler's simulation (docs/graphdef.md). The order is written as control
// inputs: each node waits for the one before it. The second run of node n is a node "Recomputed/<n>", the third one
// "Recomputed_2/<n>", or with the next number that is free. Nodes that the fetches do not need stay as they are.
//   - Variables, constants and feeds are in memory for the whole run. An Identity of a variable needs no memory, and
//     has no place in the order.
//   - All outputs of a node count as one tensor, live until the last reader of any of them. Nothing runs in place, and
//     nothing is counted for alignment, scratch and offsets: TensorFlow's allocator decides these.
//   - Nodes with effects, random nodes, and nodes that read a variable that some node writes, run once.
// `verify` has checked the sequence and the proofs of the answer. Requires: the feeds and fetches are nodes
// (with_placeholders). Errors: invalid (no fetch; a cycle; a shape of another node); unsupported (several devices;
// branches, whose nodes do not all run; loops, functions); those of cost_nodes and keep_budget. O(size of the file,
// log), except for the effort.
[[nodiscard]] Result<LeanGraphDef> lean_graphdef(const ProtoMessage& graphdef, const LeanGraphDefOptions& options);

}  // namespace lowtide
