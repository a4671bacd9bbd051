// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::verify_internal {

// The least that every plan of a graph must hold, in each order, in a form that does not need the graph. Bytes are
// counted by their content: a computed tensor has new content, and a view repeats content that is there already
// (alias_meaning.h, byte for byte). A *piece* is a run of bytes that the same tensors hold. While one of these tensors
// is needed, the piece is somewhere in memory, and two pieces are never in the same place.
//
//   x = Conv, 64 bytes; a, b = Split(x), 16 and 48        pieces: x[0,16) held by x and a; x[16,64) held by x and b
//
// Each holder of a piece except the first got it from another holder, through a node that touches both. So the piece
// lives from the first node that touches a holder to the last one, without a pause.
struct OrderCount {
  using Index = std::uint32_t;

  struct Piece {
    std::int64_t size = 0;
    // Nodes that make or read one of its holders; at least one. A node that runs between two others in every order may
    // be omitted.
    Index users = 0;
    bool is_first = false;  // there before any node runs
    bool is_kept = false;   // there after all nodes have run
  };
  struct Node {
    std::vector<Index> before;  // must have run; ascending
    std::vector<Index> after;   // wait for it; ascending
    std::vector<Index> pieces;  // of which it is a user; ascending
    std::int64_t scratch = 0;
    // A result may take over the bytes of an operand. Then the pieces of the operand that die at the node make space
    // for as many of the `written` bytes. One entry per operand: the pieces that it holds. A plan chooses one operand.
    std::vector<std::vector<Index>> overwritten;
    std::int64_t written = 0;
  };

  std::vector<Node> nodes;  // topological
  std::vector<Piece> pieces;
  std::int64_t base = 0;       // lives throughout
  std::int64_t at_end = 0;     // lives after all nodes: all bytes of each output, since no two outputs share bytes
  std::int64_t alignment = 1;  // a load is a multiple of it
  bool is_turned = false;      // read from the end: edges are reversed, and the last node is the first

  // `bytes`, rounded up to the alignment.
  [[nodiscard]] std::int64_t rounded(std::int64_t bytes) const;
};

// O(nodes + edges + accesses of nodes to pieces). Accesses are limited: what would need more is not divided into
// pieces, so the count is never too high. Takes at most about a second and 200 MB.
[[nodiscard]] OrderCount order_count(const Graph& graph, const OrderFacts& facts);

// The largest load of an order, or the bytes at its end if these are more. Requires: a topological order, and a count
// that is not turned.
[[nodiscard]] Bytes counted_load(const OrderCount& count, const std::vector<NodeId>& order);

// The same loads read from the end. A piece lives from its first to its last user in either direction.
[[nodiscard]] OrderCount turned(const OrderCount& count);

}  // namespace lowtide::verify_internal
