// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// Bytes that a node needs besides its tensors: for its own run, which the next node may overwrite, and for itself alone
// throughout. Empty: nobody needs any.
struct Workspaces {
  IdVector<NodeId, Bytes> shared;
  IdVector<NodeId, Bytes> unique;
};

//   unique of node 0 | unique of node 2 | shared, stream 0 | shared, stream 1 | ...
//
// Nodes of one stream run one after the other, so a stream has one shared part, as large as its largest.
struct WorkspaceLayout {
  Bytes unique;  // sum
  Bytes shared;  // of one stream
  std::uint32_t streams = 1;
  IdVector<NodeId, Offset> unique_at;  // empty where nobody needs any
  Bytes total;

  // Require: stream < streams.
  [[nodiscard]] Offset shared_at(std::uint32_t stream) const { return Offset(0) + unique + shared * stream; }
};

// Sizes are added as they are. Errors: invalid, for a list that is not as long as the graph, or a size below 0;
// over_limit, for a total above limits::kMaxTotalBytes. O(nodes).
[[nodiscard]] Result<WorkspaceLayout> lay_out_workspaces(const Graph& graph, const Workspaces& workspaces,
                                                         std::uint32_t streams);

}  // namespace lowtide
