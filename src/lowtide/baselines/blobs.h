// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/baselines/baselines.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

using BlobId = Id<struct BlobTag>;

// Which views have the bytes of what they view: none (every tensor has its own), those of a whole tensor, or parts too.
enum class ViewRule : std::uint8_t { none, whole, part };

// Tensors that one name of a source format stands for: the ones put together, and views.
struct Blob {
  std::vector<TensorId> tensors;  // in the order in which they are written
  Bytes size;                     // of the largest, rounded up
  std::uint32_t device = 0;
  bool is_kept = false;     // not to be shared: input, constant, state, output, or the caller's wish
  bool is_input = false;    // holds an input
  bool is_output = false;   // holds an output
  bool is_placed = true;    // takes memory during the run: neither constant nor state
  std::uint32_t first = 0;  // position in the order of the first write, of the first use for what nobody writes
  std::uint32_t last = 0;   // of the last use, be it read or write; >= first
  std::uint32_t last_read = 0;
};

// Who reads and writes what, in the order of the nodes.
struct BlobOp {
  NodeId node;
  std::vector<BlobId> inputs;   // each once, in the node's order; captures of bodies last
  std::vector<BlobId> outputs;  // each once, in the node's order
};

struct BlobNet {
  IdVector<BlobId, Blob> blobs;  // in the order in which nodes touch them; what nobody touches comes last
  IdVector<TensorId, BlobId> blob_of;
  IdVector<TensorId, std::optional<TensorId>> view_of;
  std::vector<BlobOp> ops;
  std::vector<std::vector<std::uint32_t>> sources;  // of each op: who must have run, by position; each once, sorted
};

// Require: the order is topological. Errors: those of apply_baseline. O((nodes + edges) log).
[[nodiscard]] Result<BlobNet> blob_net(const Graph& graph, const std::vector<NodeId>& order,
                                       const BaselineOptions& options, Bytes alignment, ViewRule views);

}  // namespace lowtide::baselines_internal
