// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/verify/check_bound.h"

namespace lowtide::verify_internal {

// What every plan of a graph must hold at least, order by order, without the graph. Bytes are counted by what they say:
// a computed tensor says something new, a view repeats what is there already (alias_meaning.h, byte for byte). A
// *piece* is a run of bytes that the same tensors hold. While one of them is needed, the piece is somewhere, and two
// pieces never are in the same place.
//
//   x = Conv, 64 bytes; a, b = Split(x), 16 and 48        pieces: x[0,16) held by x and a; x[16,64) held by x and b
//
// Each tensor that holds a piece, but the first, got it from another one through a node that touches both. So the nodes
// that touch its holders are never done and not yet begun in two places at once: the piece lives from the first of them
// to the last, without a pause.
struct OrderCount {
  using Index = std::uint32_t;

  struct Piece {
    std::int64_t size = 0;
    Index users = 0;        // nodes that make or read one of its holders; at least one
    bool is_first = false;  // there before all nodes
    bool is_kept = false;   // there after all nodes
  };
  struct Node {
    std::vector<Index> before;  // must have run; ascending
    std::vector<Index> after;   // wait for it; ascending
    std::vector<Index> pieces;  // of which it is a user; ascending
    std::int64_t scratch = 0;
    // A result may lie in the bytes of an operand, of which then all that dies here is gone: as many bytes of the
    // `written` need no room of their own. Each entry is what one operand holds; of one result one operand is chosen.
    std::vector<std::vector<Index>> overwritten;
    std::int64_t written = 0;
  };

  std::vector<Node> nodes;  // topological
  std::vector<Piece> pieces;
  std::int64_t base = 0;       // lives throughout
  std::int64_t at_end = 0;     // there after all nodes: no two outputs share bytes, so each with all of its own
  std::int64_t alignment = 1;  // a load is a multiple of it
  bool is_turned = false;      // read from its end: all edges turned, last is first

  // Whole units of the alignment that `bytes` need at least.
  [[nodiscard]] std::int64_t rounded(std::int64_t bytes) const;
};

// O(nodes + edges + what tensors hold), the last capped: what is too much to follow is left out, and counts nothing.
[[nodiscard]] OrderCount order_count(const Graph& graph, const OrderFacts& facts);

// The largest load of an order, or what is there at its end. Require: topological, of a count that is not turned.
[[nodiscard]] Bytes counted_load(const OrderCount& count, const std::vector<NodeId>& order);

// The same loads, read from the end: a piece lives from its first to its last user in either direction.
[[nodiscard]] OrderCount turned(const OrderCount& count);

}  // namespace lowtide::verify_internal
