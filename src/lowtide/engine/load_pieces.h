// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::engine_internal {

// A part of the load-time work that runs on its own, because no other part reads what it computes. Its nodes are in an
// order in which they can run.
struct LoadPiece {
  std::vector<NodeId> nodes;
};

// Divides load-time work into pieces, so that only one of them needs memory for its operands and temporaries at a time.
// Nodes that are joined by a tensor that one of them computes are in one piece. The pieces with the most bytes that are
// needed only while they run come first, because the fewest results exist then. A tie goes to the piece whose first
// node comes first. Consecutive pieces are one as long as all their tensors have at most `small` bytes, because each
// piece costs a plan.
//
//   w1 -> a -> r1     w2 -> b -> r2     [b] and then [a] if w2 is larger than w1; [b, a] if all four are small
//
// Requires: no node has bodies or control inputs, as split_load_time() promises. O((nodes + edges) log nodes).
[[nodiscard]] std::vector<LoadPiece> load_pieces(const Graph& load, Bytes small);

// The graph of a piece, with its results.
struct LoadPieceGraph {
  Graph graph;
  std::vector<std::size_t> results;  // output k of `graph` is output results[k] of the load-time work
};

// Makes the graphs of pieces. Keeps a reference to the load-time work.
class LoadPieceGraphs {
 public:
  // O(outputs log outputs).
  explicit LoadPieceGraphs(const Graph& load);
  // Errors: those of GraphBuilder. O((edges of the piece) log outputs).
  [[nodiscard]] Result<LoadPieceGraph> graph_of(const LoadPiece& piece) const;

 private:
  const Graph& load_;
  std::vector<std::pair<TensorId, std::size_t>> outputs_;  // each output with its position, sorted
};

}  // namespace lowtide::engine_internal
