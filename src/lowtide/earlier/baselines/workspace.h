// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// Bytes that a node needs in addition to its tensors. Shared bytes are needed while the node runs, and the next node
// may overwrite them. Unique bytes belong to the node during the whole run. An empty list means that no node needs
// any.
struct Workspaces {
  IdVector<NodeId, Bytes> shared;
  IdVector<NodeId, Bytes> unique;
};

//   unique of node 0 | unique of node 2 | shared, stream 0 | shared, stream 1 | ...
//
// Nodes of one stream run one after another, so a stream has one shared part, which is as large as its largest node
// needs.
struct WorkspaceLayout {
  Bytes unique;  // the sum over all nodes
  Bytes shared;  // of one stream
  std::uint32_t streams = 1;
  IdVector<NodeId, Offset> unique_at;  // empty if no node needs any
  Bytes total;

  // Requires: stream < streams.
  [[nodiscard]] Offset shared_at(std::uint32_t stream) const { return Offset(0) + unique + shared * stream; }
};

// Adds up the sizes without rounding. Errors: invalid, for a list that is not as long as the graph or a size below
// 0; over_limit, for a total above limits::kMaxTotalBytes. O(nodes).
[[nodiscard]] Result<WorkspaceLayout> lay_out_workspaces(const Graph& graph, const Workspaces& workspaces,
                                                         std::uint32_t streams);

}  // namespace lowtide
