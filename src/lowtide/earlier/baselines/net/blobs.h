// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

using BlobId = Id<struct BlobTag>;

// Which views share the bytes of the tensor that they view:
//   none      no view
//   reshaped  the result of a Reshape, Flatten, Identity or Dropout, unless it is needed at the end
//   whole     views of a whole tensor, except a Transpose
//   all       all views
enum class ViewRule : std::uint8_t { none, reshaped, whole, all };

// Tensors that one name of a source format stands for: colocated tensors and their views.
struct Blob {
  std::vector<TensorId> tensors;  // in the order of their writes
  std::string_view name;          // of the first tensor
  Bytes size;                     // of the largest tensor, rounded up
  std::int64_t elements = 0;      // of the tensor with the most elements
  std::uint32_t device = 0;
  bool is_kept = false;     // not shared: an input, constant, state or output, or kept by the caller
  bool is_input = false;    // contains an input
  bool is_output = false;   // contains an output, or the next content of a state
  bool is_placed = true;    // needs memory during the run: neither a constant nor a state
  std::uint32_t first = 0;  // position of the first write; of the first use if nothing writes it
  std::uint32_t last = 0;   // position of the last use, a read or a write; >= first
  std::uint32_t last_read = 0;
};

// The blobs that a node reads and writes.
struct BlobOp {
  NodeId node;
  std::vector<BlobId> inputs;   // each once, in the node's order; captures of bodies last
  std::vector<BlobId> reads;    // the same, as often as the node lists it
  std::vector<BlobId> outputs;  // each once, in the node's order
};

struct BlobNet {
  const Graph* graph = nullptr;  // outlives the net
  IdVector<BlobId, Blob> blobs;  // in the order of their first use; unused blobs last
  IdVector<TensorId, BlobId> blob_of;
  IdVector<TensorId, std::optional<TensorId>> view_of;
  std::vector<BlobOp> ops;
  // the positions of the ops that must have run before each op; each once, sorted
  std::vector<std::vector<std::uint32_t>> sources;
  // Only for the interference rules: blobs that share a slot before the rule begins, each slot in the order of time.
  std::vector<std::vector<BlobId>> given_slots;
};

// Requires: the order is topological. Errors: those of apply_baseline. O((nodes + edges) log).
[[nodiscard]] Result<BlobNet> blob_net(const Graph& graph, const std::vector<NodeId>& order,
                                       const BaselineOptions& options, Bytes alignment, ViewRule views);

}  // namespace lowtide::baselines_internal
